//! `memgate export`: writes the memories of one user or of all users to a file.

use std::{path::PathBuf, process::ExitCode};

use crate::{
    api::{ExportAllRequest, ExportRequest, table},
    cli::{
        answer,
        backend::Backend,
        options::{Common, WhoseIfGiven},
        output::{export_file::Sink, print::tell, progress::Progress},
    },
    startup::Need,
};

/// Number of memories per request: each response must arrive within the timeout.
const PIECE: usize = 500;

/// Arguments of `memgate export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: WhoseIfGiven,
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
        let Self { common, whose, out, resume, no_vectors } = self;
        let whose = whose.given();
        let vectors = !no_vectors;
        let export = async |memories: &Backend| {
            // The owner in the file's header. The API reports which id is invalid.
            let owner = whose.as_ref().and_then(|whose| whose.owner().ok());
            let (mut sink, mut after) = Sink::open(out, resume, owner.as_ref(), vectors).await?;
            let progress = Progress::of_memories();
            loop {
                if sink.is_complete() {
                    return sink.finish();
                }
                let limit = Some(PIECE);
                let all = ExportAllRequest { after, limit, vectors: Some(vectors) };
                let piece = match whose.clone() {
                    None => memories.ask::<table::ExportAll>(all).await?,
                    Some(whose) => {
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
