//! A search with the help of a model: asked beside the plain search, waited for no longer than it may take.

use std::{pin::pin, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{
    Failure, Hit, Query, Recall, Request,
    merge::merged,
    rewrite::{Help, Rewriter},
    search::Looked,
};
use crate::telemetry::Technique;

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

    /// The hits that pass the gate, with what the model said or without. Only a plain search that fails fails.
    pub(super) async fn helped(
        &self,
        request: &Request<'_>,
        (rewriter, help): (&Rewriter, Help),
    ) -> Result<Vec<Hit>, Failure> {
        let began = Instant::now();
        let until = began + request.query.patience;
        let message = &request.query.message;
        let mut words = pin!(timeout_at(until, rewriter.words(help, message, request.said, until)));
        let mut plain = pin!(self.found(request));
        let (plain, early) = if rewriter.rests() {
            // The one request that tries whether it is back is made when it is wanted.
            (plain.await, None)
        } else {
            tokio::select! {
                biased;
                found = &mut plain => (found, None),
                words = &mut words => ((&mut plain).await, Some(words)),
            }
        };
        let plain = plain?;
        let enough = |hit: &Hit| hit.score >= request.terms.threshold;
        if help == Help::Hypothesis && plain.iter().any(enough) {
            return Ok(self.gated(plain, request));
        }
        let words = match early {
            Some(words) => words,
            None => words.await,
        };
        let took = began.elapsed();
        let failure = match words {
            Ok(Ok(Some(words))) => {
                let (hits, technique) = self.with_words(request, help, &words, plain).await;
                self.metrics.technique(technique, took, hits.len());
                return Ok(hits);
            }
            Ok(Ok(None)) => "it said nothing of use".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "too late".to_owned(),
        };
        self.metrics.failed("rewrite");
        tracing::debug!(failure, "the model did not help, the question is searched as it is");
        Ok(self.gated(plain, request))
    }

    /// Searches by the model's words. Where these find nothing, what was found without them stands.
    async fn with_words(
        &self,
        request: &Request<'_>,
        help: Help,
        words: &str,
        plain: Vec<Hit>,
    ) -> (Vec<Hit>, Technique) {
        let request =
            Request { deadline: request.deadline + request.query.patience, ..request.clone() };
        match help {
            Help::Rewrite => {
                let found = self.candidates(&request, Looked { text: words, as_if: None }).await;
                let hits = self.gated(found.unwrap_or_default(), &request);
                let hits = if hits.is_empty() { self.gated(plain, &request) } else { hits };
                (hits, Technique::Rewrite)
            }
            Help::Hypothesis => {
                let text = &request.query.text;
                let found = self.candidates(&request, Looked { text, as_if: Some(words) }).await;
                let lists = std::iter::once(plain).chain(found.ok()).collect();
                (self.gated(merged(lists, request.ranking.fusion), &request), Technique::Hyde)
            }
        }
    }
}

#[cfg(test)]
mod tests;
