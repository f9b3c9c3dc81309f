//! Checks the labels of scenarios: an impossible label would always or never match, without anyone
//! noticing.

use crate::{
    data::{Labelled, no_language, none_of},
    replay::Scenario,
};

/// The kinds of scenarios.
const KINDS: [&str; 8] =
    ["fact", "preference", "update", "procedural", "temporal", "multi_hop", "entity", "negative"];

impl Labelled for Scenario {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        let wordings = self.must_recall.iter().flatten().map(|words| ("must_recall", words));
        let forbidden = self.must_not_recall.iter().map(|words| ("must_not_recall", words));
        let vain = |(field, words): (&str, &String)| {
            let why = if words.is_empty() {
                "must not be empty"
            } else if *words != words.to_lowercase() {
                "can never match, because texts are compared in lower case"
            } else {
                return None;
            };
            Some(format!("{field}: {words:?} {why}"))
        };
        let told = |wrong: bool, why: &str| wrong.then(|| format!("must_recall: {why}"));
        no_language(&self.lang)
            .or_else(|| none_of("kind", &self.kind, &KINDS))
            .or_else(|| wordings.chain(forbidden).find_map(vain))
            .or_else(|| {
                told(self.must_recall.iter().any(Vec::is_empty), "an item has no alternatives")
            })
            .or_else(|| {
                let needs = self.kind == "negative" && !self.must_recall.is_empty();
                told(needs, "must be empty in a negative scenario")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::scenario;

    #[test]
    fn reports_labels_that_can_never_match_or_fail() {
        let mut good = scenario("?");
        assert_eq!(good.wrong(), None);
        good.must_not_recall = vec!["Rex".into()];
        let told =
            "must_not_recall: \"Rex\" can never match, because texts are compared in lower case";
        assert_eq!(good.wrong().as_deref(), Some(told));
        good.must_recall = vec![vec!["rex".into(), String::new()]];
        assert_eq!(good.wrong().as_deref(), Some("must_recall: \"\" must not be empty"));
        let change = |change: fn(&mut Scenario)| {
            let mut scenario = scenario("?");
            change(&mut scenario);
            scenario.wrong().unwrap()
        };
        assert!(
            change(|it| it.kind = "facts".into())
                .starts_with("kind: \"facts\" is not one of fact,")
        );
        assert!(
            change(|it| it.kind = "negative".into())
                .starts_with("must_recall: must be empty in a negative")
        );
        assert!(change(|it| it.must_recall = vec![vec![]]).starts_with("must_recall: an item"));
        assert!(change(|it| it.lang = "EN".into()).starts_with("lang: "));
    }
}
