//! Search, or skip with a reason. When in doubt, search: a needless search
//! costs a millisecond, a skipped one the answer.
//!
//! Who decides, in this order: filters before us; rules that are sure; the trained model by the
//! message's words, where these are enough; the same with what the embedding model makes of the
//! message. That embedding is needed to search anyway, so skipping for sure saves it.

use super::{query::is_follow_up, reading::Read};
use crate::{
    models::{Need, NeedModel, Opinion},
    signals::{Earlier, is_greeting, is_personal},
};

/// The last user message, and what else of the request bears on the decision.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The user's words.
    pub text: &'a str,
    /// What filters before us said.
    pub earlier: &'a Earlier,
    /// The model may call tools.
    pub tools_offered: bool,
}

/// What is to be done about an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Memory may help.
    Search,
    /// It cannot.
    Skip(Skip),
}

/// Why memory is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// A question about the world, or work on what the message brings along.
    Fact,
    /// A tool answers.
    Tool,
    /// Nothing was asked.
    Greeting,
}

impl Skip {
    /// Whether the model goes on to write an answer, which can be written as the user wants it. A tool's
    /// result and a greeting cannot.
    #[must_use]
    pub fn is_answered(self) -> bool {
        self == Self::Fact
    }
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Filters before us.
    Earlier,
    /// A rule.
    Rule,
    /// The trained model, by the message's words.
    Words,
    /// The same, with what the embedding model makes of the message.
    Model,
}

impl By {
    /// The label of the metric.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Rule => "rule",
            Self::Words => "words",
            Self::Model => "model",
        }
    }
}

/// What was decided, and how.
#[derive(Clone, Debug)]
pub struct Decided {
    /// What is to be done.
    pub decision: Decision,
    /// Who says so.
    pub by: By,
    /// The calibrated probability that memory helps, where the model was asked.
    pub need: Option<f32>,
    /// The embedding that was needed to decide; the search needs no other for the same text.
    pub read: Option<Read>,
}

/// Decides without an embedding.
#[must_use]
pub fn decide(message: &Message<'_>, model: &NeedModel) -> Decided {
    match at_first(message, model) {
        First::Sure(decided) => decided,
        First::Unsure(unsure) => unsure.by_words(),
    }
}

/// What can be said before anything is embedded.
pub(super) enum First<'a> {
    Sure(Decided),
    Unsure(Unsure<'a>),
}

/// A message that neither rules nor words are sure of.
pub(super) struct Unsure<'a> {
    message: &'a Message<'a>,
    opinion: Opinion<'a>,
}

/// Decides where that is sure without an embedding.
pub(super) fn at_first<'a>(message: &'a Message<'a>, model: &'a NeedModel) -> First<'a> {
    let Message { text, earlier, .. } = *message;
    let opinion = model.opinion(text);
    let need = opinion.by_words().probability;
    let sure = |decision, by| First::Sure(Decided::new(decision, by, Some(need)));
    if let Some(decision) = by_earlier(text, earlier, &opinion) {
        return sure(decision, By::Earlier);
    }
    if earlier.greeting.is_none() && is_greeting(text) {
        return sure(Decision::Skip(Skip::Greeting), By::Rule);
    }
    if is_follow_up(text) {
        return sure(Decision::Search, By::Rule);
    }
    let surely_of_no_use = opinion.is_surely_of_no_use();
    let unsure = Unsure { message, opinion };
    if surely_of_no_use { First::Sure(unsure.by_words()) } else { First::Unsure(unsure) }
}

/// What filters before us are enough for. Personal reference wins over fact, whoever said fact:
/// "who wrote my favourite book" needs the book first. It does not win over tool, whose answer is
/// fetched and not remembered.
fn by_earlier(text: &str, earlier: &Earlier, opinion: &Opinion<'_>) -> Option<Decision> {
    let personal = || {
        let ours = || is_personal(text) || opinion.is_personal();
        earlier.personal.unwrap_or_else(ours)
    };
    let fact = earlier.fact == Some(true);
    if fact && !personal() {
        Some(Decision::Skip(Skip::Fact))
    } else if earlier.tool == Some(true) {
        Some(Decision::Skip(Skip::Tool))
    } else if earlier.greeting == Some(true) {
        Some(Decision::Skip(Skip::Greeting))
    } else if fact || earlier.personal == Some(true) {
        Some(Decision::Search)
    } else {
        None
    }
}

impl Unsure<'_> {
    /// The message's words.
    pub(super) fn text(&self) -> &str {
        self.message.text
    }

    /// Decides by what the embedding model made of the message, or by its words where that failed
    /// or came too late.
    pub(super) fn with(self, read: Read) -> Decided {
        let judged =
            read.layers().and_then(|(inner, vector)| self.opinion.by_layers(inner, vector));
        let decided = match judged {
            Some(need) => self.judged(need, By::Model),
            None => self.by_words(),
        };
        Decided { read: Some(read), ..decided }
    }

    /// Decides by the message's words.
    pub(super) fn by_words(&self) -> Decided {
        self.judged(self.opinion.by_words(), By::Words)
    }

    fn judged(&self, need: Need, by: By) -> Decided {
        let probability = Some(need.probability);
        if need.searches {
            return Decided::new(Decision::Search, by, probability);
        }
        let why = self.reason();
        let earlier = self.message.earlier;
        let denied = match why {
            Skip::Fact => earlier.fact,
            Skip::Tool => earlier.tool,
            Skip::Greeting => earlier.greeting,
        };
        match denied {
            // Somebody who knows better says that it is none.
            Some(false) => Decided::new(Decision::Search, By::Earlier, probability),
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
    fn new(decision: Decision, by: By, need: Option<f32>) -> Self {
        Self { decision, by, need, read: None }
    }

    /// Says it in the log.
    pub(super) fn told(self) -> Self {
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
        }
        self
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::{
        embed::{Embedder, deterministic::DeterministicEmbedder},
        models::Models,
    };

    fn decided(text: &str, earlier: Earlier, tools_offered: bool) -> (Decision, By) {
        let models = Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap();
        let decided = decide(&Message { text, earlier: &earlier, tools_offered }, &models.need);
        (decided.decision, decided.by)
    }

    fn said(fact: bool, tool: bool, greeting: bool, personal: bool) -> Decision {
        let earlier = Earlier {
            fact: Some(fact),
            tool: Some(tool),
            greeting: Some(greeting),
            personal: Some(personal),
        };
        decided("how tall is the tower in Pisa", earlier, true).0
    }

    #[test]
    fn personal_wins_over_fact_and_not_over_tool() {
        assert_eq!(said(true, false, false, false), Decision::Skip(Skip::Fact));
        assert_eq!(said(true, false, false, true), Decision::Search);
        assert_eq!(said(true, true, false, true), Decision::Skip(Skip::Tool));
        assert_eq!(said(false, true, false, true), Decision::Skip(Skip::Tool));
        assert_eq!(said(false, false, true, false), Decision::Skip(Skip::Greeting));
    }

    #[test]
    fn a_filter_that_says_fact_is_overruled_by_our_own_sign_of_a_person_and_one_that_says_tool_not()
    {
        let fact = Earlier { fact: Some(true), ..Earlier::SILENT };
        let skipped = (Decision::Skip(Skip::Fact), By::Earlier);
        assert_eq!(decided("who wrote my favourite book", fact, false).0, Decision::Search);
        assert_eq!(decided("who wrote the book of that film", fact, false), skipped);
        let tool = Earlier { tool: Some(true), ..Earlier::SILENT };
        let skipped = (Decision::Skip(Skip::Tool), By::Earlier);
        assert_eq!(decided("mail my sister that we are late", tool, false), skipped);
    }

    #[test]
    fn a_filter_that_denies_a_reason_keeps_us_from_skipping_for_it() {
        let asked = "what is the capital of France, and how many people live there";
        let (decision, by) = decided(asked, Earlier::SILENT, false);
        assert_eq!((decision, by), (Decision::Skip(Skip::Fact), By::Words));
        let no_fact = Earlier { fact: Some(false), ..Earlier::SILENT };
        assert_eq!(decided(asked, no_fact, false), (Decision::Search, By::Earlier));
        let no_greeting = Earlier { greeting: Some(false), ..Earlier::SILENT };
        assert_eq!(decided("thanks", no_greeting, false).0, Decision::Search);
    }

    #[test]
    fn rules_decide_what_is_a_greeting_or_a_short_follow_up_and_nothing_else() {
        let silent = |text| decided(text, Earlier::SILENT, false);
        assert_eq!(silent("Thanks!!"), (Decision::Skip(Skip::Greeting), By::Rule));
        assert_eq!(silent("how much?"), (Decision::Search, By::Rule));
        assert_eq!(silent("define osmosis"), (Decision::Skip(Skip::Fact), By::Words));
        assert_eq!(silent("what about the second one on the list then").1, By::Words);
    }

    #[test]
    fn what_is_short_or_leans_on_what_was_said_is_searched() {
        for text in [
            "the red one",
            "?",
            "how much?",
            "when?",
            "go on",
            "same again",
            "what about the second one on the list then",
            "什么时候来着",
            "多少",
            "还有呢",
            "und wann?",
            "¿y el otro?",
            "¿cuánto?",
            "et pour elle ?",
            "e o outro?",
            "aur wo?",
            "あれは？",
        ] {
            assert_eq!(decided(text, Earlier::SILENT, false).0, Decision::Search, "{text}");
        }
    }

    #[test]
    fn tools_count_only_where_they_are_offered_and_the_message_asks_for_one() {
        let asked = "set a timer for ten minutes";
        let of = |text, tools| decided(text, Earlier::SILENT, tools).0;
        assert_eq!(of(asked, true), Decision::Skip(Skip::Tool));
        assert_ne!(of(asked, false), Decision::Skip(Skip::Tool));
        assert_eq!(
            of("what is the boiling point of water at sea level", true),
            Decision::Skip(Skip::Fact)
        );
    }

    #[test]
    fn questions_about_the_speaker_are_searched_in_every_language() {
        for text in [
            "when is my sister's birthday again",
            "wann hat meine Schwester Geburtstag",
            "¿cuándo es el cumpleaños de mi hermana?",
            "c'est quand l'anniversaire de ma sœur",
            "quando é o aniversário da minha irmã",
            "meri behen ka birthday kab hai",
            "मेरी बहन का जन्मदिन कब है",
            "我妹妹的生日是哪天来着",
            "妹の誕生日っていつだったっけ、私忘れた",
        ] {
            let (decision, _) = decided(text, Earlier::SILENT, true);
            assert_eq!(decision, Decision::Search, "{text}");
        }
    }
}
