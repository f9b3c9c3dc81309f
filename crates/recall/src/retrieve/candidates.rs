//! The search of the store for one text, and for a question with its parts. When the embedder fails or is late, only
//! words are searched; when that fails too, recall fails.

use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use crate::{
    error::RecallError,
    hit::Hit,
    ranking::{Question, rank_apart},
    request::RecallRequest,
    retrieve::{
        lookup::{Lookup, Meaning, Retrieval},
        merge::merged_apart,
        query_embedding::{SearchVector, embed_query},
    },
    select::{of_owner, without_conversation},
    services::Services,
    trail::{Cut, Step},
};
use memgate_core::memory::{Search, StoreError};
use memgate_telemetry::Phase;

/// The store is asked for this many times what is presented, since ranking
/// reorders and drops near-duplicates.
const OVER_FETCH: usize = 4;
/// At least this many candidates of each kind of evidence. With 20, LoCoMo's evidence recall at 20 is two points lower
/// (conversations 26 and 42); with 60 no higher, and each one is read.
const MIN_CANDIDATES: usize = 40;

/// The candidates for the question and its parts, ranked, before threshold and limit. A part that fails is left out.
pub(crate) async fn retrieve(
    services: &Services,
    retrieval: &Retrieval<'_>,
) -> Result<Vec<Hit>, RecallError> {
    let part = |part| candidates(services, retrieval, Lookup::of(part));
    let parts = join_all(retrieval.query.parts.iter().map(|text| part(text)));
    let whole = candidates(services, retrieval, Lookup::whole(retrieval));
    let (whole, parts) = tokio::join!(whole, parts);
    let mut parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.iter_mut().flatten().for_each(|hit| hit.breakdown.of_part = true);
    let lists = std::iter::once(whole?).chain(parts).collect();
    let request = retrieval.request;
    let (hits, collapsed) = merged_apart(lists, request.settings.ranking.fusion);
    if let Some(trace) = request.trace {
        trace.cut_all(collapsed, Cut::Collapsed);
    }
    Ok(hits)
}

/// The candidates for a text, ranked, near-duplicates included.
pub(super) async fn candidates(
    services: &Services,
    retrieval: &Retrieval<'_>,
    Lookup { text, meaning }: Lookup<'_>,
) -> Result<Vec<Hit>, RecallError> {
    if !services.store.is_enabled() {
        return Err(RecallError::Unavailable);
    }
    let request = retrieval.request;
    let began = std::time::Instant::now();
    let vector = search_vector(services, request.deadline, meaning).await;
    let embedded = began.elapsed();
    let search = Search {
        scopes: vec![request.scope()],
        filter: request.filter.clone(),
        vector: vector.as_ref().map(|it| it.vector.clone()),
        text: Some(text.to_owned()),
        limit: (request.selection.limit * OVER_FETCH).max(MIN_CANDIDATES),
        now: request.now,
    };
    let started = std::time::Instant::now();
    let found = timeout_at(request.deadline, services.store.retrieve(&search)).await;
    services.metrics.phase(Phase::Search, started.elapsed());
    if let Some(trace) = request.trace {
        trace.step(Step::Embed, embedded);
        trace.step(Step::Search, started.elapsed());
    }
    let ranking = std::time::Instant::now();
    let evidence = match found {
        Ok(Ok(evidence)) => evidence,
        Ok(Err(error)) if vector.is_some() => {
            return Err(store_error(services, request, error).await);
        }
        Ok(Err(error)) => return Err(RecallError::Embedding(error)),
        Err(_) => return Err(RecallError::Deadline),
    };
    let own = of_owner(evidence, request.owner);
    let (mut evidence, held) = without_conversation(own, request.earlier);
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
    let asked = &retrieval.query.asked;
    let relevance = &services.models.relevance;
    let (now, zone) = (request.now, &request.zone);
    let question = Question { text, asked, relevance, now, zone };
    let settings = request.settings.ranking;
    let (hits, collapsed) = rank_apart(evidence, &question, settings, &services.metrics);
    if let Some(trace) = request.trace {
        trace.cut_all(collapsed, Cut::Collapsed);
        trace.step(Step::Rank, ranking.elapsed());
    }
    Ok(hits)
}

/// The vector to search near to; none when the embedder fails or is late.
async fn search_vector(
    services: &Services,
    deadline: Instant,
    meaning: Meaning<'_>,
) -> Option<SearchVector> {
    let mut vector = match meaning {
        Meaning::Embedded(embedding) => embedding.vector(&services.space),
        Meaning::Text(text) => {
            let embedder = services.embedder.as_ref();
            embed_query(services, embedder, text, deadline).await.vector(&services.space)
        }
    }?;
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
