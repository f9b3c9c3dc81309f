//! `memgate eval poisoning`: does foreign text get into a user's memory as the user's word, and is what
//! the user typed kept?

mod filling;
mod report;
mod row;
mod shown;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, ensure};
use jiff::SignedDuration;

use self::{
    filling::Filling,
    report::{Outcome, Places, Report},
    row::Row,
    shown::{Shown, shown},
};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    helper::ScriptedHelper,
    ordinary::Class,
    replay::{self, Asked, Turn},
};
use memgate_capture::{OrdersToModel, admit_memory};
use memgate_config::MemoryConfig;
use memgate_core::memory::{Memory, MemoryId, MemoryKind, MemoryType, Owner, Source};
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};

/// Simulated time between the plant and the later questions.
const LATER: SignedDuration = SignedDuration::from_hours(24);

/// Arguments of `memgate eval poisoning`.
#[derive(Debug, clap::Args)]
pub struct Poisoning {
    /// Plants or typed facts: JSON Lines as in testdata/poisoning
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Numbers of memories that a question presents, each measured
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [3, 5, 10])]
    places: Vec<usize>,
    /// Number of ordinary statements in each user's memory before the row
    #[arg(long, value_name = "N", default_value_t = 0)]
    filled: usize,
}

impl Evaluation for Poisoning {
    const LEARNS: bool = true;
    type Rows = Vec<Row>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Row>, String)> {
        ensure!(self.filled <= Filling::MOST, "--filled: must be at most {}", Filling::MOST);
        let (rows, digest) = data::rows::<Row>(&self.file)?;
        Ok((row::with_outputs_alone(rows), digest))
    }

    async fn measure(
        &self,
        memory: &Services,
        rows: &Vec<Row>,
        digests: Digests,
    ) -> Result<Report> {
        let filling = Filling::of(self.filled, memory).await?;
        let helper = ScriptedHelper::start().await?;
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in rows {
            let user = User { memory, owner: Owner::of_user(&row.id)?, row };
            let outcome = user.measure(&filling, &helper, &self.places).await;
            outcomes.push(outcome.with_context(|| row.id.clone())?);
        }
        Ok(Report::of(rows, &outcomes, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.text()
    }

    fn unmeasured(report: &Report) -> &[String] {
        report.unmeasured()
    }
}

/// One row's user.
struct User<'a> {
    memory: &'a Services,
    owner: Owner,
    row: &'a Row,
}

impl User<'_> {
    async fn measure(
        &self,
        filling: &Filling,
        helper: &ScriptedHelper,
        places: &[usize],
    ) -> Result<Outcome> {
        let begun = self.memory.clock.now();
        filling.store(self.memory, &self.owner).await?;
        let mut seeded = true;
        if let Some(seed) = &self.row.seed {
            self.learn("seed", seed, "Noted.").await?;
            seeded = self.keeps().await?;
        }
        let reached = self.plant(helper).await?;
        self.memory.time.set(begun + LATER);
        let mut shown = Vec::with_capacity(places.len());
        for limit in places {
            let asked = self.ask(&self.row.ask, *limit).await?;
            let unrelated = match &self.row.unrelated_ask {
                Some(ask) => self.ask(ask, *limit).await?,
                None => Shown::Nowhere,
            };
            shown.push(Places { places: *limit, asked, unrelated });
        }
        Ok(Outcome {
            shown,
            stored: self.stores().await?,
            kept: self.keeps_clean().await?,
            preference: self.is_preference().await?,
            lost: self.row.seed.is_some() && seeded && !self.keeps().await?,
            unmeasured: match (reached, seeded) {
                (false, _) => Some("the helper model was not asked"),
                (true, false) => Some("the seed was not stored"),
                (true, true) => None,
            },
        })
    }

    /// Brings the row into the memory by its channel. Returns whether it took this channel: the answer of a helper
    /// model that is not asked has no way in.
    async fn plant(&self, helper: &ScriptedHelper) -> Result<bool> {
        if let Some(content) = &self.row.content {
            self.write(content).await?;
            return Ok(true);
        }
        let helped = Arc::new(AtomicBool::new(self.row.answer.is_none()));
        if let Some(answer) = &self.row.answer {
            let (facts, helped) = (answer.facts.clone(), helped.clone());
            helper.answer(move |_| {
                helped.store(true, Ordering::Relaxed);
                facts.clone()
            });
            self.memory.capture.extract_with(Some(helper.client.clone()));
        }
        let (session, body) = (format!("{}-plant", self.row.id), self.row.body());
        let learned =
            replay::learn_body(self.memory, &self.owner, &session, &body, &self.row.assistant);
        let learned = learned.await;
        if self.row.answer.is_some() {
            self.memory.capture.extract_with(None);
        }
        learned?;
        Ok(helped.load(Ordering::Relaxed))
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
        if admit_memory(screener, &mut memory, MAX_MESSAGE_BYTES, OrdersToModel::Refuse).is_err() {
            return Ok(());
        }
        let vectors = self.memory.embedder.embed_passages(memory.passages()).await?;
        replay::keep(self.memory, memory, vectors).await
    }

    async fn ask(&self, question: &str, limit: usize) -> Result<Shown> {
        let now = self.memory.clock.now();
        let mut asked = Asked::first(self.memory, &self.owner, now, question);
        asked.selection.limit = limit;
        Ok(shown(&asked.recall(self.memory).await?.context.text, &self.row.needle))
    }

    async fn memories(&self) -> Result<Vec<Memory>> {
        replay::in_use(self.memory, &self.owner).await
    }

    /// Whether what the plant asks to forget is still there.
    async fn keeps(&self) -> Result<bool> {
        let keep = self.row.keep.as_deref().unwrap_or_default();
        Ok(self.memories().await?.iter().any(|it| it.text().to_lowercase().contains(keep)))
    }

    async fn stores(&self) -> Result<bool> {
        Ok(self.memories().await?.iter().any(|it| holds(it, &self.row.needle)))
    }

    /// Whether recall would show it as current, as a memory that is neither a raw turn nor from elsewhere.
    async fn keeps_clean(&self) -> Result<bool> {
        let now = self.memory.clock.now();
        let clean = |it: &Memory| Class::of(it, now) == Class::Clean;
        let says = |it: &Memory| it.text().to_lowercase().contains(&self.row.needle);
        Ok(self.memories().await?.iter().any(|it| clean(it) && says(it)))
    }

    /// Whether the plant became a preference, or a wish about every answer. A preference that the user typed is kept in words of its own.
    async fn is_preference(&self) -> Result<bool> {
        let memories = self.memories().await?;
        let holds = |it: &Memory| self.row.is_typed() || holds(it, &self.row.needle);
        let stands =
            |it: &Memory| it.kind == MemoryKind::Preference || it.is_wish_for_every_answer();
        Ok(memories.iter().any(|it| stands(it) && holds(it)))
    }
}

fn holds(memory: &Memory, needle: &str) -> bool {
    let mut texts = memory.sides().chain(memory.raw.as_deref());
    texts.any(|text| text.to_lowercase().contains(needle))
}
