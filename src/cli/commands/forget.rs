//! `memgate forget`: deletes one memory or all memories of a project or user, and restores what a
//! user asked to be forgotten in a message.

use std::process::ExitCode;

use crate::{
    api::{
        self, DeletedView, ForgetOptions, ForgetRequest, ForgettingsView, ListFilter, UndoneView,
        WithId,
        table::{Forget, ForgetScope, Forgettings, UndoForgetting},
    },
    cli::{
        answer,
        options::{Common, Whose, filter, memory_id},
    },
    startup::Need,
};
use memgate_core::memory::Filter;

/// Arguments of `memgate forget`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["id", "all", "pending", "undo"])))]
pub(crate) struct Args {
    /// Id of the memory.
    #[arg(value_parser = memory_id)]
    id: Option<String>,
    /// Delete all memories, including turns that are not learned from yet.
    #[arg(long)]
    all: bool,
    /// List memories that the user asked to forget in a message and that can still be restored.
    #[arg(long)]
    pending: bool,
    /// Restore the memories of one of these requests; --pending lists their ids.
    #[arg(long, value_name = "ID", value_parser = forgetting_id)]
    undo: Option<String>,
    /// With --all: delete only this project's memories.
    #[arg(long, value_name = "ID", requires = "all", conflicts_with = "id")]
    project: Option<String>,
    /// With --all: delete only memories that meet this filter, as JSON (docs/filters.md).
    #[arg(long, value_name = "JSON", value_parser = filter, requires = "all", conflicts_with = "id")]
    filter: Option<Filter>,
    /// With --all: only count the memories.
    #[arg(long, requires = "all", conflicts_with = "id")]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let (common, need, whose) = (self.common, Need::Stored, self.whose.into());
        if let Some(id) = self.undo {
            let undo = WithId { id, request: whose };
            return answer::run::<UndoForgetting>(common, need, undo, |done, _| restored(done));
        }
        if self.pending {
            return answer::run::<Forgettings>(common, need, whose, |found, _| listed(found));
        }
        match self.id {
            Some(id) => {
                let forget = WithId { id, request: whose };
                answer::run::<Forget>(common, need, forget, |done, _| told(done))
            }
            None => {
                let filter = ListFilter {
                    project_id: self.project,
                    filter: self.filter,
                    ..ListFilter::default()
                };
                let options = ForgetOptions { dry_run: self.dry_run };
                let forget = ForgetRequest { whose, filter, options };
                answer::run::<ForgetScope>(common, need, forget, |done, _| told(done))
            }
        }
    }
}

fn told(done: &DeletedView) -> String {
    match done.deleted {
        count if done.dry_run => format!("Would forget {count} memories."),
        0 => "Nothing to forget.".to_owned(),
        1 => "Forgot 1 memory.".to_owned(),
        many => format!("Forgot {many} memories."),
    }
}

/// Checks the id of a request to forget, which becomes part of a path.
fn forgetting_id(text: &str) -> Result<String, &'static str> {
    text.parse::<i64>().map(|id| id.to_string()).map_err(|_| "must be a number, see --pending")
}

fn listed(found: &ForgettingsView) -> String {
    if found.forgettings.is_empty() {
        return "No pending requests to forget.".to_owned();
    }
    let line = |it: &api::ForgettingView| {
        format!(
            "{}  {} memories, requested {}, erased at {}",
            it.id,
            it.memories.len(),
            it.asked_at,
            it.erase_at
        )
    };
    found.forgettings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn restored(done: &UndoneView) -> String {
    match done.restored {
        1 => "Restored 1 memory.".to_owned(),
        many => format!("Restored {many} memories."),
    }
}
