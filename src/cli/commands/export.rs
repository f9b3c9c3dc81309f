//! `memgate export`: writes the memories of one user or of all users to a file.

use std::{path::PathBuf, process::ExitCode};

use crate::{
    api::{ExportAllRequest, ExportRequest, Whose, table},
    cli::{
        answer,
        backend::Backend,
        failure::Failure,
        options::Common,
        output::{export_file::Sink, print::tell, progress::Progress},
    },
    startup::Need,
};
use memgate_core::memory::Owner;

/// Number of memories per request: each response must arrive within the timeout.
const PIECE: usize = 500;

/// Arguments of `memgate export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Export only this user's memories [default: those of all users, for operators].
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Tenant of the user [default: default].
    #[arg(long, value_name = "ID", requires = "user")]
    tenant: Option<String>,
    /// Output file, created once the export is complete [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Resume an interrupted export into this file.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Omit the vectors: the file is smaller, and memories are re-embedded on import.
    #[arg(long)]
    no_vectors: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let json = self.common.json;
        let Self { common, user, tenant, out, resume, no_vectors } = self;
        let vectors = !no_vectors;
        let export = async |memories: &Backend| {
            let owner = owner(user.as_deref(), tenant.as_deref())?;
            let (mut sink, mut after) = Sink::open(out, resume, owner.as_ref(), vectors).await?;
            let progress = Progress::of_memories();
            loop {
                if sink.is_complete() {
                    return sink.finish();
                }
                let limit = Some(PIECE);
                let all = ExportAllRequest { after, limit, vectors: Some(vectors) };
                let piece = match &user {
                    None => memories.ask::<table::ExportAll>(all).await?,
                    Some(user) => {
                        let (user_id, tenant_id) = (user.clone(), tenant.clone());
                        let whose = Whose { user_id, tenant_id };
                        memories.ask::<table::Export>(ExportRequest { whose, all }).await?
                    }
                };
                after = sink.write(&piece.body)?;
                progress.set(sink.count());
            }
        };
        match answer::ask(common, Need::Stored, true, export) {
            Ok(Some(count)) => {
                tell(&format!(
                    "Exported {count} {}.",
                    if count == 1 { "memory" } else { "memories" }
                ));
                ExitCode::SUCCESS
            }
            // The reader closed standard output early.
            Ok(None) => ExitCode::SUCCESS,
            Err(failure) => answer::report(&failure, json),
        }
    }
}

/// The owner in the file's header.
fn owner(user: Option<&str>, tenant: Option<&str>) -> Result<Option<Owner>, Failure> {
    let owner = user.map(|user| Owner::new(tenant.unwrap_or(Owner::DEFAULT_TENANT), user));
    // The API reports which of the two ids is invalid.
    Ok(owner.transpose().ok().flatten())
}
