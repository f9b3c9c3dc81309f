//! `memgate forget`: one memory, a project's, or all of a user's, for good.

use std::process::ExitCode;

use super::{
    answer,
    memories::Memories,
    options::{Common, Whose, memory_id},
};
use crate::{
    api::{self, DeletedView, ForgetRequest},
    startup::Need,
};

/// Arguments of `memgate forget`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["id", "all"])))]
pub(super) struct Args {
    /// The memory's id.
    #[arg(value_parser = memory_id)]
    id: Option<String>,
    /// Everything, what waits to be learnt included.
    #[arg(long)]
    all: bool,
    /// With --all: only this project's.
    #[arg(long, value_name = "ID", requires = "all", conflicts_with = "id")]
    project: Option<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
}

impl Args {
    pub(super) fn run(self) -> ExitCode {
        let (user_id, tenant_id) = (self.whose.user, self.whose.tenant);
        let forget = async |memories: &Memories| match &self.id {
            Some(id) => memories.forget(id, &api::Whose { user_id, tenant_id }).await,
            None => {
                let project_id = self.project;
                memories.forget_scope(&ForgetRequest { user_id, tenant_id, project_id }).await
            }
        };
        answer::run(self.common, Need::Stored, forget, |done, _| told(done))
    }
}

fn told(done: &DeletedView) -> String {
    match done.deleted {
        0 => "There was nothing to forget.".to_owned(),
        1 => "Forgot 1 memory.".to_owned(),
        many => format!("Forgot {many} memories."),
    }
}
