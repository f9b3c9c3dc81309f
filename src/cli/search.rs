//! `memgate search`: what is remembered about these words. It always searches: whether a request with them
//! would be is `recall/decide.rs`'s matter.

use std::process::ExitCode;

use jiff::Timestamp;

use super::{
    answer,
    memories::Memories,
    options::{Common, Whose, count, number, time},
    show,
};
use crate::{api::SearchRequest, startup::Need};

/// Arguments of `memgate search`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is looked for.
    query: String,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// This project's and those of no project.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// At most this many, 1 to 50; else the configuration's.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Of at least this relevance, 0 to 1; else the configuration's.
    #[arg(long, value_name = "SHARE", value_parser = number, allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// Only this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only what happened then or later: a day (2026-05-01, UTC) or a time (2026-05-01T10:00:00Z).
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Only what happened before; a later time than --since.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
    /// Show the parts of each score.
    #[arg(long)]
    explain: bool,
}

impl Args {
    pub(super) fn run(self) -> ExitCode {
        let request = SearchRequest {
            user_id: self.whose.user,
            tenant_id: self.whose.tenant,
            query: self.query,
            project_id: self.project,
            limit: self.limit,
            threshold: self.threshold,
            types: (!self.types.is_empty()).then_some(self.types),
            filter: None,
            since: self.since,
            until: self.until,
            explain: self.explain,
        };
        let search = async |memories: &Memories| memories.search(&request).await;
        answer::run(self.common, Need::Model, search, show::hits)
    }
}
