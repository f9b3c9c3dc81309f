//! The player of all evaluations: sessions are learned from at their own dates, then questions are asked.

mod ask;
mod body;
mod learn;
mod scenario;

pub(crate) use self::{
    ask::{Asked, PATIENCE, Recalled, lines, recall_request, selection},
    body::{Session, Turn, message, messages},
    learn::{BETWEEN_TURNS, in_use, keep, learn, learn_all, learn_body, say, stored},
    scenario::{Scenario, ask, tell},
};
