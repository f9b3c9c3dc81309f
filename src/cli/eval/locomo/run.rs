//! One conversation, remembered turn by turn and asked about as a request would ask.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use super::{
    conversation::{Conversation, Question},
    figures::Ranking,
};
use crate::{
    api::Operations,
    config::MemoryConfig,
    memory::{
        Actor, Embedding, Evidence, Memory, MemoryId, MemoryType, Owner, QueryVector, ScopeQuery,
        Search, Source, Write,
    },
    recall::{Budget, Decision, Message, Request, Terms, build_query, tokens},
    signals::Earlier,
    store::MAX_LIMIT,
};

/// The longest one search may take. Quality is measured here: a slow machine must not change it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two turns of a session.
const BETWEEN_TURNS: SignedDuration = SignedDuration::from_mins(1);

/// What became of one question.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) conversation: String,
    pub(super) category: u8,
    /// All that was found, before threshold and limit.
    pub(super) ranked: Ranking,
    /// What a request would be given.
    pub(super) presented: Ranking,
    /// Memories and tokens of that context.
    pub(super) shown: usize,
    pub(super) tokens: usize,
    /// The nearest by cosine alone, and the best by BM25 alone.
    pub(super) cosine: Ranking,
    pub(super) bm25: Ranking,
    pub(super) took: Duration,
}

/// Remembers a conversation as a user's memory and asks its questions.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn answers(
    memory: &Operations,
    config: &MemoryConfig,
    conversation: &Conversation,
) -> Result<Vec<Answer>> {
    let owner = Owner::of_user(&conversation.name)?;
    let places = remember(memory, &owner, conversation).await?;
    let last = conversation.turns.last().map_or(Timestamp::UNIX_EPOCH, |turn| turn.date);
    let asker = Asker { memory, config, owner, places, now: last + SignedDuration::from_hours(24) };
    let mut answers = Vec::with_capacity(conversation.questions.len());
    for question in &conversation.questions {
        answers.push(asker.answer(&conversation.name, question).await?);
    }
    Ok(answers)
}

/// Stores each turn as one memory; tells which is which.
async fn remember(
    memory: &Operations,
    owner: &Owner,
    conversation: &Conversation,
) -> Result<HashMap<MemoryId, usize>> {
    let contents: Vec<String> =
        conversation.turns.iter().map(|turn| turn.content.clone()).collect();
    let space: std::sync::Arc<str> = memory.embedder.space().id().into();
    let vectors = memory.embedder.embed_passages(contents).await?;
    let write = Write::by(Actor::Capture, "evaluated");
    let mut places = HashMap::with_capacity(vectors.len());
    let (mut session, mut said_at) = (0, Timestamp::UNIX_EPOCH);
    for (place, (turn, values)) in conversation.turns.iter().zip(vectors).enumerate() {
        said_at = if turn.session == session { said_at + BETWEEN_TURNS } else { turn.date };
        session = turn.session;
        let id = MemoryId::derived(&["locomo", &conversation.name, &place.to_string()]);
        let mut told = Memory::new(
            id.clone(),
            owner.clone(),
            MemoryType::new(MemoryType::EPISODIC),
            turn.content.clone(),
            Source::ExplicitUserInput,
            said_at,
        );
        told.session_id = Some(session.to_string());
        told.event_time = Some(said_at);
        told.provenance.turn = Some(place.to_string());
        told.provenance.said_at = Some(said_at);
        let vector = Embedding { space: space.clone(), part: 0, values };
        memory.store.store(told, vec![vector], &write).await?;
        places.insert(id, place);
    }
    Ok(places)
}

struct Asker<'a> {
    memory: &'a Operations,
    config: &'a MemoryConfig,
    owner: Owner,
    places: HashMap<MemoryId, usize>,
    now: Timestamp,
}

impl Asker<'_> {
    async fn answer(&self, conversation: &str, question: &Question) -> Result<Answer> {
        let query = build_query(&question.text, &[], self.now, &self.config.query);
        let terms = Terms {
            limit: self.config.default_retrieval_limit,
            threshold: self.config.default_similarity_threshold,
            types: Vec::new(),
        };
        let recall = &self.memory.recall;
        let message =
            Message { text: &question.text, earlier: &Earlier::SILENT, tools_offered: false };
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let began = Instant::now();
        let decided = recall.decide(&message, deadline).await;
        let request = Request {
            owner: &self.owner,
            project_id: None,
            query: &query,
            read: decided.read.as_ref(),
            said: &[],
            terms: &terms,
            ranking: &self.config.ranking,
            filter: None,
            known_types: &self.config.types,
            forgotten: &[],
            now: self.now,
            deadline,
        };
        let ranked = recall.ranked(&request).await?;
        let took = began.elapsed();
        let budget = Budget {
            context: self.config.max_context_tokens,
            standing: self.config.standing.max_tokens,
        };
        let context = match decided.decision == Decision::Search {
            true => recall.context(&request, budget).await?,
            false => crate::recall::Context::default(),
        };
        let ranking = |ids: &mut dyn Iterator<Item = &MemoryId>| {
            let places = ids.filter_map(|id| self.places.get(id).copied());
            Ranking::of(&places.collect::<Vec<_>>(), &question.evidence)
        };
        let cosine = self.plain(&query.text, true, |it| it.cosine).await?;
        let bm25 = self.plain(&query.text, false, |it| Some(it.lexical?.bm25)).await?;
        Ok(Answer {
            conversation: conversation.to_owned(),
            category: question.category,
            ranked: ranking(&mut ranked.iter().map(|hit| &hit.memory.id)),
            presented: ranking(&mut context.shown.iter()),
            shown: context.shown.len(),
            tokens: tokens(&context.text),
            cosine: ranking(&mut cosine.iter().map(|it| &it.memory.id)),
            bm25: ranking(&mut bm25.iter().map(|it| &it.memory.id)),
            took,
        })
    }

    /// The best by one kind of evidence alone, to compare with.
    async fn plain(
        &self,
        query: &str,
        dense: bool,
        score: impl Fn(&Evidence) -> Option<f32>,
    ) -> Result<Vec<Evidence>> {
        let embedder = &self.memory.embedder;
        let vector = match dense {
            true => Some(QueryVector {
                space: embedder.space().id().into(),
                values: embedder.embed_query(query).await?,
            }),
            false => None,
        };
        let search = Search {
            scopes: vec![ScopeQuery::of(self.owner.clone())],
            filter: None,
            text: vector.is_none().then(|| query.to_owned()),
            vector,
            limit: MAX_LIMIT,
            now: self.now,
        };
        let mut found = self.memory.store.retrieve(&search).await?;
        let score = |it: &Evidence| score(it).unwrap_or(f32::MIN);
        found.sort_by(|a, b| score(b).total_cmp(&score(a)));
        Ok(found)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::cli::eval::{locomo::conversation::tests::example, replay::tests::memory};

    #[tokio::test]
    async fn the_figures_are_those_of_the_ranking() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, config) = (memory(folder.path()), MemoryConfig::default());
        let conversation = example();
        let answers = answers(&memory, &config, &conversation).await.unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0].ranked, Ranking::of(&[2], &[2]), "the evidence comes first");
        assert_eq!(answers[0].presented, answers[0].ranked);
        assert!(answers[0].shown >= 1 && answers[0].tokens > 10);
        assert_eq!(answers[0].bm25, answers[0].ranked);

        let owner = Owner::of_user(&conversation.name).unwrap();
        let places = (0..4)
            .map(|it| (MemoryId::derived(&["locomo", "example", &it.to_string()]), 3 - it))
            .collect();
        let now = Timestamp::now();
        let broken = Asker { memory: &memory, config: &config, owner, places, now };
        let broken = broken.answer("example", &conversation.questions[0]).await.unwrap();
        assert_ne!(broken.ranked, answers[0].ranked, "other hits, other figures");
        memory.capture.shutdown(PATIENCE).await;
    }
}
