//! `memgate sessions`: lists a user's sessions, or ends one.

use std::process::ExitCode;

use crate::{
    api::{
        Paging, SessionsRequest, WithId,
        table::{EndSession, Sessions},
    },
    cli::{
        answer,
        options::{Common, Whose, count, session_id},
        output::show_jobs,
    },
    startup::Need,
};

/// Arguments of `memgate sessions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// End this session, so that its remaining turns are learned from now.
    #[arg(long, value_name = "SESSION", value_parser = session_id,
          conflicts_with_all = ["limit", "cursor"])]
    end: Option<String>,
    /// Maximum number of sessions, 1 to 100 [default: 20].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Cursor printed at the end of the previous page.
    #[arg(long)]
    cursor: Option<String>,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let whose = self.whose.into();
        if let Some(id) = self.end {
            let end = WithId { id, request: whose };
            return answer::run::<EndSession>(self.common, Need::Stored, end, |ended, _| {
                show_jobs::ended(ended)
            });
        }
        let paging = Paging { limit: self.limit, cursor: self.cursor };
        let request = SessionsRequest { whose, paging };
        answer::run::<Sessions>(self.common, Need::Stored, request, show_jobs::sessions)
    }
}
