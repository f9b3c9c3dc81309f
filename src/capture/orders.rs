//! The two jobs that do what a user asked of memory itself: remembering and forgetting. Each leads
//! to the same however often it runs.

use std::{collections::HashSet, time::Duration};

use super::{
    extract::{self, explicit},
    journal::{self, ClaimedJob, Forget, ForgetOrder, StoredTurn, lanes_of},
    keep::now,
    learn::{origin, payload},
    sayings::{is_of_one_turn, is_said_in, sayings, sources},
    work::{JobError, Workbench},
};
use crate::{
    embed::{EmbedError, Embedder},
    memory::{Actor, Filter, ListQuery, Memory, Owner, ScopeQuery, Status, StoreError, Write},
    signals::Subject,
};

/// The pause while what the same message asks to be forgotten is still there.
const ORDER_PAUSE: Duration = Duration::from_secs(5);

/// Memories that are looked at in one go.
const PAGE: usize = 100;

/// Memories and turns that are looked at for one request, the newest; who has more asks over REST.
const LOOKED_AT: usize = 10_000;

/// Memories that one request may delete. What more would match is no name of a thing, and
/// nothing is deleted.
const MOST: usize = 200;

/// The least cosine of a statement and a sentence that has all its words, for the sentence to say
/// it; the lower one where the words tell that it is said of the speaker.
/// Between what says it and what does not in testdata/commands/forget.jsonl.
const SAYS: f32 = 0.7;
const SAYS_OF_SPEAKER: f32 = 0.45;

impl Workbench {
    /// Brings what a user asked to be remembered into the store.
    pub(super) async fn remember(&self, job: &ClaimedJob) -> Result<(), JobError> {
        let statements: Vec<String> = payload(job)?;
        let turn = job.subject;
        if self.journal.read(move |c| journal::has_to_forget(c, turn)).await? {
            return Err(JobError::NotNow(ORDER_PAUSE));
        }
        let Some(said) = self.journal.read(move |c| journal::turn(c, turn)).await? else {
            return Ok(());
        };
        let embedder = self.keeper.embedder.as_ref();
        let found =
            explicit::extract(embedder, statements, said.began).await.map_err(JobError::retry)?;
        let stored = self.keep_found(&origin(&said, explicit::EXTRACTOR), found).await?;
        self.keeper.metrics.command_done("remember", stored);
        Ok(())
    }

    /// Deletes what a user asked to be forgotten, as far as it is there for certain.
    pub(super) async fn forget_said(&self, job: &ClaimedJob) -> Result<(), JobError> {
        // Without a payload it was done, and only the settling was missed.
        let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
        let order: ForgetOrder = payload(job)?;
        // Whatever fails from here on may work another time.
        self.carry_out(job, owner, &order).await.map_err(JobError::or_retry)
    }

    async fn carry_out(
        &self,
        job: &ClaimedJob,
        owner: &Owner,
        order: &ForgetOrder,
    ) -> Result<(), JobError> {
        // This job has the owner's one lane; an extraction in the other could bring it back.
        let [_, extractions] = lanes_of(owner);
        let held = self.lanes.hold(&extractions).await;
        let turn = job.subject;
        let asking = self.journal.read(move |c| journal::turn(c, turn)).await?;
        let asking = asking.map(|turn| turn.key);
        let memories = self.memories_that_say(owner, order, asking.as_deref()).await?;
        let turns = self.turns_that_say(owner, order).await?;
        if memories.len() > MOST {
            tracing::warn!("A request to forget matches too many memories, nothing is forgotten");
        } else {
            // First: asked again after a failure, the turns that tell the sessions are still there.
            // Made again they are only once this job lets go of their lane.
            let of_memories = memories.iter().filter_map(|memory| memory.session_id.clone());
            let said = memories.iter().flat_map(sayings).filter_map(|said| said.session);
            let of_turns = turns.iter().map(|turn| turn.session.clone());
            let sessions: HashSet<String> = of_memories.chain(said).chain(of_turns).collect();
            for session in sessions {
                self.summaries().forget(owner, &session, false).await?;
            }
            for turn in turns {
                self.journal.forget(owner.clone(), Forget::Turn(turn.key)).await?;
            }
            let write = Write::by(Actor::Capture, "asked to forget");
            let mut deleted = 0;
            for memory in memories {
                // One that went with its session's summary is gone.
                let versions = match self.keeper.store.history(owner, &memory.id).await {
                    Err(StoreError::NotFound) => continue,
                    versions => versions?,
                };
                for what in versions.iter().flat_map(sources).collect::<HashSet<_>>() {
                    self.journal.forget(owner.clone(), what).await?;
                }
                // Turns that said it in other words.
                let said = versions.iter().flat_map(sayings);
                let said = said.filter(|said| is_of_one_turn(said.extractor.as_deref()));
                for turn in said.map(|said| said.turn).collect::<HashSet<_>>() {
                    let turn = extract::turns::id_of(owner, &turn);
                    if turn != memory.id {
                        deleted += self.keeper.store.forget(owner, &turn, &write).await?;
                    }
                }
                deleted += self.keeper.store.forget(owner, &memory.id, &write).await?;
            }
            self.keeper.metrics.command_done("forget", deleted);
        }
        self.journal.fulfilled(job.clone()).await?;
        drop(held);
        Ok(())
    }

    /// The memories that say it, whatever their status.
    async fn memories_that_say(
        &self,
        owner: &Owner,
        order: &ForgetOrder,
        asking: Option<&str>,
    ) -> Result<Vec<Memory>, JobError> {
        let (whose, asked_at) = (owner.clone(), order.asked_at);
        let later = self.journal.read(move |c| journal::later_turns(c, &whose, asked_at)).await?;
        let later: HashSet<String> = later.into_iter().collect();
        let mut query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(Filter::Status(Status::ALL.to_vec())),
            limit: PAGE,
            cursor: None,
            now: now(),
        };
        let mut found = Vec::new();
        for _ in 0..LOOKED_AT / PAGE {
            let page = self.keeper.store.list(&query).await?;
            for memory in page.memories {
                let said_later = match memory.provenance.turn.as_deref() {
                    // What the same message asks to be remembered is meant to stay.
                    Some(turn) if asking == Some(turn) => true,
                    Some(_) => is_said_in(&memory, &later),
                    None => memory.created_at.as_millisecond() > order.asked_at,
                };
                let texts = [Some(memory.content.as_str()), memory.raw.as_deref()];
                if !said_later && self.says(&order.forget, texts.into_iter().flatten()).await? {
                    found.push(memory);
                }
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => break,
            }
        }
        Ok(found)
    }

    /// The turns that say it: a job of theirs could bring it back.
    async fn turns_that_say(
        &self,
        owner: &Owner,
        order: &ForgetOrder,
    ) -> Result<Vec<StoredTurn>, JobError> {
        let (asking, asked_at) = (owner.clone(), order.asked_at);
        let said: Vec<StoredTurn> = self
            .journal
            .read(move |c| journal::turns_until(c, &asking, asked_at, LOOKED_AT))
            .await?;
        let mut found = Vec::new();
        for turn in said {
            let texts = [turn.user_text.as_str(), turn.reply_text.as_str()];
            if self.says(&order.forget, texts).await? {
                found.push(turn);
            }
        }
        Ok(found)
    }

    /// Whether one of the texts says one of the subjects: by its words, and a fact by its meaning too.
    async fn says<'a>(
        &self,
        subjects: &[Subject],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<bool, JobError> {
        for text in texts {
            for subject in subjects {
                let sentences = subject.said_in(text);
                let says = match subject {
                    Subject::Topic(_) => !sentences.is_empty(),
                    Subject::Fact(_) if sentences.is_empty() => false,
                    Subject::Fact(_) => means(self.keeper.embedder.as_ref(), subject, sentences)
                        .await
                        .map_err(JobError::retry)?,
                };
                if says {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether one of these sentences, which have all the words of a fact, means it.
pub(super) async fn means(
    embedder: &dyn Embedder,
    fact: &Subject,
    sentences: Vec<&str>,
) -> Result<bool, EmbedError> {
    let least = if fact.is_of_speaker() { SAYS_OF_SPEAKER } else { SAYS };
    let texts = [fact.words()].into_iter().chain(sentences).map(str::to_owned).collect();
    let vectors = embedder.embed_passages(texts).await?;
    let Some((fact, sentences)) = vectors.split_first() else { return Ok(false) };
    let cosine = |other: &[f32]| fact.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    Ok(sentences.iter().any(|sentence| cosine(sentence) >= least))
}
