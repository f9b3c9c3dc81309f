//! `memgate search`: searches memories. It always searches; whether a model request would be
//! searched is decided in `recall/decide.rs`.

use std::process::ExitCode;

use jiff::Timestamp;

use crate::{
    api::{SearchRequest, SearchTerms, table::Search},
    cli::{
        answer,
        options::{Common, Whose, count, filter, number, time},
        output::show,
    },
    startup::Need,
};
use memgate_core::memory::Filter;

/// Arguments of `memgate search`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Search query.
    query: String,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// Search this project's memories and those without a project.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Maximum number of memories, 1 to 50 [default: from the configuration].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Minimum relevance, 0 to 1 [default: from the configuration].
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// Search only memories of this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Search only memories about this time or later: a day (2026-05-01, UTC) or a time (2026-05-01T10:00:00Z).
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Search only memories about an earlier time; must be after --since.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
    /// Search only memories that meet this filter, as JSON (docs/filters.md).
    #[arg(long, value_name = "JSON", value_parser = filter)]
    filter: Option<Filter>,
    /// Show a breakdown of each score.
    #[arg(long)]
    explain: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let request = SearchRequest {
            whose: self.whose.into(),
            search: SearchTerms {
                query: Some(self.query),
                project_id: self.project,
                limit: self.limit,
                threshold: self.threshold,
                types: (!self.types.is_empty()).then_some(self.types),
                filter: self.filter,
                since: self.since,
                until: self.until,
                explain: self.explain,
            },
        };
        answer::run::<Search>(self.common, Need::Model, request, show::hits)
    }
}
