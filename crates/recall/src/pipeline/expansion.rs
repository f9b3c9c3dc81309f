//! Query expansion: a model helps with the question. It is asked beside the plain search, and waited for no longer than
//! the configuration allows. Whatever goes wrong with it, the hits of the plain search are kept.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{
    decision::RecallError,
    hit::Hit,
    pipeline::{
        candidates::{candidates, ranked},
        merge::merged_apart,
        metadata_boost::boosted,
    },
    query::{Help, HelpRequest, ModelAnswer, Query, Rewriter, Technique, Words},
    request::RecallRequest,
    retrieve::{Lookup, Retrieval},
    select::Limits,
    services::Services,
    trail::{Cut, Step},
};
use memgate_core::memory::Filter;

/// How long a search may take beyond its deadline because a model is asked; none where none is.
pub(crate) fn extra_time(services: &Services, query: &Query) -> Option<Duration> {
    helper(services, query).map(|_| query.patience)
}

/// The model that helps with a query, and how; none where it cannot help or is not answering.
pub(crate) fn helper<'a>(services: &'a Services, query: &Query) -> Option<(&'a Rewriter, Help)> {
    Some((services.rewriter.as_ref().filter(|it| it.may_be_asked())?, query.help?))
}

/// The selected hits, with the model's help or without. Fails only when the plain search fails.
pub(crate) async fn expanded(
    services: &Services,
    retrieval: &Retrieval<'_>,
    (rewriter, help): (&Rewriter, Help),
) -> Result<Vec<Hit>, RecallError> {
    let Retrieval { request, query, .. } = *retrieval;
    let began = Instant::now();
    let until = began + query.patience;
    let types = &request.selection.types;
    let asking = HelpRequest {
        message: &query.message,
        earlier: request.earlier,
        types: if types.is_empty() { request.settings.types } else { types },
        now: request.now,
    };
    let mut answer = pin!(timeout_at(until, rewriter.ask(help, &asking, until)));
    let mut plain = pin!(ranked(services, retrieval));
    let (plain, early) = if rewriter.rests() {
        // The one request that tests whether the model is back waits until its answer is wanted.
        (plain.await, None)
    } else {
        tokio::select! {
            biased;
            found = &mut plain => (found, None),
            answer = &mut answer => ((&mut plain).await, Some(answer)),
        }
    };
    let plain = plain?;
    if help == Help::Words(Words::Hypothesis) && any_relevant(&plain, request) {
        return Ok(selected(services, plain, request));
    }
    let answer = match early {
        Some(answer) => answer,
        None => answer.await,
    };
    let failure = match answer {
        Ok(Ok(Some(answer))) => {
            return Ok(with_answer(services, retrieval, answer, plain, began).await);
        }
        Ok(Ok(None)) => "it said nothing of use".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "too late".to_owned(),
    };
    services.metrics.failed("rewrite");
    tracing::debug!(failure, "the model did not help, the question is searched as it is");
    Ok(selected(services, plain, request))
}

/// Searches by what the model answered, all at the same time. If the rewritten question finds nothing relevant, the
/// plain hits are kept. The model's conditions only boost; they never exclude.
async fn with_answer(
    services: &Services,
    retrieval: &Retrieval<'_>,
    answer: ModelAnswer,
    plain: Vec<Hit>,
    began: Instant,
) -> Vec<Hit> {
    let took = began.elapsed();
    let Retrieval { request, query, .. } = *retrieval;
    if let Some(trace) = request.trace {
        trace.step(Step::Rewrite, took);
        answer.question.iter().for_each(|question| trace.rewritten(question));
    }
    let later = RecallRequest { deadline: request.deadline + query.patience, ..request.clone() };
    let retrieval = Retrieval { request: &later, ..*retrieval };
    let (question, conditions) = (answer.question.as_deref(), answer.conditions.as_ref());
    let guess = answer.guess.as_deref().filter(|_| !any_relevant(&plain, request));
    let size = conditions.map_or(0, Filter::size);
    let (rewritten, guessed) = (question.is_some(), guess.is_some());
    tracing::debug!(?took, rewritten, guessed, conditions = size, "the model told");
    // The query's words judge the relevance of memories that meet the conditions and of all others.
    let asked = question.map_or_else(|| Lookup::whole(&retrieval), Lookup::of);
    let filter = |it: &Filter| Filter::And(request.filter.iter().chain([it]).cloned().collect());
    let narrow = conditions.map(|it| RecallRequest { filter: Some(filter(it)), ..later.clone() });
    let narrow = narrow.as_ref().map(|request| Retrieval { request, ..retrieval });
    let (rewritten, guessed, narrowed) = tokio::join!(
        found_where(question, |_| candidates(services, &retrieval, asked)),
        found_where(guess, |guess| {
            candidates(services, &retrieval, Lookup::as_if(&query.text, guess))
        }),
        found_where(narrow.as_ref(), |narrow| candidates(services, narrow, asked)),
    );
    let found = match rewritten {
        Some(hits) if any_relevant(&hits, request) => hits,
        _ => plain,
    };
    let lists = std::iter::once(found).chain(guessed).collect();
    let (mut hits, collapsed) = merged_apart(lists, request.settings.ranking.fusion);
    if let Some(trace) = request.trace {
        trace.cut_all(collapsed, Cut::Collapsed);
    }
    if let Some(conditions) = conditions {
        let narrowed = narrowed.unwrap_or_default();
        let RecallRequest { selection, settings, .. } = request;
        hits = boosted(hits, narrowed, conditions, selection, settings.ranking);
    }
    let hits = selected(services, hits, &later);
    let meets = |hit: &&Hit| conditions.is_some_and(|it| it.matches(&hit.memory));
    for (technique, is_used, count) in [
        (Technique::Rewrite, question.is_some(), hits.len()),
        (Technique::Hyde, guess.is_some(), hits.len()),
        (Technique::SelfQuery, conditions.is_some(), hits.iter().filter(meets).count()),
    ] {
        if is_used {
            services.metrics.technique(technique.into(), took, count);
        }
    }
    hits
}

/// Searches where there is something to search by; a search that fails finds nothing.
async fn found_where<T, F>(by: Option<T>, search: impl FnOnce(T) -> F) -> Option<Vec<Hit>>
where
    F: Future<Output = Result<Vec<Hit>, RecallError>>,
{
    search(by?).await.ok()
}

fn selected(services: &Services, hits: Vec<Hit>, request: &RecallRequest<'_>) -> Vec<Hit> {
    Limits::of(request).select(hits, &services.metrics)
}

/// Whether one of the hits reaches the threshold.
fn any_relevant(hits: &[Hit], request: &RecallRequest<'_>) -> bool {
    hits.iter().any(|hit| hit.score >= request.selection.threshold)
}

#[cfg(test)]
mod tests;
