//! How answers are printed.

pub(super) mod export_file;
pub(super) mod print;
pub(super) mod progress;
pub(super) mod show;
pub(super) mod show_jobs;
pub(super) mod show_trail;
pub(super) mod text;
