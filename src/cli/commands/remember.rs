//! `memgate remember`: stores a memory.

use std::process::ExitCode;

use crate::{
    api::{CreateRequest, NewMemory, WithHeader, table::Create},
    cli::{
        answer,
        options::{Common, Whose, number},
        output::show,
    },
    startup::Need,
};

/// Arguments of `memgate remember`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Text to remember; a text with a secret, such as a password, is refused.
    text: String,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// Type of the memory [default: semantic].
    #[arg(long = "type", value_name = "TYPE")]
    memory_type: Option<String>,
    /// Project of the memory [default: none, found in every project].
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Importance, 0 to 1 [default: 0.5].
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    importance: Option<f32>,
    /// Tag; may be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Stores a text that gives orders to the model as a quotation instead of refusing it.
    #[arg(long)]
    admit_quoted: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let request = CreateRequest {
            whose: self.whose.into(),
            memory: NewMemory {
                content: self.text,
                memory_type: self.memory_type,
                project_id: self.project,
                importance: self.importance,
                tags: self.tags,
                admit_quoted: self.admit_quoted,
                ..NewMemory::default()
            },
        };
        let request = WithHeader::without(request);
        answer::run::<Create>(self.common, Need::Model, request, show::stored)
    }
}
