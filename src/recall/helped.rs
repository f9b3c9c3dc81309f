//! A search with the help of a model: asked beside the plain search, waited for no longer than it may take.

use std::{pin::pin, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{
    Failure, Hit, Query, Recall, Request,
    merge::merged,
    narrowed::with_narrowed,
    rewrite::{Asking, Help, Rewriter, Told, Words},
    search::Looked,
};
use crate::{memory::Filter, telemetry::Technique};

impl Recall {
    /// Whether there is a model that may help.
    #[must_use]
    pub fn has_rewriter(&self) -> bool {
        self.rewriter.is_some()
    }

    /// How long a search may take beyond its deadline, because a model is asked; none where none is.
    #[must_use]
    pub fn extra_time(&self, query: &Query) -> Option<Duration> {
        self.helper(query).map(|_| query.patience)
    }

    pub(super) fn helper(&self, query: &Query) -> Option<(&Rewriter, Help)> {
        Some((self.rewriter.as_ref().filter(|it| it.may_be_asked())?, query.help?))
    }

    /// The hits that pass the gate, with what the model told or without. Only a plain search that fails fails.
    pub(super) async fn helped(
        &self,
        request: &Request<'_>,
        (rewriter, help): (&Rewriter, Help),
    ) -> Result<Vec<Hit>, Failure> {
        let began = Instant::now();
        let until = began + request.query.patience;
        let types = &request.terms.types;
        let asking = Asking {
            message: &request.query.message,
            earlier: request.said,
            types: if types.is_empty() { request.known_types } else { types },
            now: request.now,
        };
        let mut told = pin!(timeout_at(until, rewriter.told(help, &asking, until)));
        let mut plain = pin!(self.found(request));
        let (plain, early) = if rewriter.rests() {
            // The one request that tries whether it is back is made when it is wanted.
            (plain.await, None)
        } else {
            tokio::select! {
                biased;
                found = &mut plain => (found, None),
                told = &mut told => ((&mut plain).await, Some(told)),
            }
        };
        let plain = plain?;
        if help == Help::Words(Words::Hypothesis) && any_relevant(&plain, request) {
            return Ok(self.gated(plain, request));
        }
        let told = match early {
            Some(told) => told,
            None => told.await,
        };
        let failure = match told {
            Ok(Ok(Some(told))) => return Ok(self.with_told(request, told, plain, began).await),
            Ok(Ok(None)) => "it said nothing of use".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "too late".to_owned(),
        };
        self.metrics.failed("rewrite");
        tracing::debug!(failure, "the model did not help, the question is searched as it is");
        Ok(self.gated(plain, request))
    }

    /// Searches by what the model told, all at the same time. Where its words find nothing, what was found without
    /// them stands, and what it told of the memories that are asked for only lifts.
    async fn with_told(
        &self,
        request: &Request<'_>,
        told: Told,
        plain: Vec<Hit>,
        began: Instant,
    ) -> Vec<Hit> {
        let took = began.elapsed();
        let later =
            Request { deadline: request.deadline + request.query.patience, ..request.clone() };
        let Query { text, statement, .. } = request.query;
        let (question, conditions) = (told.question.as_deref(), told.conditions.as_ref());
        let guess = told.guess.as_deref().filter(|_| !any_relevant(&plain, request));
        let size = conditions.map_or(0, Filter::size);
        let (rewritten, guessed) = (question.is_some(), guess.is_some());
        tracing::debug!(?took, rewritten, guessed, conditions = size, "the model told");
        // Whether one of those that meet the conditions is relevant, the same words decide as of all.
        let asked = match question {
            Some(question) => Looked { text: question, as_if: None },
            None => Looked { text, as_if: statement.as_deref() },
        };
        let filter =
            |it: &Filter| Filter::And(request.filter.iter().chain([it]).cloned().collect());
        let narrow = conditions.map(|it| Request { filter: Some(filter(it)), ..later.clone() });
        let (rewritten, guessed, narrowed) = tokio::join!(
            found_where(question, |_| self.candidates(&later, asked)),
            found_where(guess, |guess| self
                .candidates(&later, Looked { text, as_if: Some(guess) })),
            found_where(narrow.as_ref(), |narrow| self.candidates(narrow, asked)),
        );
        let found = match rewritten {
            Some(hits) if any_relevant(&hits, request) => hits,
            _ => plain,
        };
        let lists = std::iter::once(found).chain(guessed).collect();
        let mut hits = merged(lists, request.ranking.fusion);
        if let Some(conditions) = conditions {
            let narrowed = narrowed.unwrap_or_default();
            hits = with_narrowed(hits, narrowed, conditions, request.terms, request.ranking);
        }
        let hits = self.gated(hits, &later);
        let meets = |hit: &&Hit| conditions.is_some_and(|it| it.matches(&hit.memory));
        for (technique, is_used, count) in [
            (Technique::Rewrite, question.is_some(), hits.len()),
            (Technique::Hyde, guess.is_some(), hits.len()),
            (Technique::SelfQuery, conditions.is_some(), hits.iter().filter(meets).count()),
        ] {
            if is_used {
                self.metrics.technique(technique, took, count);
            }
        }
        hits
    }
}

/// What a search finds, where there is something to search by; one that fails finds nothing.
async fn found_where<T, F>(by: Option<T>, search: impl FnOnce(T) -> F) -> Option<Vec<Hit>>
where
    F: Future<Output = Result<Vec<Hit>, Failure>>,
{
    search(by?).await.ok()
}

/// Whether one of them reaches the threshold.
fn any_relevant(hits: &[Hit], request: &Request<'_>) -> bool {
    hits.iter().any(|hit| hit.score >= request.terms.threshold)
}

#[cfg(test)]
mod tests;
