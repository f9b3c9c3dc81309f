//! `memgate remember`: stores a memory.

use std::process::ExitCode;

use serde_json::Map;

use crate::{
    api::read::requests::CreateRequest,
    cli::{
        answer,
        backend::Backend,
        options::{Common, Whose, number},
        output::show,
    },
    startup::Need,
};

/// Arguments of `memgate remember`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Text to remember.
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
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let request = CreateRequest {
            user_id: self.whose.user,
            tenant_id: self.whose.tenant,
            content: self.text,
            memory_type: self.memory_type,
            project_id: self.project,
            agent_id: None,
            session_id: None,
            source: None,
            importance: self.importance,
            confidence: None,
            tags: self.tags,
            metadata: Map::new(),
            mentions: Vec::new(),
            entity_relations: Vec::new(),
            valid_from: None,
            valid_until: None,
        };
        let create = async |memories: &Backend| memories.create(request).await;
        answer::run(self.common, Need::Model, create, show::stored)
    }
}
