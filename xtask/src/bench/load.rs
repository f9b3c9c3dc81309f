//! Sends the requests of one case and measures their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use reqwest::Client;
use tokio::task::JoinSet;

use super::plan::{Case, Message};
use super::request::{Template, directive, user};
use super::samples::Round;

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The requests of a case and their target.
pub(super) struct Load {
    client: Client,
    url: String,
    case: Case,
    /// Number of users.
    users: u64,
    template: Template,
    /// Number of the next request; unique within a run.
    next: Arc<AtomicU64>,
}

/// Result of one request.
struct Reply {
    /// Time to the first bytes of a streamed body, or to the last bytes of another.
    time: Duration,
    decision: String,
    hits: usize,
}

impl Load {
    /// Creates the load of a case; connections are kept open while it lives.
    pub(super) fn new(case: Case, url: String, users: u64, next: Arc<AtomicU64>) -> Result<Self> {
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build()?;
        Ok(Self { client, url, case, users, template: Template::of(&case), next })
    }

    /// Sends `count` requests with the case's concurrency.
    pub(super) async fn send(self: &Arc<Self>, count: usize) -> Round {
        let mut senders = JoinSet::new();
        for sender in 0..self.case.at_once {
            // The remainder goes to the first senders.
            let share = (count + self.case.at_once - 1 - sender) / self.case.at_once;
            let load = Arc::clone(self);
            senders.spawn(async move {
                let mut round = Round::default();
                for _ in 0..share {
                    load.one(&mut round).await;
                }
                round
            });
        }
        let mut all = Round::default();
        for round in senders.join_all().await {
            all.times.extend(round.times);
            all.failed += round.failed;
            all.undecided += round.undecided;
            all.hits += round.hits;
        }
        all
    }

    async fn one(&self, round: &mut Round) {
        let Ok(reply) = self.exchange().await else {
            round.failed += 1;
            return;
        };
        round.times.push(reply.time);
        round.hits += reply.hits;
        if self.expected().is_some_and(|expected| reply.decision != expected) {
            round.undecided += 1;
        }
    }

    async fn exchange(&self) -> Result<Reply> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let user = user(number, self.users);
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("x-authz-user-id", format!("user-{user}"))
            .header("x-session-id", format!("bench-{number}"));
        if !self.case.learns {
            request = request.header("x-memory-auto-store", "false");
        }
        if let Some(directive) = directive(&self.case) {
            request = request.header("x-double", directive);
        }
        let request = request.body(self.template.body(number, user));
        let sent = Instant::now();
        let mut response = request.send().await?.error_for_status()?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let decision = header("x-memgate-decision").unwrap_or_default().to_owned();
        let hits = header("x-memgate-hits").and_then(|hits| hits.parse().ok()).unwrap_or(0);
        let first = response.chunk().await?.context("the reply has no body")?;
        let mut time = sent.elapsed();
        let mut bytes = first.len();
        while let Some(more) = response.chunk().await? {
            bytes += more.len();
        }
        if !self.case.streamed {
            time = sent.elapsed();
        }
        anyhow::ensure!(bytes > 0, "the reply is empty");
        Ok(Reply { time, decision, hits })
    }

    /// The expected decision of memgate.
    fn expected(&self) -> Option<&'static str> {
        self.case.subject.is_memgate().then_some(match self.case.message {
            Message::Greeting => "skipped:greeting",
            Message::Question => "searched",
        })
    }
}
