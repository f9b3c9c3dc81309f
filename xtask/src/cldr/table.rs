//! The words for times of a language, as its file holds them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use super::package::{Locale, VERSION};
use super::phrases::{WEEKDAYS, phrases};

/// The fewest characters of a short name that is no other word.
const SHORT: usize = 2;

/// The words of a language; nothing stands twice.
#[derive(Default)]
pub(super) struct Table {
    months: Vec<Vec<String>>,
    weekdays: Vec<Vec<String>>,
    phrases: BTreeMap<&'static str, Vec<String>>,
}

impl Table {
    /// Adds a locale's words.
    pub(super) fn add(&mut self, locale: &Locale) -> Result<()> {
        let months: Vec<String> = (1..=12).map(|month: u8| month.to_string()).collect();
        let months = names(&locale.calendar["months"], &months)?;
        let weekdays = names(&locale.calendar["days"], &WEEKDAYS.map(str::to_owned))?;
        for (name, phrase) in phrases(&locale.fields, &weekdays) {
            push(self.phrases.entry(name).or_default(), phrase);
        }
        merge(&mut self.months, months);
        merge(&mut self.weekdays, weekdays);
        // "कल" is yesterday and tomorrow: it tells nothing.
        let all: Vec<String> = self.phrases.values().flatten().cloned().collect();
        for list in self.phrases.values_mut() {
            list.retain(|phrase| all.iter().filter(|other| *other == phrase).count() == 1);
        }
        Ok(())
    }

    /// The file.
    pub(super) fn to_toml(&self) -> String {
        let mut out = format!(
            "# From CLDR {VERSION} (https://cldr.unicode.org, Unicode License v3). `cargo xtask cldr` writes this file.\n\n"
        );
        for (name, lists) in [("months", &self.months), ("weekdays", &self.weekdays)] {
            let _ = writeln!(out, "{name} = [");
            for list in lists {
                let _ = writeln!(out, "    {},", array(list));
            }
            let _ = writeln!(out, "]");
        }
        let _ = writeln!(out, "\n[phrases]");
        for (name, list) in &self.phrases {
            if !list.is_empty() {
                let _ = writeln!(out, "{name} = {}", array(list));
            }
        }
        out
    }
}

/// The names of months or days: in full, and short ones in scripts where these are no other words.
fn names(of: &Value, keys: &[String]) -> Result<Vec<Vec<String>>> {
    let name = |context: &str, width: &str, key: &str| {
        Some(of.get(context)?.get(width)?.get(key)?.as_str()?.to_lowercase())
    };
    let of_one = |key: &String| {
        let mut found = Vec::new();
        for context in ["format", "stand-alone"] {
            push(
                &mut found,
                name(context, "wide", key).with_context(|| format!("no name of {key}"))?,
            );
            let short = name(context, "abbreviated", key).unwrap_or_default();
            if short.chars().count() >= SHORT && short.chars().all(is_ideograph) {
                push(&mut found, short);
            }
        }
        Ok(found)
    };
    keys.iter().map(of_one).collect()
}

fn is_ideograph(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

fn merge(into: &mut Vec<Vec<String>>, from: Vec<Vec<String>>) {
    into.resize_with(from.len(), Vec::new);
    for (list, words) in into.iter_mut().zip(from) {
        words.into_iter().for_each(|word| push(list, word));
    }
}

fn push(list: &mut Vec<String>, word: String) {
    if !list.contains(&word) {
        list.push(word);
    }
}

fn array(list: &[String]) -> String {
    // No word has a quotation mark or a backslash.
    let quoted: Vec<String> = list.iter().map(|word| format!("\"{word}\"")).collect();
    format!("[{}]", quoted.join(", "))
}
