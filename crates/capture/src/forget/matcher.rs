//! Which memories, in any of their versions, and which turns say what a user asked to be forgotten.
//! It deletes nothing.

use std::{collections::HashSet, sync::Arc};

use crate::{
    error::JobError,
    forget::{
        cascade::{Origins, sources},
        meant::meant,
    },
    journal::{self, ForgetOrder},
    parts::Parts,
};
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, MemoryKind, Owner, ScopeQuery, Status, StoreError,
};
use memgate_embed::{EmbedError, Embedder, dot};
use memgate_text::{command::Subject, normal::one_line};

/// Memories or turns that are looked at in one go.
const PAGE: usize = 100;

/// Memories and turns that are looked at for one request, the newest; who has more asks over REST.
const LOOKED_AT: usize = 10_000;

/// Versions of a memory that are looked at, the newest.
const VERSIONS: usize = 100;

/// Memories, and turns, that one request may delete. What more would match is no name of a thing,
/// and nothing is deleted.
const MOST: usize = 200;

/// The least cosine of a statement and a sentence that has all its words, for the sentence to say
/// it; the lower one where the words show that it is said of the speaker.
/// Between what says it and what does not in testdata/commands/forget.jsonl.
const SAYS: f32 = 0.7;
const SAYS_OF_SPEAKER: f32 = 0.6;

/// The memories and turns that say it.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Memories that go.
    pub(crate) memories: Vec<MemoryId>,
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
    /// Told words that the request means.
    meant: Arc<[String]>,
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
    let matcher = Matcher { parts, embedder, order, meant };
    let mut matches = Matches::default();
    let fits = matcher.memories_that_say(owner, asking, &mut matches).await?
        && matcher.turns_that_say(owner, &mut matches).await?;
    Ok(fits.then_some(matches))
}

impl Matcher<'_> {
    /// Adds the memories that say it, whatever their status; false when there are too many.
    async fn memories_that_say(
        &self,
        owner: &Owner,
        asking: i64,
        matches: &mut Matches,
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
            let says = self.which_say(versions.iter().map(words).collect()).await?;
            let mut versions = versions.iter().zip(says).peekable();
            while let Some((newest, says_now)) = versions.next() {
                let mut said = vec![(newest, says_now)];
                while let Some(older) =
                    versions.next_if(|(other, _)| other.memory.id == newest.memory.id)
                {
                    said.push(older);
                }
                matches.add(&said);
            }
            if matches.memories.len() + matches.histories.len() > MOST {
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
            let says = self.which_say(texts.collect()).await?;
            for (turn, _) in turns.iter().zip(says).filter(|(_, says)| *says) {
                matches.origins.add_turn(turn);
                found += 1;
            }
            if found > MOST {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Which of several things say one of the subjects, each given by its texts: by their words,
    /// and a fact by their meaning too.
    async fn which_say(&self, things: Vec<Vec<String>>) -> Result<Vec<bool>, JobError> {
        let (subjects, meant) = (self.order.forget.clone(), self.meant.clone());
        // Long texts take a while: not on a thread of the runtime.
        let looked = tokio::task::spawn_blocking(move || {
            things.iter().map(|texts| Words::of(&subjects, &meant, texts)).collect::<Vec<_>>()
        });
        let looked =
            looked.await.map_err(|_| JobError::retry("the texts cannot be looked through"))?;
        let mut says = Vec::with_capacity(looked.len());
        for words in looked {
            says.push(match words {
                Words::Say(says) => says,
                Words::May(facts) => self.one_is_meant(&facts).await?,
            });
        }
        Ok(says)
    }

    async fn one_is_meant(&self, facts: &[(Subject, Vec<String>)]) -> Result<bool, JobError> {
        for (fact, sentences) in facts {
            let sentences = sentences.iter().map(String::as_str).collect();
            let meant = means(self.embedder, fact, sentences).await;
            if meant? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Matches {
    /// Adds a memory where one of its versions says it, the newest first.
    fn add(&mut self, versions: &[(&Version, bool)]) {
        let Some((newest, says_now)) = versions.first() else { return };
        if !versions.iter().any(|(_, says)| *says) {
            return;
        }
        let memory = &newest.memory;
        if *says_now || matches!(memory.kind, MemoryKind::Turn | MemoryKind::Summary) {
            self.memories.push(memory.id.clone());
            versions.iter().for_each(|(version, _)| self.origins.add(&version.memory));
            return;
        }
        // It says something else by now, which was said elsewhere.
        self.histories.push(memory.id.clone());
        let kept: Vec<_> = versions.iter().filter(|(_, says)| !says).collect();
        let kept: HashSet<_> =
            kept.iter().flat_map(|(version, _)| sources(&version.memory)).collect();
        for (version, _) in versions.iter().filter(|(_, says)| *says) {
            self.origins.add_except(&version.memory, &kept);
        }
    }
}

/// Whether texts say one of the subjects, by their words.
enum Words {
    /// They do, or do not.
    Say(bool),
    /// These sentences have all the words of these facts: their meaning decides.
    May(Vec<(Subject, Vec<String>)>),
}

impl Words {
    fn of(subjects: &[Subject], meant: &[String], texts: &[String]) -> Self {
        let says = |text: &String| meant.iter().any(|words| one_line(text).contains(words));
        if !meant.is_empty() && texts.iter().any(says) {
            return Self::Say(true);
        }
        let mut facts = Vec::new();
        for subject in subjects {
            let mut sentences = texts.iter().flat_map(|text| subject.said_in(text)).peekable();
            match subject {
                _ if sentences.peek().is_none() => {}
                Subject::Topic(_) => return Self::Say(true),
                Subject::Fact(_) => {
                    facts.push((subject.clone(), sentences.map(str::to_owned).collect()));
                }
            }
        }
        if facts.is_empty() { Self::Say(false) } else { Self::May(facts) }
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

/// All the texts of a memory.
fn words_of(memory: &Memory) -> Vec<String> {
    let texts = memory.sides().chain(memory.raw.as_deref());
    let mut words: Vec<String> = texts.map(str::to_owned).collect();
    for value in memory.metadata.values() {
        let several = value.as_array().into_iter().flatten();
        let texts = several.chain([value]).filter_map(serde_json::Value::as_str);
        words.extend(texts.map(str::to_owned));
    }
    words
}

/// Whether one of these sentences, which have all the words of a fact, means it.
pub(crate) async fn means(
    embedder: &dyn Embedder,
    fact: &Subject,
    sentences: Vec<&str>,
) -> Result<bool, EmbedError> {
    let least = if fact.is_of_speaker() { SAYS_OF_SPEAKER } else { SAYS };
    let texts = [fact.words()].into_iter().chain(sentences).map(str::to_owned).collect();
    let vectors = embedder.embed_passages(texts).await?;
    let Some((fact, sentences)) = vectors.split_first() else { return Ok(false) };
    Ok(sentences.iter().any(|sentence| dot(fact, sentence) >= least))
}
