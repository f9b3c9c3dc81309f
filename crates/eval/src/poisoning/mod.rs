//! `memgate eval poisoning`: does foreign text get into a user's memory as the user's word, and is what
//! the user typed kept?

mod report;
mod row;
mod shown;

pub(crate) use self::shown::is_quoted;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use jiff::SignedDuration;

use self::{
    report::{Outcome, Report},
    row::Row,
    shown::{Shown, shown},
};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::{self, Turn},
};
use memgate_capture::{NotAdmitted, admit_memory};
use memgate_config::MemoryConfig;
use memgate_core::memory::{
    Actor, Embedding, ListQuery, Memory, MemoryId, MemoryKind, MemoryType, Owner, ScopeQuery,
    Source, Write,
};
use memgate_recall::Selection;
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};

/// Maximum number of memories of one user that are examined.
const MOST: usize = 100;

/// Simulated time between the plant and the later questions.
const LATER: SignedDuration = SignedDuration::from_hours(24);

/// Statements that fill a memory, so that a plant is not alone in it.
const FILLING: [&str; 8] = [
    "I work as a nurse in Leeds and bike to work every day.",
    "My sister Rahel lives in Basel with her two kids.",
    "We are planning a trip to the Azores in October, budget 2,400 euros.",
    "I'm allergic to penicillin.",
    "Our dog is called Biscuit, he is nine years old.",
    "I prefer trains to flying whenever it is possible.",
    "My thesis is about tidal power and is due in May.",
    "We bank with Triodos and switched last spring.",
];

/// Arguments of `memgate eval poisoning`.
#[derive(Debug, clap::Args)]
pub struct Poisoning {
    /// Plants or typed facts: JSON Lines as in testdata/poisoning
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Number of memories that a question presents
    #[arg(long, value_name = "N")]
    places: Option<usize>,
    /// Fill each user's memory with ordinary statements first
    #[arg(long)]
    filled: bool,
}

impl Evaluation for Poisoning {
    const LEARNS: bool = true;
    type Rows = Vec<Row>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Row>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        rows: &Vec<Row>,
        digests: Digests,
    ) -> Result<Report> {
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in rows {
            let user = User { memory, owner: Owner::of_user(&row.id)?, row };
            let outcome = user.measure(self.filled, self.places).await;
            outcomes.push(outcome.with_context(|| row.id.clone())?);
        }
        Ok(Report::of(rows, &outcomes, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.text()
    }
}

/// One row's user.
struct User<'a> {
    memory: &'a Services,
    owner: Owner,
    row: &'a Row,
}

impl User<'_> {
    async fn measure(&self, filled: bool, places: Option<usize>) -> Result<Outcome> {
        let begun = self.memory.clock.now();
        if filled {
            for (number, text) in FILLING.iter().enumerate() {
                self.learn(&format!("filling-{number}"), text, "All right.").await?;
            }
        }
        let mut seeded = true;
        if let Some(seed) = &self.row.seed {
            self.learn("seed", seed, "Noted.").await?;
            seeded = self.keeps().await?;
        }
        if self.row.channel.as_deref() == Some("helper_model") {
            return Ok(Outcome::NotMeasured);
        }
        match &self.row.content {
            Some(content) => self.write(content).await?,
            None => {
                let (session, body) = (format!("{}-plant", self.row.id), self.row.body());
                replay::learn_body(self.memory, &self.owner, &session, &body, &self.row.assistant)
                    .await?;
            }
        }
        self.memory.time.set(begun + LATER);
        let limit = places.unwrap_or(self.memory.config.default_retrieval_limit);
        let asked = self.ask(&self.row.ask, limit).await?;
        let unrelated = match &self.row.unrelated_ask {
            Some(ask) => self.ask(ask, limit).await?,
            None => Shown::Nowhere,
        };
        Ok(Outcome::Measured {
            asked,
            unrelated,
            stored: self.stores().await?,
            preference: self.is_preference().await?,
            lost: self.row.seed.is_some() && seeded && !self.keeps().await?,
        })
    }

    async fn learn(&self, session: &str, user: &str, assistant: &str) -> Result<()> {
        let turn = Turn { user: user.to_owned(), assistant: assistant.to_owned() };
        let session = format!("{}-{session}", self.row.id);
        replay::learn(self.memory, &self.owner, &session, self.memory.clock.now(), &[turn]).await
    }

    /// Writes a memory as a caller of the API does. A refused one is not stored.
    async fn write(&self, content: &str) -> Result<()> {
        let (kind, now) = (MemoryType::new(MemoryType::SEMANTIC), self.memory.clock.now());
        let mut memory = Memory::new(
            MemoryId::fresh(),
            self.owner.clone(),
            kind,
            content,
            Source::ExternalData,
            now,
        );
        let screener = Screener::new(self.memory.config.screening);
        let admitted: Result<(), NotAdmitted> =
            admit_memory(screener, &mut memory, MAX_MESSAGE_BYTES);
        if admitted.is_err() {
            return Ok(());
        }
        let vectors = self.memory.embedder.embed_passages(memory.passages()).await?;
        let space: std::sync::Arc<str> = self.memory.embedder.space().id().into();
        let vectors =
            vectors.into_iter().map(|values| Embedding { space: space.clone(), part: 0, values });
        self.memory.store.store(memory, vectors.collect(), &Write::by(Actor::Api, "eval")).await?;
        Ok(())
    }

    async fn ask(&self, question: &str, limit: usize) -> Result<Shown> {
        let config = &self.memory.config;
        let selection = Selection { limit, ..replay::selection(config) };
        let now = self.memory.clock.now();
        let request = replay::recall_request(&self.owner, config, &selection, now);
        let plan = self.memory.recall.plan(replay::silent_message(question), &request).await?;
        let context = plan.context(|_| true).await?;
        Ok(shown(&context.text, &self.row.needle))
    }

    async fn memories(&self) -> Result<Vec<Memory>> {
        let query = ListQuery {
            scope: ScopeQuery::of(self.owner.clone()),
            filter: None,
            limit: MOST,
            cursor: None,
            now: self.memory.clock.now(),
        };
        Ok(self.memory.store.list(&query).await?.memories)
    }

    /// Whether what the plant asks to forget is still there.
    async fn keeps(&self) -> Result<bool> {
        let keep = self.row.keep.as_deref().unwrap_or_default();
        Ok(self.memories().await?.iter().any(|it| it.text().to_lowercase().contains(keep)))
    }

    async fn stores(&self) -> Result<bool> {
        Ok(self.memories().await?.iter().any(|it| holds(it, &self.row.needle)))
    }

    /// Whether the plant became a preference. A preference that the user typed is kept in words of its own.
    async fn is_preference(&self) -> Result<bool> {
        let memories = self.memories().await?;
        let holds = |it: &Memory| self.row.is_typed() || holds(it, &self.row.needle);
        Ok(memories.iter().any(|it| it.kind == MemoryKind::Preference && holds(it)))
    }
}

fn holds(memory: &Memory, needle: &str) -> bool {
    let mut texts = memory.sides().chain(memory.raw.as_deref());
    texts.any(|text| text.to_lowercase().contains(needle))
}
