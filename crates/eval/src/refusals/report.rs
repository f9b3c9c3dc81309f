//! Counts lost statements by rule and by language, and stored secrets by class.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{count::Count, data::Digests, refusals::row::Row, table::Sheet};
use memgate_capture::OnDisk;

/// The result, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Report {
    /// Benign statements that are changed or refused.
    benign_lost: Count,
    /// Lost benign statements by language.
    benign_by_lang: BTreeMap<String, Count>,
    /// Number of benign statements by the rule that took something; a statement may be lost by several.
    benign_by_rule: BTreeMap<String, usize>,
    /// Secrets with a form of which a part is stored.
    secrets_stored: Count,
    /// Stored secrets by class.
    secrets_by_class: BTreeMap<String, Count>,
    /// Stored secrets by language.
    secrets_by_lang: BTreeMap<String, Count>,
    /// Secrets without a form that are stored: answers to security questions, spoken passwords.
    formless_stored: Count,
    /// Secrets that the user asks to remember and that are stored: by a policy that keeps their class.
    asked_stored: Count,
    /// The lost statements and the stored secrets, with `--show`.
    shown: Vec<String>,
    #[serde(flatten)]
    digests: Digests,
}

/// The rules that took something from a message.
fn rules(left: &OnDisk) -> Vec<String> {
    let whole = [
        (left.forgets, "request to forget"),
        (left.housekeeping, "prompt of a client"),
        (left.untyped, "not typed"),
    ];
    let whole = whole.into_iter().filter(|(took, _)| *took).map(|(_, rule)| rule.to_owned());
    let refused = left.refused.iter().map(|why| format!("refused: {}", why.name()));
    let redacted = left.redacted.iter().map(|class| format!("redacted: {}", class.name()));
    let mut rules: Vec<String> = whole.chain(refused).chain(redacted).collect();
    rules.sort();
    rules.dedup();
    rules
}

impl Report {
    pub(super) fn of(rows: &[Row], left: &[OnDisk], show: bool, digests: Digests) -> Self {
        let mut report = Self {
            benign_lost: Count::default(),
            benign_by_lang: BTreeMap::new(),
            benign_by_rule: BTreeMap::new(),
            secrets_stored: Count::default(),
            secrets_by_class: BTreeMap::new(),
            secrets_by_lang: BTreeMap::new(),
            formless_stored: Count::default(),
            asked_stored: Count::default(),
            shown: Vec::new(),
            digests,
        };
        for (row, left) in rows.iter().zip(left) {
            let wrong = match row.secret.is_empty() {
                true => report.add_benign(row, left),
                false => report.add_secret(row, left),
            };
            if let (true, Some(wrong)) = (show, wrong) {
                report.shown.push(format!("{}: {wrong}: {}", row.id, row.text));
            }
        }
        report
    }

    fn add_benign(&mut self, row: &Row, left: &OnDisk) -> Option<String> {
        let rules = rules(left);
        let lost = !rules.is_empty();
        self.benign_lost.add(lost);
        self.benign_by_lang.entry(row.lang.clone()).or_default().add(lost);
        for rule in &rules {
            *self.benign_by_rule.entry(rule.clone()).or_default() += 1;
        }
        lost.then(|| rules.join(", "))
    }

    fn add_secret(&mut self, row: &Row, left: &OnDisk) -> Option<String> {
        let texts = || left.asked.iter().chain([&left.text]);
        let stored = row.secret.iter().any(|value| texts().any(|text| text.contains(value)));
        if row.asked {
            self.asked_stored.add(stored);
        }
        if !row.form {
            self.formless_stored.add(stored);
            return stored.then(|| "stored, without a form".to_owned());
        }
        self.secrets_stored.add(stored);
        self.secrets_by_class.entry(row.class.clone()).or_default().add(stored);
        self.secrets_by_lang.entry(row.lang.clone()).or_default().add(stored);
        stored.then(|| format!("stored {}", row.class))
    }

    pub(super) fn told(&self) -> String {
        let mut sheet = Sheet::of(&self.digests);
        sheet.counts(
            "",
            [
                ("benign statements lost", self.benign_lost),
                ("secrets stored", self.secrets_stored),
                ("secrets without a form stored", self.formless_stored),
                ("secrets stored that the user asks to remember", self.asked_stored),
            ],
        );
        let rules =
            self.benign_by_rule.iter().map(|(rule, count)| [rule.clone(), count.to_string()]);
        sheet.table(["benign statements lost by rule", "number"], rules);
        let parts = [
            ("benign statements lost by language", &self.benign_by_lang),
            ("secrets stored by class", &self.secrets_by_class),
            ("secrets stored by language", &self.secrets_by_lang),
        ];
        for (title, counts) in parts {
            sheet.counts(title, counts.iter().map(|(key, count)| (key.as_str(), *count)));
        }
        self.shown.iter().for_each(|line| sheet.line(line));
        sheet.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgate_capture::on_disk;
    use memgate_screening::{Action, Policy, Screener};

    fn report(policy: Policy) -> Report {
        let row = |id: &str, text: &str, secret: &str, form: bool| Row {
            id: id.into(),
            lang: "en".into(),
            text: text.into(),
            secret: Some(secret)
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .into_iter()
                .collect(),
            class: "code".into(),
            form,
            asked: id == "asked",
        };
        let rows = [
            row("kept", "I secretly write poetry.", "", true),
            row("lost", "Please don't store this: I failed the exam.", "", true),
            row("asked", "remember that my locker code is 4471", "4471", true),
            row("formless", "My first pet for the bank is Mr Biscuit.", "Mr Biscuit", false),
        ];
        let screener = Screener::new(policy);
        let left: Vec<OnDisk> = rows.iter().map(|row| on_disk(&row.text, screener)).collect();
        Report::of(&rows, &left, true, Digests::default())
    }

    #[test]
    fn lost_statements_are_counted_by_rule_and_secrets_apart_from_those_without_a_form() {
        let report = report(Policy::default());
        assert_eq!(report.benign_lost, Count { hits: 1, of: 2 });
        assert_eq!(report.benign_by_rule.get("refused: no_store"), Some(&1));
        assert_eq!(report.secrets_stored, Count { hits: 0, of: 1 });
        assert_eq!(report.formless_stored, Count { hits: 1, of: 1 });
        assert_eq!(report.shown.len(), 2);
    }

    #[test]
    fn a_code_that_the_user_asks_to_remember_is_stored_where_the_policy_keeps_codes() {
        let keep = Policy { codes: Action::Keep, ..Policy::default() };
        assert_eq!(report(keep).asked_stored, Count { hits: 1, of: 1 });
        assert_eq!(report(Policy::default()).asked_stored, Count { hits: 0, of: 1 });
    }
}
