//! The entity feature: names in a query, and the memories that mention them. Every word, or few words, with a meaning
//! may be a name; the mentions that are stored decide which are names.

use std::collections::HashSet;

use crate::{
    hit::Hit,
    ranking::feature::{Feature, Question},
    settings::RankingConfig,
};
use memgate_core::memory::{Filter, Memory};
use memgate_telemetry::RankStep;
use memgate_text::{entity::entity_key, index};

/// The most words of a name.
const WORDS: usize = 3;
/// The most characters of a name in a script without spaces, and the fewest.
const CHARACTERS: std::ops::RangeInclusive<usize> = 2..=4;
/// What may be a name in one query; a longer one is looked at as far as this.
const MOST: usize = 48;

/// What may be a name in a query, by [`entity_key`].
#[derive(Debug, Default)]
pub(crate) struct QueryNames(HashSet<String>);

impl QueryNames {
    /// Reads them out of a query.
    pub(crate) fn of(query: &str) -> Self {
        let words: Vec<&str> = query.split_whitespace().map(bare).collect();
        let mut names = HashSet::new();
        for length in 1..=WORDS {
            for some in words.windows(length) {
                let ends = [some.first(), some.last()];
                if ends.into_iter().flatten().all(|word| may_name(word)) {
                    take(&mut names, &entity_key(&some.join(" ")));
                }
            }
        }
        for run in query.split(|c: char| !index::is_unspaced(c)) {
            let characters: Vec<char> = run.chars().collect();
            for length in CHARACTERS {
                for some in characters.windows(length) {
                    take(&mut names, &entity_key(&some.iter().collect::<String>()));
                }
            }
        }
        Self(names)
    }

    /// The memories that mention one of them; `None` where there are no names.
    pub(crate) fn filter(&self) -> Option<Filter> {
        let mut names: Vec<Filter> = self.0.iter().cloned().map(Filter::Entity).collect();
        // The same query is the same statement for a store.
        names.sort_unstable_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
        (!names.is_empty()).then_some(Filter::Or(names))
    }

    fn are_in(&self, memory: &Memory) -> bool {
        !self.0.is_empty() && memory.entity_names().any(|name| self.0.contains(&entity_key(name)))
    }
}

fn take(names: &mut HashSet<String>, name: &str) {
    if names.len() < MOST && !name.is_empty() {
        names.insert(name.to_owned());
    }
}

/// A word without the punctuation around it, and without the English possessive.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

fn may_name(word: &str) -> bool {
    !index::content_words(word).is_empty()
}

/// Adds the weight where something is mentioned that the query names. It concerns the hits that it lifts.
pub(super) struct EntityFeature;

impl Feature for EntityFeature {
    fn step(&self) -> RankStep {
        RankStep::Entities
    }

    fn is_on(&self, ranking: &RankingConfig) -> bool {
        ranking.weights.entity > 0.0
    }

    fn apply(&self, question: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize {
        if hits.iter().all(|hit| hit.memory.entity_names().next().is_none()) {
            return 0;
        }
        let names = QueryNames::of(question.text);
        let mut lifted = 0;
        for hit in hits.iter_mut().filter(|hit| names.are_in(&hit.memory)) {
            hit.breakdown.features.entity = ranking.weights.entity;
            lifted += 1;
        }
        lifted
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use memgate_core::memory::{MAX_FILTER_SIZE, MemoryId, MemoryType, Owner, Source};
    use memgate_text::entity::{EntityRelation, Mention};

    fn about(name: &str) -> Memory {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            "c",
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.mentions = vec![Mention { name: name.into(), kind: None }];
        memory
    }

    #[test]
    fn names_are_found_however_they_are_spelt_and_in_any_script() {
        for (query, name) in [
            ("When is Ana's birthday?", "ANA"),
            ("what did ana li buy", "Ana Li"),
            ("my account at the Bank of America?", "Bank of America"),
            ("(O’Brien), you know", "O'Brien"),
            ("陈伟住在哪里？", "陈伟"),
            ("Wo wohnt Jürgen?", "jürgen"),
        ] {
            let names = QueryNames::of(query);
            assert!(names.are_in(&about(name)), "{query} {name} {names:?}");
            assert!(names.filter().unwrap().matches(&about(name)), "{query}");
        }
    }

    #[test]
    fn other_words_name_nobody() {
        let names = QueryNames::of("What is the plan of Ana?");
        for other in ["Anna", "the", "Of", "Ben", "plan of Ben"] {
            assert!(!names.are_in(&about(other)), "{other}");
        }
        assert!(QueryNames::of("what is it").filter().is_none());
        assert!(!QueryNames::default().are_in(&about("Ana")));
    }

    #[test]
    fn an_end_of_a_relation_is_mentioned_too() {
        let mut memory = about("Helio");
        memory.entity_relations = vec![EntityRelation {
            subject: "Ana".into(),
            predicate: "works_at".into(),
            object: "Helio".into(),
        }];
        assert!(QueryNames::of("Where does Ana work?").are_in(&memory));
    }

    #[test]
    fn a_long_query_makes_a_filter_that_stores_take() {
        let long: String = (0..1_000).map(|n| format!("Name{n} 名字{n} ")).collect();
        assert!(QueryNames::of(&long).filter().unwrap().size() < MAX_FILTER_SIZE / 2);
    }
}
