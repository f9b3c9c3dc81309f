//! The decision to search, or to skip with a reason. When in doubt, search: a needless search
//! costs a millisecond, a skipped one the answer.
//!
//! In this order: the signals of filters before us; rules that are sure; the trained model by the
//! message's words, where these are enough; the same with what the embedding model makes of the
//! message. A search needs that embedding anyway, so only a decision without it saves time.

use tokio::time::Instant;

use crate::{
    decision::{DecidedBy, Decision, Message, Skip},
    retrieve::{QueryEmbedding, embed_query},
    services::Services,
    signals::Earlier,
};
use memgate_embed::{Space, model_of};
use memgate_models::{HousekeepingModel, Models, Need, Opinion};
use memgate_telemetry::{Metrics, Phase};
use memgate_text::{
    first_person::is_personal,
    greeting::is_greeting,
    housekeeping::is_housekeeping,
    question::{asking::asking, vague::is_follow_up},
};

/// A decision, and how it was made.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// The source of the decision.
    pub by: DecidedBy,
    /// The calibrated probability that memory helps, where the model was asked.
    pub need: Option<f32>,
    /// The embedding of the message, where the decision needed it; the search takes it from here.
    pub embedding: Option<QueryEmbedding>,
}

/// Decides without an embedding.
#[must_use]
pub fn decide(message: &Message<'_>, models: &Models) -> Decided {
    match at_first(message, models) {
        First::Sure(decided) => decided,
        First::Unsure(unsure) => unsure.by_words(),
    }
}

/// Decides, with an embedding where rules and words are not sure. The embedding gets the embedder's share of the time. Whoever
/// takes the decision as final has it noted.
pub(super) async fn decide_with_embedding(
    services: &Services,
    message: &Message<'_>,
    deadline: Instant,
) -> Decided {
    let started = Instant::now();
    let first = at_first(message, &services.models);
    services.metrics.phase(Phase::Decide, started.elapsed());
    let known = |space: &Space| services.models.are_trained_with(space);
    match first {
        First::Sure(decided) => decided,
        First::Unsure(unsure) => match model_of(services.embedder.as_ref(), known) {
            // Another embedder's vectors mean nothing to the model.
            None => unsure.by_words(),
            Some(judge) => {
                let text = asking(unsure.message.text);
                let embedding = embed_query(services, judge, &text, deadline).await;
                let decided = unsure.with(embedding, &services.models.housekeeping);
                // Where it is one of several models, the search wants the others' vectors, too,
                // and gets this one's from its cache.
                let enough = known(services.embedder.space());
                Decided { embedding: decided.embedding.filter(|_| enough), ..decided }
            }
        },
    }
}

/// The part of the decision that needs no embedding.
enum First<'a> {
    Sure(Decided),
    Unsure(Unsure<'a>),
}

/// A message that neither rules nor words are sure of.
struct Unsure<'a> {
    message: &'a Message<'a>,
    opinion: Opinion<'a>,
}

/// Decides where that is sure without an embedding.
fn at_first<'a>(message: &'a Message<'a>, models: &'a Models) -> First<'a> {
    let Message { text, signals, .. } = *message;
    let opinion = models.need.opinion(text);
    let need = opinion.by_words().probability;
    let sure = |decision, by| First::Sure(Decided::new(decision, by, Some(need)));
    if is_housekeeping(text) {
        return sure(Decision::Skip(Skip::Housekeeping), DecidedBy::Rule);
    }
    if models.housekeeping.by_words(opinion.features()) {
        return sure(Decision::Skip(Skip::Housekeeping), DecidedBy::Lexical);
    }
    if let Some(decision) = by_signals(text, signals, &opinion) {
        return sure(decision, DecidedBy::Earlier);
    }
    if signals.greeting.is_none() && is_greeting(text) {
        return sure(Decision::Skip(Skip::Greeting), DecidedBy::Rule);
    }
    if is_follow_up(text) {
        return sure(Decision::Search, DecidedBy::Rule);
    }
    let surely_of_no_use = opinion.is_surely_of_no_use();
    let unsure = Unsure { message, opinion };
    if surely_of_no_use { First::Sure(unsure.by_words()) } else { First::Unsure(unsure) }
}

/// The decision that the signals of filters before us are enough for. Personal reference wins over fact:
/// "who wrote my favourite book" needs the book first. It does not win over tool, whose answer is
/// fetched and not remembered.
fn by_signals(text: &str, signals: &Earlier, opinion: &Opinion<'_>) -> Option<Decision> {
    let personal = || {
        let ours = || is_personal(text) || opinion.is_personal();
        signals.personal.unwrap_or_else(ours)
    };
    let fact = signals.fact == Some(true);
    if fact && !personal() {
        Some(Decision::Skip(Skip::Fact))
    } else if signals.tool == Some(true) {
        Some(Decision::Skip(Skip::Tool))
    } else if signals.greeting == Some(true) {
        Some(Decision::Skip(Skip::Greeting))
    } else if fact || signals.personal == Some(true) {
        Some(Decision::Search)
    } else {
        None
    }
}

impl Unsure<'_> {
    /// Decides by what the embedding model made of the message, or by its words where that failed
    /// or came too late.
    fn with(self, embedding: QueryEmbedding, housekeeping: &HousekeepingModel) -> Decided {
        let layers = embedding.layers();
        let features = self.opinion.features();
        if layers.is_some_and(|(inner, vector)| housekeeping.by_layers(features, inner, vector)) {
            return Decided::new(Decision::Skip(Skip::Housekeeping), DecidedBy::Model, None);
        }
        let judged = layers.and_then(|(inner, vector)| self.opinion.by_layers(inner, vector));
        let decided = match judged {
            Some(need) => self.judged(need, DecidedBy::Model),
            None => self.by_words(),
        };
        Decided { embedding: Some(embedding), ..decided }
    }

    /// Decides by the message's words.
    fn by_words(&self) -> Decided {
        self.judged(self.opinion.by_words(), DecidedBy::Lexical)
    }

    fn judged(&self, need: Need, by: DecidedBy) -> Decided {
        let probability = Some(need.probability);
        if need.searches {
            return Decided::new(Decision::Search, by, probability);
        }
        let why = self.reason();
        let signals = self.message.signals;
        let denied = match why {
            Skip::Fact => signals.fact,
            Skip::Tool => signals.tool,
            Skip::Greeting => signals.greeting,
            Skip::Housekeeping => None,
        };
        match denied {
            // Somebody who knows better says that it is none.
            Some(false) => Decided::new(Decision::Search, DecidedBy::Earlier, probability),
            _ => Decided::new(Decision::Skip(why), by, probability),
        }
    }

    fn reason(&self) -> Skip {
        if self.message.tools_offered && self.opinion.asks_for_a_tool() {
            Skip::Tool
        } else if self.opinion.is_small_talk() {
            Skip::Greeting
        } else {
            Skip::Fact
        }
    }
}

impl Decided {
    fn new(decision: Decision, by: DecidedBy, need: Option<f32>) -> Self {
        Self { decision, by, need, embedding: None }
    }

    /// Counts and logs it.
    pub(super) fn noted(self, metrics: &Metrics) -> Self {
        metrics.decided_by(self.by.as_str());
        let (by, need) = (self.by.as_str(), self.need);
        match self.decision {
            Decision::Search => tracing::debug!(by, need, "Memory: Searching"),
            Decision::Skip(Skip::Fact) => {
                tracing::debug!(by, need, "Memory: Skipping - general fact query");
            }
            Decision::Skip(Skip::Tool) => {
                tracing::debug!(by, need, "Memory: Skipping - tool query");
            }
            Decision::Skip(Skip::Greeting) => {
                tracing::debug!(by, need, "Memory: Skipping - greeting");
            }
            Decision::Skip(Skip::Housekeeping) => {
                tracing::debug!(by, need, "Memory: Skipping - a client's own prompt");
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
