//! Whether a text says what a user asked to be forgotten, and in which words.

use std::sync::Arc;

use crate::{error::JobError, reconcile::clauses};
use memgate_core::memory::Memory;
use memgate_embed::{EmbedError, Embedder, dot};
use memgate_models::MemorableModel;
use memgate_text::{command::Subject, normal::one_line};

/// The least cosine of a statement and a sentence that has all its words, for the sentence to say
/// it; the lower one where the words show that it is said of the speaker.
/// Between what says it and what does not in testdata/commands/forget.jsonl.
const SAYS: f32 = 0.7;
const SAYS_OF_SPEAKER: f32 = 0.6;

/// What one request names, and what it means.
pub(super) struct Wanted {
    pub(super) subjects: Vec<Subject>,
    /// Told words, each in one line.
    pub(super) meant: Vec<String>,
}

/// The words with which each of several things says what is wanted, each thing given by its texts: none where it does not.
pub(super) async fn saying(
    embedder: &dyn Embedder,
    model: &MemorableModel,
    wanted: &Arc<Wanted>,
    things: Vec<Vec<String>>,
) -> Result<Vec<Vec<String>>, JobError> {
    let looked_for = wanted.clone();
    // Long texts take a while: not on a thread of the runtime.
    let looked = tokio::task::spawn_blocking(move || {
        things.iter().map(|texts| Found::of(&looked_for, texts)).collect::<Vec<_>>()
    });
    let looked = looked.await.map_err(|_| JobError::retry("the texts cannot be looked through"))?;
    let mut all = Vec::with_capacity(looked.len());
    for Found { meant, named } in looked {
        let mut says = meant;
        for (subject, mut sentences) in named {
            if matches!(subject, Subject::Fact(_)) {
                sentences = meaning(embedder, &subject, sentences).await?;
            }
            says.extend(sentences.iter().flat_map(|it| narrowed(&subject, it, model)));
        }
        all.push(says);
    }
    Ok(all)
}

/// The words in some texts that may say what is wanted.
struct Found {
    /// What the request means.
    meant: Vec<String>,
    /// Sentences with all the words of a subject. Of a fact, their meaning decides.
    named: Vec<(Subject, Vec<String>)>,
}

impl Found {
    fn of(wanted: &Wanted, texts: &[String]) -> Self {
        let lines: Vec<String> = texts.iter().map(|text| one_line(text)).collect();
        let is_said = |words: &&String| lines.iter().any(|line| line.contains(*words));
        let meant = wanted.meant.iter().filter(is_said).cloned().collect();
        let sentences = |subject: &Subject| -> Vec<String> {
            texts.iter().flat_map(|text| subject.said_in(text)).map(str::to_owned).collect()
        };
        let named = wanted.subjects.iter().map(|subject| (subject.clone(), sentences(subject)));
        Self { meant, named: named.filter(|(_, sentences)| !sentences.is_empty()).collect() }
    }
}

/// The clauses of a sentence that say a subject; the sentence where none does alone.
fn narrowed(subject: &Subject, sentence: &str, model: &MemorableModel) -> Vec<String> {
    let clauses = clauses(sentence, model).into_iter().map(|it| it.words());
    let says = |clause: &&str| !subject.said_in(clause).is_empty();
    let say: Vec<String> = clauses.filter(says).map(str::to_owned).collect();
    if say.is_empty() { vec![sentence.to_owned()] } else { say }
}

/// All the texts of a memory.
pub(super) fn words_of(memory: &Memory) -> Vec<String> {
    let texts = memory.sides().chain(memory.raw.as_deref());
    let mut words: Vec<String> = texts.map(str::to_owned).collect();
    for value in memory.metadata.values() {
        let several = value.as_array().into_iter().flatten();
        let texts = several.chain([value]).filter_map(serde_json::Value::as_str);
        words.extend(texts.map(str::to_owned));
    }
    words
}

/// Those of some sentences, which have all the words of a fact, that mean it.
pub(crate) async fn meaning(
    embedder: &dyn Embedder,
    fact: &Subject,
    sentences: Vec<String>,
) -> Result<Vec<String>, EmbedError> {
    let least = if fact.is_of_speaker() { SAYS_OF_SPEAKER } else { SAYS };
    let texts = [fact.words().to_owned()].into_iter().chain(sentences.iter().cloned()).collect();
    let vectors = embedder.embed_passages(texts).await?;
    let Some((fact, vectors)) = vectors.split_first() else { return Ok(Vec::new()) };
    let means = sentences.into_iter().zip(vectors).filter(|(_, it)| dot(fact, it) >= least);
    Ok(means.map(|(sentence, _)| sentence).collect())
}
