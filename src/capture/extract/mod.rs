//! What becomes of turns: episodic memories at once, and candidates for facts.
//! It must never know how turns are journaled or who runs it.

pub(super) mod candidate;
pub(super) mod explicit;
pub(super) mod gate;
pub(super) mod llm;
pub(super) mod local;
pub(super) mod summary;
pub(super) mod turns;
pub(super) mod wishes;

pub(super) mod phrases;
pub(super) mod repeats;
