//! `memgate list`: a user's memories, newest first.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::{
    api::{ListFilter, ListRequest, Paging, table::List},
    cli::{
        answer,
        options::{Common, Whose, count, filter},
        output::show,
    },
    startup::Need,
};
use memgate_core::memory::{Filter, Status};

/// Arguments of `memgate list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// Show only memories of this project.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Show only memories of this type.
    #[arg(long = "type", value_name = "TYPE")]
    memory_type: Option<String>,
    /// Show only memories with this status [default: active and review].
    #[arg(long, value_parser = status())]
    status: Option<Status>,
    /// Show only memories that mention this person or thing.
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// Show only memories that meet this filter, as JSON (docs/filters.md).
    #[arg(long, value_name = "JSON", value_parser = filter)]
    filter: Option<Filter>,
    /// Maximum number of memories, 1 to 100 [default: 20].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Cursor printed at the end of the previous page.
    #[arg(long)]
    cursor: Option<String>,
}

fn status() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.iter().map(|status| status.name()))
        .map(|name| Status::from_name(&name).unwrap_or_default())
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let request = ListRequest {
            whose: self.whose.into(),
            filter: ListFilter {
                project_id: self.project,
                memory_type: self.memory_type,
                status: self.status,
                entity: self.entity,
                filter: self.filter,
            },
            paging: Paging { limit: self.limit, cursor: self.cursor },
        };
        answer::run::<List>(self.common, Need::Stored, request, show::memories)
    }
}
