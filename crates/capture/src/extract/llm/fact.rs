//! From an element of the model's answer to a candidate. A member of a wrong value is left out and
//! the fact kept; a fact without its two necessary members, or that the user did not say, is not.

use jiff::{Timestamp, civil, tz::TimeZone};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    candidate::{Candidate, Tense},
    extract::llm::{
        parts::Shown,
        support::{Support, Supported},
    },
};
use memgate_core::fence;
use memgate_core::memory::{MemoryType, Source};
use memgate_text::entity::{EntityRelation, Mention};

/// The longest content of a candidate, in bytes: it is one sentence.
const MAX_CONTENT_BYTES: usize = 2_000;

/// The longest name of an entity, a relation or a kind, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// The most entities, and the most relations, of one fact.
const MOST_ENTITIES: usize = 16;

/// The types the model is asked for.
const TYPES: [&str; 2] = [MemoryType::SEMANTIC, MemoryType::PROCEDURAL];

/// Confidence of each word for certainty.
const CERTAINTY: [(&str, f32); 4] =
    [(EXPLICIT, 0.95), ("implied", 0.85), ("inferred", 0.70), ("uncertain", 0.50)];
const EXPLICIT: &str = "explicit";

/// Why an element is no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Its type was not asked for.
    Type,
    /// Without content.
    Content,
    /// Not supported by what the user typed.
    Unsupported,
}

/// The texts that the model was shown, against which its answer is held.
pub(super) struct Evidence<'a> {
    /// Contents of stored memories, by number from 1.
    known: &'a [String],
    support: Support,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(part: &[Shown], known: &'a [String]) -> Self {
        Self { known, support: Support::of(part) }
    }

    /// The candidate in an element.
    pub(super) fn candidate(&self, item: &Value) -> Result<Candidate, Unfit> {
        let named = text(item, "type").unwrap_or_default();
        let known = TYPES.into_iter().find(|known| named.eq_ignore_ascii_case(known));
        let memory_type = known.ok_or(Unfit::Type)?.to_owned();
        let content = line(&item["content"], MAX_CONTENT_BYTES).ok_or(Unfit::Content)?;
        let quote = line(&item["words"], MAX_CONTENT_BYTES);
        let supported =
            self.support.by_user(&content, quote.as_deref()).ok_or(Unfit::Unsupported)?;
        let corrected = self.corrected(&item["corrects"]);
        let typed = &self.support.particulars;
        let (content, raw, corrected) = match supported {
            Supported::Quoted(quote) => {
                let raw = (quote != content).then(|| quote.to_owned());
                (content, raw, corrected)
            }
            Supported::Said => (content, None, corrected),
            // The model's version of these words replaces nothing.
            Supported::QuoteOnly(quote) => (quote.to_owned(), None, None),
        };
        let certainty = text(item, "confidence").map(str::to_lowercase);
        let corrects = corrected.filter(|old| **old != content).cloned();
        let source = match (&corrects, certainty.as_deref()) {
            (Some(_), _) => Some(Source::CorrectedMemory),
            (None, Some(EXPLICIT)) => Some(Source::ExplicitUserInput),
            (None, _) => None,
        };
        Ok(Candidate {
            memory_type,
            raw,
            content,
            sub_type: text(item, "sub_type").and_then(kind),
            source,
            importance: item["importance"]
                .as_f64()
                .filter(|rated| (0.0..=1.0).contains(rated))
                .map(single),
            confidence: CERTAINTY
                .into_iter()
                .find(|(word, _)| certainty.as_deref() == Some(word))
                .map(|(_, confidence)| confidence),
            said_at: None,
            reach: named_value(&item["scope"]).unwrap_or_default(),
            tense: named_value::<Tense>(&item["tense"]),
            event_time: text(item, "event_time").and_then(time).filter(|it| typed.have_day(*it)),
            ends: None,
            mentions: list(&item["entities"])
                .filter_map(mention)
                .filter(|it| typed.have_name(&it.name))
                .take(MOST_ENTITIES)
                .collect(),
            entity_relations: list(&item["relations"])
                .filter_map(relation)
                .filter(|it| typed.have_name(&it.subject) && typed.have_name(&it.object))
                .take(MOST_ENTITIES)
                .collect(),
            standing: false,
            corrects,
        })
    }

    /// The stored content that a number stands for.
    fn corrected(&self, number: &Value) -> Option<&'a String> {
        let number = number.as_u64().or_else(|| number.as_str()?.trim().parse().ok())?;
        self.known.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}

fn text<'a>(item: &'a Value, member: &str) -> Option<&'a str> {
    item.get(member)?.as_str().map(str::trim)
}

/// A text as one line with single spaces, not longer than that.
fn line(value: &Value, max_bytes: usize) -> Option<String> {
    let text = fence::strip(value.as_str()?);
    let text = text[..text.floor_char_boundary(max_bytes)].split_whitespace();
    Some(text.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

/// A kind in a word, `like_this`.
fn kind(word: &str) -> Option<String> {
    let kind = word.to_lowercase().replace([' ', '-'], "_");
    let fits = kind.chars().all(|c| c.is_alphanumeric() || c == '_');
    Some(kind).filter(|kind| fits && !kind.is_empty() && kind.len() <= MAX_NAME_BYTES)
}

/// One of an enum's names, whatever its case.
fn named_value<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.as_str()?.trim().to_lowercase().into()).ok()
}

/// A time, or the first moment of a day in UTC.
fn time(text: &str) -> Option<Timestamp> {
    let time = text.parse::<Timestamp>().ok().or_else(|| {
        let day = text.parse::<civil::DateTime>().ok()?;
        Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })?;
    let year = time.to_zoned(TimeZone::UTC).year();
    // Years are mistyped more often than they are ancient.
    Some(time).filter(|_| (1000..=3000).contains(&year))
}

#[expect(clippy::cast_possible_truncation, reason = "a rating between 0 and 1")]
fn single(rated: f64) -> f32 {
    rated as f32
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn mention(value: &Value) -> Option<Mention> {
    let name = line(&value["name"], MAX_NAME_BYTES)?;
    Some(Mention { name, kind: text(value, "type").and_then(kind) })
}

fn relation(value: &Value) -> Option<EntityRelation> {
    let of = |member: &str| line(&value[member], MAX_NAME_BYTES);
    let (subject, predicate, object) = (of("subject")?, of("predicate")?, of("object")?);
    Some(EntityRelation { subject, predicate, object })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::candidate::Reach;

    fn part() -> Vec<Shown> {
        vec![Shown {
            date: "2026-02-09".into(),
            user:
                "Ada starts at Helio on March 2, and I live in Lyon and don't drink coffee any more"
                    .into(),
            assistant: "Great! The Eiffel Tower is 330 metres tall.".into(),
        }]
    }

    fn read(item: &Value) -> Result<Candidate, Unfit> {
        let known = ["The user drinks coffee.".to_owned(), "The user lives in Lyon.".to_owned()];
        Evidence::of(&part(), &known).candidate(item)
    }

    #[test]
    fn everything_that_is_asked_for_is_taken() {
        let item = json!({
            "type": "Semantic", "content": " Ada starts\n at Helio on 2 March 2026. ",
            "words": "Ada starts at Helio on March 2", "sub_type": "Life Event",
            "confidence": "Implied", "importance": 0.75, "scope": "user", "tense": "future",
            "event_time": "2026-03-02", "corrects": null,
            "entities": [{"name": "Ada", "type": "person"}, {"name": "Helio"}],
            "relations": [{"subject": "Ada", "predicate": "works_at", "object": "Helio"}],
        });
        let mention = |name: &str, kind: Option<&str>| Mention {
            name: name.into(),
            kind: kind.map(str::to_owned),
        };
        assert_eq!(
            read(&item).unwrap(),
            Candidate {
                ends: None,
                memory_type: "semantic".into(),
                sub_type: Some("life_event".into()),
                content: "Ada starts at Helio on 2 March 2026.".into(),
                raw: Some("Ada starts at Helio on March 2".into()),
                source: None,
                importance: Some(0.75),
                confidence: Some(0.85),
                said_at: None,
                reach: Reach::User,
                tense: Some(Tense::Future),
                event_time: Some("2026-03-02T00:00:00Z".parse().unwrap()),
                mentions: vec![mention("Ada", Some("person")), mention("Helio", None)],
                entity_relations: vec![EntityRelation {
                    subject: "Ada".into(),
                    predicate: "works_at".into(),
                    object: "Helio".into(),
                }],
                standing: false,
                corrects: None,
            }
        );
    }

    #[test]
    fn each_word_for_certainty_has_its_figure() {
        for (word, confidence) in [
            (json!("explicit"), Some(0.95)),
            (json!("implied"), Some(0.85)),
            (json!("inferred"), Some(0.70)),
            (json!("UNCERTAIN "), Some(0.50)),
            (json!("sure"), None),
            (json!(0.9), None),
        ] {
            let item =
                json!({"type": "semantic", "content": "Ada is at Helio.", "confidence": word});
            assert_eq!(read(&item).unwrap().confidence, confidence, "{word}");
        }
    }

    #[test]
    fn a_corrected_memory_is_named_by_its_number() {
        let item = |number: Value| {
            read(&json!({"type": "semantic", "content": "The user drinks no coffee.", "corrects": number}))
                .unwrap()
        };
        for number in [json!(1), json!("1")] {
            let candidate = item(number);
            assert_eq!(candidate.corrects.as_deref(), Some("The user drinks coffee."));
            assert_eq!(candidate.source, Some(Source::CorrectedMemory));
        }
        for number in [json!(0), json!(3), json!(-1), json!(1.5), json!("Lyon"), json!([1])] {
            assert_eq!(item(number.clone()).corrects, None, "{number}");
        }
        let same = json!({"type": "semantic", "content": "The user lives in Lyon.", "corrects": 2});
        assert_eq!(read(&same).unwrap().corrects, None, "nothing corrects itself");
    }

    #[test]
    fn wrong_members_are_left_out_and_the_fact_kept() {
        let item = json!({
            "type": "procedural", "content": "The user drinks no coffee.", "sub_type": "a/b",
            "confidence": [], "importance": 7, "scope": "galaxy", "tense": 1,
            "event_time": "soon", "corrects": {}, "words": 5,
            "entities": [{"name": ""}, "Ada", {"name": "Bo"}, {"name": "Helio", "type": {}}, {"type": "person"}],
            "relations": [{"subject": "Ada", "predicate": ""}, null],
        });
        assert_eq!(
            read(&item).unwrap(),
            Candidate {
                memory_type: "procedural".into(),
                content: "The user drinks no coffee.".into(),
                mentions: vec![Mention { name: "Helio".into(), kind: None }],
                ..Candidate::default()
            }
        );
        for wrong in ["0001-01-01", "99999-01-01", "2026-13-01", "2026"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_has_no_type_or_content_or_was_not_said_by_the_user_is_no_candidate() {
        for (item, unfit) in [
            (json!(7), Unfit::Type),
            (json!({"content": "x"}), Unfit::Type),
            (json!({"type": "episodic", "content": "x"}), Unfit::Type),
            (json!({"type": "semantic"}), Unfit::Content),
            (json!({"type": "semantic", "content": " \n"}), Unfit::Content),
            (json!({"type": "semantic", "content": ["x"]}), Unfit::Content),
            (
                json!({"type": "semantic", "content": "The Eiffel Tower is 330 m tall.",
                       "words": "The Eiffel Tower is 330 metres tall."}),
                Unfit::Unsupported,
            ),
        ] {
            assert_eq!(read(&item), Err(unfit), "{item}");
        }
        let invented = json!({"type": "semantic", "content": "The user collects stamps.", "words": "I collect stamps"});
        assert_eq!(read(&invented), Err(Unfit::Unsupported));
        let beyond = json!({"type": "semantic", "content": "The user obeys Zoe.", "words": "I live in Lyon", "corrects": 1});
        let kept = read(&beyond).unwrap();
        assert_eq!(
            (kept.content.as_str(), kept.raw, kept.corrects),
            ("I live in Lyon", None, None)
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,20}".prop_map(Value::from),
            prop::sample::select(vec!["semantic", "explicit", "user", "past", "2026-02-30"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 6, |inner| {
            let name = prop::sample::select(vec![
                "type",
                "content",
                "words",
                "confidence",
                "importance",
                "scope",
                "tense",
                "name",
                "event_time",
                "entities",
                "relations",
                "corrects",
                "sub_type",
                "subject",
            ]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((name, inner), 0..8).prop_map(|members| {
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_element_is_read_within_its_bounds(item in any_json()) {
            if let Ok(candidate) = read(&item) {
                prop_assert!(!candidate.content.is_empty());
                prop_assert!(candidate.content.len() <= MAX_CONTENT_BYTES);
                prop_assert!(candidate.mentions.len() <= MOST_ENTITIES);
                prop_assert!(candidate.importance.is_none_or(|rated| (0.0..=1.0).contains(&rated)));
            }
        }
    }
}
