//! Candidates: the evidence for a question and its parts, ranked.

use futures_util::future::join_all;

use crate::{
    decision::RecallError,
    hit::Hit,
    pipeline::{merge::merged_apart, resumed::resumed},
    ranking::{Question, best_cosine, rank_apart},
    retrieve::{Lookup, Retrieval, evidence},
    services::Services,
    trail::{Cut, Step},
};
use memgate_text::question::replies::asks_about_replies;

/// The candidates for the question and its parts, ranked, before threshold and limit. A part that fails is left out.
pub(super) async fn ranked(
    services: &Services,
    retrieval: &Retrieval<'_>,
) -> Result<Vec<Hit>, RecallError> {
    let resumed = resumed(services, retrieval).await;
    if !resumed.is_empty() {
        return Ok(resumed);
    }
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
    lookup: Lookup<'_>,
) -> Result<Vec<Hit>, RecallError> {
    let request = retrieval.request;
    let replies = asks_about_replies(lookup.text);
    let evidence = evidence(services, retrieval, lookup, replies).await?;
    let ranking = std::time::Instant::now();
    let asked = &retrieval.query.asked;
    let relevance = &services.models.relevance;
    let (now, zone) = (request.now, &request.zone);
    let question = Question { text: lookup.text, replies, asked, relevance, now, zone };
    let settings = request.settings.ranking;
    let ranked =
        |evidence, best| rank_apart(evidence, best, &question, settings, &services.metrics);
    // Shared memories are compared with the user's own, which stay as relevant as they are alone.
    let (own, shared): (Vec<_>, Vec<_>) =
        evidence.into_iter().partition(|it| it.memory.owner == *request.owner);
    let best = best_cosine(&own);
    let (mut hits, mut collapsed) = ranked(own, best);
    if !shared.is_empty() {
        let best = best.max(best_cosine(&shared));
        let (others, replaced) = ranked(shared, best);
        let (merged, also_replaced) = merged_apart(vec![hits, others], settings.fusion);
        hits = merged;
        collapsed.extend(replaced.into_iter().chain(also_replaced));
    }
    hits.iter_mut().chain(&mut collapsed).for_each(|hit| hit.scope = request.scope_of(&hit.memory));
    if let Some(trace) = request.trace {
        trace.cut_all(collapsed, Cut::Collapsed);
        trace.step(Step::Rank, ranking.elapsed());
    }
    Ok(hits)
}
