//! A request as the gateway makes it.

use std::time::Duration;

use memgate_config::Config;
use memgate_core::clock::Clock;
use memgate_core::memory::{Owner, Within};
use memgate_recall::{Context, Earlier, Message, Recall, RecallRequest, Selection, Trace};

/// The longest search.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is presented, as by default.
pub(crate) fn selection(config: &Config) -> Selection {
    Selection {
        limit: config.memory.default_retrieval_limit,
        threshold: config.memory.default_similarity_threshold,
        types: Vec::new(),
    }
}

/// The context for a user's message.
pub(crate) async fn ask(
    recall: &Recall,
    config: &Config,
    owner: &Owner,
    text: &str,
    trace: Option<&Trace>,
) -> Context {
    let (all, selection) = (Within::All, selection(config));
    let request = RecallRequest {
        owner,
        session: None,
        reader: None,
        projects: &all,
        agents: &all,
        earlier: &[],
        selection: &selection,
        settings: config.memory.recall_settings(),
        filter: None,
        forgotten: &[],
        now: Clock::System.now(),
        zone: jiff::tz::TimeZone::UTC,
        deadline: tokio::time::Instant::now() + PATIENCE,
        trace,
    };
    let message = Message { text, signals: &Earlier::SILENT, tools_offered: false };
    let plan = recall.plan(message, &request).await.unwrap();
    plan.context(|_| false).await.unwrap()
}
