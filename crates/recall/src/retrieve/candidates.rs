//! The search of the store for one text. When the embedder fails or is late, only words are searched; when that fails too,
//! recall fails.

use std::borrow::Cow;

use tokio::time::{Instant, timeout_at};

use crate::{
    decision::RecallError,
    request::RecallRequest,
    retrieve::{
        beside::search_beside,
        conversation::without_conversation,
        lookup::{Lookup, Meaning, Retrieval},
        query_embedding::{QueryEmbedding, SearchVector, embed_query},
    },
    services::Services,
    trail::{Cut, Step},
};
use memgate_core::memory::{Evidence, Search, StoreError};
use memgate_telemetry::Phase;

/// The store is asked for this many times what is presented, since ranking
/// reorders and drops near-duplicates.
const OVER_FETCH: usize = 4;
/// At least this many candidates of each kind of evidence. With 20, LoCoMo's evidence recall at 20 is two points lower
/// (conversations 26 and 42); with 60 no higher, and each one is read.
const MIN_CANDIDATES: usize = 40;

/// The evidence for a text: the memories that the request may see and the conversation does not hold. `replies`: the text asks for
/// the assistant's words; long answers are also searched where a model alone says so.
pub(crate) async fn evidence(
    services: &Services,
    retrieval: &Retrieval<'_>,
    Lookup { text, meaning }: Lookup<'_>,
    replies: bool,
) -> Result<Vec<Evidence>, RecallError> {
    if !services.store.is_enabled() {
        return Err(RecallError::Unavailable);
    }
    let request = retrieval.request;
    let began = std::time::Instant::now();
    let embedding = embedding(services, request.deadline, meaning).await;
    let vector = search_vector(services, &embedding);
    let answers = replies || services.models.answers.are_asked_for(text, embedding.layers());
    let embedded = began.elapsed();
    let search = Search {
        scopes: Vec::new(),
        shared: None,
        filter: request.filter.clone(),
        vector: vector.as_ref().map(|it| it.vector.clone()),
        text: Some(text.to_owned()),
        limit: (request.selection.limit * OVER_FETCH).max(MIN_CANDIDATES),
        now: request.now,
    };
    let started = std::time::Instant::now();
    let found = search_beside(services, request, search, answers).await;
    services.metrics.phase(Phase::Search, started.elapsed());
    if let Some(trace) = request.trace {
        trace.step(Step::Embed, embedded);
        trace.step(Step::Search, started.elapsed());
    }
    let evidence = match found {
        Some(Ok(evidence)) => evidence,
        Some(Err(error)) if vector.is_some() => {
            return Err(store_error(services, request, error).await);
        }
        Some(Err(error)) => return Err(RecallError::Embedding(error)),
        None => return Err(RecallError::Deadline),
    };
    let visible = request.visible(evidence);
    let (mut evidence, held) = without_conversation(visible, request.earlier);
    let forgotten: Vec<_> =
        evidence.extract_if(.., |found| request.forgets(&found.memory)).collect();
    if let Some(trace) = request.trace {
        trace.left_out(held, Cut::Conversation);
        trace.left_out(forgotten, Cut::Forgotten);
    }
    if let Some(vector) = vector {
        let products = evidence.iter_mut().filter_map(|found| found.cosine.as_mut());
        products.for_each(|product| *product = vector.cosine(*product));
    }
    Ok(evidence)
}

/// The embedding of what is searched for.
async fn embedding<'m>(
    services: &Services,
    deadline: Instant,
    meaning: Meaning<'m>,
) -> Cow<'m, QueryEmbedding> {
    match meaning {
        Meaning::Embedded(embedding) => Cow::Borrowed(embedding),
        Meaning::Text(text) => {
            let embedder = services.embedder.as_ref();
            Cow::Owned(embed_query(services, embedder, text, deadline).await)
        }
    }
}

/// The vector to search near to; none when the embedder failed or was late.
fn search_vector(services: &Services, embedding: &QueryEmbedding) -> Option<SearchVector> {
    let mut vector = embedding.vector(&services.space)?;
    if let Some(adapter) = &services.models.query_adapter {
        vector.vector.values = adapter.turn(&vector.vector.values);
    }
    Some(vector)
}

/// Whether a store that failed is unavailable, or only failed here.
async fn store_error(
    services: &Services,
    request: &RecallRequest<'_>,
    error: StoreError,
) -> RecallError {
    if matches!(error, StoreError::Unavailable(_)) {
        // The store remembers what the check finds.
        let _ = timeout_at(request.deadline, services.store.check()).await;
    }
    if services.store.is_enabled() { RecallError::Store(error) } else { RecallError::Unavailable }
}
