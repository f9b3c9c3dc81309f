//! Which memories, in any of their versions, and which turns say what a user asked to be forgotten.
//! It deletes nothing.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use crate::{
    error::JobError,
    forget::{
        cascade::{Origins, sources},
        cut::Said,
        meant::meant,
        says::{Wanted, saying, words_of},
    },
    journal::{self, ForgetOrder},
    parts::Parts,
};
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, MemoryKind, Owner, ScopeQuery, Status, StoreError,
};
use memgate_embed::Embedder;
use memgate_models::MemorableModel;
use memgate_text::normal::one_line;

/// Memories or turns that are looked at in one go.
const PAGE: usize = 100;

/// Memories and turns that are looked at for one request, the newest; who has more asks over REST.
const LOOKED_AT: usize = 10_000;

/// Versions of a memory that are looked at, the newest.
const VERSIONS: usize = 100;

/// Memories, and turns, that one request may delete. What more would match is no name of a thing,
/// and nothing is deleted.
const MOST: usize = 200;

/// The memories and turns that say it.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Memories that go.
    pub(crate) memories: Vec<MemoryId>,
    /// Memories that say something else, too, without it: the next version of each.
    pub(crate) cuts: BTreeMap<MemoryId, Memory>,
    /// Memories that said it once: their earlier versions go.
    pub(crate) histories: Vec<MemoryId>,
    /// The origins of both.
    pub(crate) origins: Origins,
}

/// A version of a memory, and whether it may go: what was said after the request may not.
struct Version {
    memory: Memory,
    may_go: bool,
}

/// Looks for what says the subjects of one request.
struct Matcher<'a> {
    parts: &'a Parts,
    embedder: &'a dyn Embedder,
    order: &'a ForgetOrder,
    wanted: Arc<Wanted>,
}

/// Finds the memories and turns that match a "forget" request; `None` when they are too many.
pub(crate) async fn matching(
    parts: &Parts,
    embedder: &dyn Embedder,
    owner: &Owner,
    asking: i64,
    order: &ForgetOrder,
) -> Result<Option<Matches>, JobError> {
    let meant = meant(parts, owner, &order.requests).await?;
    let meant = meant.iter().map(|words| one_line(words)).collect();
    let wanted = Arc::new(Wanted { subjects: order.forget.clone(), meant });
    let matcher = Matcher { parts, embedder, order, wanted };
    let (mut matches, mut said) = (Matches::default(), Said::default());
    let fits = matcher.memories_that_say(owner, asking, &mut matches, &mut said).await?
        && matcher.turns_that_say(owner, &mut matches).await?;
    if !fits {
        return Ok(None);
    }
    matcher.cut_origins(owner, &mut matches, &said).await?;
    Ok(Some(matches))
}

impl Matcher<'_> {
    /// Adds the memories that say it, whatever their status; false when there are too many.
    async fn memories_that_say(
        &self,
        owner: &Owner,
        asking: i64,
        matches: &mut Matches,
        said: &mut Said,
    ) -> Result<bool, JobError> {
        let (whose, asked_at) = (owner.clone(), self.order.asked_at);
        let read = self.parts.journal.read(move |c| {
            let mut later = journal::later_turns(c, &whose, asked_at)?;
            // What the same message asks to be remembered is meant to stay.
            later.extend(journal::turn(c, asking)?.map(|turn| turn.key));
            Ok(later)
        });
        let later: HashSet<String> = read.await?.into_iter().collect();
        let mut query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(Filter::Status(Status::ALL.to_vec())),
            limit: PAGE,
            cursor: None,
            now: self.parts.journal.now(),
        };
        for _ in 0..LOOKED_AT / PAGE {
            let page = self.parts.writer.store.list(&query).await?;
            let mut versions = Vec::new();
            for memory in page.memories {
                for memory in self.versions(memory).await? {
                    let may_go = !is_later(&memory, &later, asked_at);
                    versions.push(Version { memory, may_go });
                }
            }
            let words = |version: &Version| {
                if version.may_go { words_of(&version.memory) } else { Vec::new() }
            };
            let says = self.saying(versions.iter().map(words).collect()).await?;
            said.extend(says.iter().flatten().cloned());
            let says: Vec<_> = versions.iter().zip(&says).collect();
            for versions in says.chunk_by(|(one, _), (other, _)| one.memory.id == other.memory.id) {
                matches.add(versions, &self.parts.writer.models.memorable);
            }
            if matches.count() > MOST {
                return Ok(false);
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => break,
            }
        }
        Ok(true)
    }

    /// The versions of a memory, the newest first.
    async fn versions(&self, memory: Memory) -> Result<Vec<Memory>, StoreError> {
        if memory.version == 1 {
            return Ok(vec![memory]);
        }
        match self.parts.writer.store.history(&memory.owner, &memory.id).await {
            Ok(mut versions) => {
                versions.truncate(VERSIONS);
                Ok(versions)
            }
            Err(StoreError::NotFound) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Adds the turns that say it: a job of theirs could bring it back. False when there are too
    /// many.
    async fn turns_that_say(&self, owner: &Owner, matches: &mut Matches) -> Result<bool, JobError> {
        let (whose, asked_at) = (owner.clone(), self.order.asked_at);
        let numbers = self
            .parts
            .journal
            .read(move |c| journal::turns_until(c, &whose, asked_at, LOOKED_AT))
            .await?;
        let mut found = 0;
        for page in numbers.chunks(PAGE) {
            let page = page.to_vec();
            let read = self.parts.journal.read(move |c| {
                let turns = page.iter().map(|number| journal::turn(c, *number));
                turns.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
            });
            let turns = read.await?;
            let texts = turns.iter().map(|t| vec![t.user_text.clone(), t.reply_text.clone()]);
            let says = self.saying(texts.collect()).await?;
            for (turn, _) in turns.iter().zip(says).filter(|(_, says)| !says.is_empty()) {
                matches.origins.add_turn(turn);
                found += 1;
            }
            if found > MOST {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn saying(&self, things: Vec<Vec<String>>) -> Result<Vec<Vec<String>>, JobError> {
        saying(self.embedder, &self.parts.writer.models.memorable, &self.wanted, things).await
    }

    /// Cuts what is said out of the memories of turns that say it in these words, where only a memory made of them was found.
    async fn cut_origins(
        &self,
        owner: &Owner,
        matches: &mut Matches,
        said: &Said,
    ) -> Result<(), JobError> {
        let Parts { writer, journal, .. } = self.parts;
        let origins: Vec<MemoryId> = matches.origins.memories().cloned().collect();
        for id in origins.into_iter().filter(|id| !matches.memories.contains(id)) {
            if !matches.cuts.contains_key(&id) {
                let turn = match writer.store.get(owner, &id, journal.now()).await {
                    Err(StoreError::NotFound) => continue,
                    found => found?,
                };
                let Some(left) = said.cut_out_of(&turn, &writer.models.memorable) else { continue };
                matches.cuts.insert(id.clone(), left);
            }
            matches.origins.keep_memory(&id);
        }
        Ok(())
    }
}

impl Matches {
    /// Memories that the request changes.
    fn count(&self) -> usize {
        self.memories.len() + self.cuts.len() + self.histories.len()
    }

    /// Adds a memory where one of its versions says it, the newest first, each with the words that say it.
    fn add(&mut self, versions: &[(&Version, &Vec<String>)], model: &MemorableModel) {
        let Some((newest, says_now)) = versions.first() else { return };
        if versions.iter().all(|(_, says)| says.is_empty()) {
            return;
        }
        let memory = &newest.memory;
        let is_of_turns = matches!(memory.kind, MemoryKind::Turn | MemoryKind::Summary);
        if !says_now.is_empty() || is_of_turns {
            let mut said = Said::default();
            said.extend(versions.iter().flat_map(|(_, says)| says.iter().cloned()));
            let shown = memory.status != Status::Forgotten && !says_now.is_empty();
            match said.cut_out_of(memory, model).filter(|_| shown) {
                Some(left) => _ = self.cuts.insert(memory.id.clone(), left),
                None => self.memories.push(memory.id.clone()),
            }
            versions.iter().for_each(|(version, _)| self.origins.add(&version.memory));
            return;
        }
        // It says something else by now, which was said elsewhere.
        self.histories.push(memory.id.clone());
        let (says, kept): (Vec<_>, Vec<_>) = versions.iter().partition(|(_, it)| !it.is_empty());
        let kept: HashSet<_> =
            kept.iter().flat_map(|(version, _)| sources(&version.memory)).collect();
        for (version, _) in says {
            self.origins.add_except(&version.memory, &kept);
        }
    }
}

/// Whether a version of a memory was said after a time, in milliseconds, or in one of the turns
/// that began after it.
fn is_later(version: &Memory, later: &HashSet<String>, time: i64) -> bool {
    match &version.provenance.turn {
        Some(_) => version.is_said_in(later),
        // One may be made late of what was said before.
        None if version.kind == MemoryKind::Summary => {
            version.event_time.is_some_and(|began| began.as_millisecond() > time)
        }
        None => version.created_at.as_millisecond() > time,
    }
}
