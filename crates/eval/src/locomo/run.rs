//! Stores one conversation turn by turn and asks its questions as a request would.

use std::collections::HashMap;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use crate::{
    baseline::{by_bm25, by_cosine},
    evaluation::Services,
    locomo::{
        conversation::{Conversation, Question},
        figures::{Answer, Ranking},
    },
    replay::{Asked, BETWEEN_TURNS, keep, selection},
};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};
use memgate_recall::tokens;

/// Stores a conversation as a user's memory and asks its questions.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn answers(memory: &Services, conversation: &Conversation) -> Result<Vec<Answer>> {
    let owner = Owner::of_user(&conversation.name)?;
    let places = remember(memory, &owner, conversation).await?;
    let last = conversation.turns.last().map_or(Timestamp::UNIX_EPOCH, |turn| turn.date);
    let asker = Asker { memory, owner, places, now: last + SignedDuration::from_hours(24) };
    let mut answers = Vec::with_capacity(conversation.questions.len());
    for question in &conversation.questions {
        answers.push(asker.answer(&conversation.name, question).await?);
    }
    Ok(answers)
}

/// Stores each turn as one memory; returns their ids in order.
async fn remember(
    memory: &Services,
    owner: &Owner,
    conversation: &Conversation,
) -> Result<HashMap<MemoryId, usize>> {
    let contents: Vec<String> =
        conversation.turns.iter().map(|turn| turn.content.clone()).collect();
    let vectors = memory.embedder.embed_passages(contents).await?;
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
        keep(memory, told, [values]).await?;
        places.insert(id, place);
    }
    Ok(places)
}

struct Asker<'a> {
    memory: &'a Services,
    owner: Owner,
    places: HashMap<MemoryId, usize>,
    now: Timestamp,
}

impl Asker<'_> {
    async fn answer(&self, conversation: &str, question: &Question) -> Result<Answer> {
        let asked = Asked {
            owner: &self.owner,
            at: self.now,
            before: &[],
            user: &question.text,
            selection: selection(&self.memory.config),
            ranked: true,
        };
        let recalled = asked.recall(self.memory).await?;
        let context = &recalled.context;
        let ranking = |ids: &mut dyn Iterator<Item = &MemoryId>| {
            let places = ids.filter_map(|id| self.places.get(id).copied());
            Ranking::of(&places.collect::<Vec<_>>(), &question.evidence)
        };
        let asked = (&self.owner, recalled.query.as_str(), self.now);
        let cosine = by_cosine(self.memory, asked).await?;
        let bm25 = by_bm25(self.memory, asked).await?;
        Ok(Answer {
            conversation: conversation.to_owned(),
            category: question.category,
            ranked: ranking(&mut recalled.ranked.iter().map(|hit| &hit.memory.id)),
            presented: ranking(&mut context.shown.iter()),
            shown: context.shown.len(),
            tokens: tokens(&context.text),
            cosine: ranking(&mut cosine.iter()),
            bm25: ranking(&mut bm25.iter()),
            took: recalled.took,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{locomo::conversation::tests::example, replay::PATIENCE, test_support::services};

    #[tokio::test]
    async fn a_question_is_asked_as_a_request_would_ask_it() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let conversation = example();
        let answers = answers(&memory, &conversation).await.unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0].ranked, Ranking::of(&[2], &[2]), "the evidence comes first");
        assert_eq!(answers[0].presented, answers[0].ranked);
        assert!(answers[0].shown >= 1 && answers[0].tokens > 10);
        assert_eq!(answers[0].bm25, answers[0].ranked);

        memory.capture.shutdown(PATIENCE).await;
    }

    /// The answer shares no word with the question; only ranking finds it, as a reply to a named
    /// speaker.
    #[tokio::test]
    async fn ranking_weights_change_the_results() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = services(folder.path());
        let said = |id: &str, speaker: &str, text: &str| json!({"dia_id": id, "speaker": speaker, "text": text});
        let value = json!({
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                said("D1:1", "Ana", "The harbour was loud last night."),
                said("D1:2", "Ana", "What did you give your grandmother for her birthday?"),
                said("D1:3", "Ben", "A clock made of oak."),
                said("D1:4", "Ana", "I grow tomatoes on the roof."),
            ],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [said("D2:1", "Ben", "Ana, her birthday cake was too sweet for me.")],
            "qa": [{"question": "What did Ben give his grandmother for her birthday?", "category": 4, "evidence": ["D1:3"]}],
        });
        let conversation = Conversation::of("asked".into(), value).unwrap();
        let owner = Owner::of_user("asked").unwrap();
        let places = remember(&memory, &owner, &conversation).await.unwrap();
        let asked = async |memory: &Services| {
            let (owner, places) = (owner.clone(), places.clone());
            let asker = Asker { memory, owner, places, now: memory.clock.now() };
            asker.answer("asked", &conversation.questions[0]).await.unwrap()
        };
        let right = asked(&memory).await;
        assert_eq!(
            right.ranked,
            Ranking::of(&[1, 2], &[2]),
            "only the question that it answers comes before it"
        );
        assert_ne!(right.bm25, right.ranked);
        assert_ne!(right.cosine, right.ranked);
        let weights = &mut memory.config.ranking.weights;
        (weights.window, weights.session, weights.speaker) = (0.0, 0.0, 0.0);
        let broken = asked(&memory).await;
        assert_ne!(broken.ranked, right.ranked);
        assert_eq!((broken.bm25, broken.cosine), (right.bm25, right.cosine), "they do not rank");
        memory.capture.shutdown(PATIENCE).await;
    }
}
