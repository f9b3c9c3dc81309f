//! Finds the told sentences that a request to forget means, where its words do not name them: "the thing about my ex".

use std::{collections::HashSet, sync::Arc};

use crate::{error::JobError, parts::Parts, reconcile::told};
use memgate_core::memory::{Evidence, Memory, MemoryKind, Owner, QueryVector, ScopeQuery, Search};
use memgate_embed::{Space, model_of};
use memgate_text::{pronouns::points_back, sentences::joined};

/// Memories that a request is compared with, by each kind of evidence.
const MEMORIES: usize = 40;

/// The most sentences that it is compared with.
const SENTENCES: usize = 64;

/// The words of what one of several requests means, as the user told it. Nothing where it could not be undone, and where the
/// embedder gives no vectors that the model knows.
pub(crate) async fn meant(
    parts: &Parts,
    owner: &Owner,
    requests: &[String],
) -> Result<Vec<String>, JobError> {
    let (writer, now) = (&parts.writer, parts.journal.now());
    let known = |space: &Space| writer.models.are_trained_with(space);
    let Some(embedder) = model_of(writer.embedder.as_ref(), known) else { return Ok(Vec::new()) };
    if requests.is_empty() || parts.live.get().forget_grace.is_zero() {
        return Ok(Vec::new());
    }
    let space: Arc<str> = writer.embedder.space().id().into();
    let mut meant = Vec::new();
    // Another model's vectors are searched than are judged where several are joined.
    let searched = writer.embedder.embed_passages(requests.to_vec()).await?;
    let judged = embedder.embed_passages(requests.to_vec()).await?;
    for ((request, values), judged) in requests.iter().zip(searched).zip(judged) {
        let search = Search {
            scopes: vec![ScopeQuery::of(owner.clone())],
            shared: None,
            filter: None,
            vector: Some(QueryVector { space: space.clone(), values }),
            text: Some(request.clone()),
            limit: MEMORIES,
            now,
        };
        let sentences = sentences(&writer.store.retrieve(&search).await?);
        let texts = sentences.iter().map(|it| it.understood.clone()).collect();
        let olds = embedder.embed_passages(texts).await?;
        let means = writer.models.forgetting.means(&judged, &olds);
        let found = sentences.into_iter().zip(means).filter(|(_, means)| *means);
        meant.extend(found.map(|(sentence, _)| sentence.words));
    }
    Ok(meant)
}

/// A sentence that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sentence {
    words: String,
    /// With the sentence before it in front, where it points back.
    understood: String,
}

/// The sentences of memories, each once.
fn sentences(found: &[Evidence]) -> Vec<Sentence> {
    let mut seen = HashSet::new();
    let all = found.iter().flat_map(|found| sentences_of(&found.memory));
    all.filter(|it| seen.insert(it.words.to_lowercase())).take(SENTENCES).collect()
}

fn sentences_of(memory: &Memory) -> Vec<Sentence> {
    let text = match (memory.kind, memory.as_turn()) {
        (_, Some((user, _))) => user,
        (MemoryKind::Summary, _) => return Vec::new(),
        _ => memory.raw.as_ref().unwrap_or(&memory.content),
    };
    let told = told(text);
    let sentence = |(at, words): (usize, &&str)| Sentence {
        words: (*words).to_owned(),
        understood: match at.checked_sub(1) {
            Some(before) if points_back(words) => joined(told[before], words),
            _ => (*words).to_owned(),
        },
    };
    told.iter().enumerate().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use memgate_core::memory::{MemoryId, MemoryType, Source};

    #[test]
    fn a_sentence_that_points_back_is_understood_with_the_one_before_it() {
        let said = "My sister Vera is allergic to nuts. She lost her job. Our dog is called Bo.";
        let memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            said,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        let understood: Vec<String> =
            sentences_of(&memory).into_iter().map(|it| it.understood).collect();
        assert_eq!(
            understood,
            [
                "My sister Vera is allergic to nuts.",
                "My sister Vera is allergic to nuts. She lost her job.",
                "Our dog is called Bo."
            ]
        );
    }
}
