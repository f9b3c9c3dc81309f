//! Particulars that a fact must have from the user's own words, whatever else it is worded with: its names, numbers and dates, and
//! whether it says that something is so or is not so.

use std::collections::HashSet;

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{admission::of_speaker, extract::llm::parts::Shown};
use memgate_text::{
    compare::{Mark, Statement},
    index::{content_words, meaning_words, stemmed_words},
    names,
    sentences::{sentences, words},
    time::statement_dates::dated,
};

/// The least letters that forms of one name share: Postgres and PostgreSQL.
const KIN: usize = 4;

/// The particulars of what the user typed.
pub(super) struct Particulars {
    words: HashSet<String>,
    /// Also those of the days that relative dates meant, and the years around.
    numbers: HashSet<String>,
    days: Vec<Statement>,
    /// The stems of each sentence, and the sentence.
    sentences: Vec<(HashSet<String>, String)>,
}

impl Particulars {
    pub(super) fn of(part: &[Shown]) -> Self {
        let mut found = Self {
            words: HashSet::new(),
            numbers: HashSet::new(),
            days: Vec::new(),
            sentences: Vec::new(),
        };
        for Shown { date, user, .. } in part {
            found.words.extend(words(user));
            let statement = Statement::of(user);
            found.numbers.extend(statement.values.numbers.iter().cloned());
            found.numbers.extend(statement.values.months().map(|month| month.to_string()));
            found.days.push(statement);
            match date.parse::<Date>() {
                Ok(said) => {
                    found.numbers.extend(digits(&dated(user, said)));
                    let year = said.year();
                    found.numbers.extend((year - 1..=year + 1).map(|year| year.to_string()));
                }
                Err(_) => found.numbers.extend(digits(user)),
            }
            let stems = |sentence: &&str| stemmed_words(sentence).into_iter().collect();
            found.sentences.extend(sentences(user).iter().map(|it| (stems(it), (*it).to_owned())));
        }
        found
    }

    /// Whether a fact has no name, number or date that the user did not type, and says of it what the user does: in these
    /// words, or in the sentence that has most of its words.
    pub(super) fn support(&self, content: &str, quote: Option<&str>) -> bool {
        // Dates are values, too, and no statement of the speaker's has them.
        let values = Statement::of(content);
        let content = of_speaker(content);
        let fact = Statement::of(&content);
        self.have_values(&values)
            && self.have_names(&content)
            && quote.or_else(|| self.nearest(&content)).is_some_and(|said| agree(&fact, said))
    }

    /// Whether the user typed a name, or it means the user.
    pub(super) fn have_name(&self, name: &str) -> bool {
        let name = of_speaker(name);
        name == "I"
            || name.eq_ignore_ascii_case("user")
            || words(&name).iter().all(|it| self.have_word(it))
    }

    /// Whether the day of a time is one that the user named.
    pub(super) fn have_day(&self, time: Timestamp) -> bool {
        let date = time.to_zoned(TimeZone::UTC).date();
        digits(&date.to_string()).all(|number| self.numbers.contains(&number))
    }

    fn have_values(&self, fact: &Statement) -> bool {
        let has = |number: &String| self.numbers.contains(number);
        let months = fact.values.months().all(|month| has(&month.to_string()));
        let numbers = fact.values.numbers.iter().all(|it| has(it) || digits(it).all(|it| has(&it)));
        let named = |day| self.days.iter().any(|said| said.values.days.contains(day));
        months && numbers && fact.values.days.iter().all(named)
    }

    fn have_names(&self, content: &str) -> bool {
        let named = names::named(content, content).mentions;
        // The first word may be a name for all that its capital letter says.
        let first = content.split_whitespace().next().unwrap_or_default();
        let first =
            content_words(first).into_iter().filter(|it| it.starts_with(char::is_uppercase));
        first
            .chain(named.iter().map(|mention| &*mention.name))
            .flat_map(words)
            .all(|word| self.have_word(&word))
    }

    fn have_word(&self, word: &str) -> bool {
        self.words.contains(word)
            || self.words.iter().any(|typed| {
                let (short, long) =
                    if typed.len() < word.len() { (&**typed, word) } else { (word, &**typed) };
                short.chars().nth(KIN - 1).is_some() && long.starts_with(short)
            })
    }

    /// The sentence that has most of a fact's words.
    fn nearest(&self, content: &str) -> Option<&str> {
        let meant = meaning_words(content);
        let shared =
            |stems: &HashSet<String>| meant.iter().filter(|it| stems.contains(*it)).count();
        let nearest = self.sentences.iter().max_by_key(|(stems, _)| shared(stems));
        nearest.map(|(_, sentence)| &**sentence)
    }
}

/// Whether both say that something is so, or both that it is not. "I quit smoking" may be put as "does not smoke".
fn agree(fact: &Statement, said: &str) -> bool {
    let said = Statement::of(said);
    let ended = fact.says(Mark::Turned) || said.says(Mark::Turned);
    ended || fact.is_negative() == said.is_negative()
}

/// The runs of digits in a text, without leading zeros; none of zeros alone, as in 9:00.
fn digits(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).map(|run| run.trim_start_matches('0'));
    runs.filter(|run| !run.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(messages: &[&str]) -> Particulars {
        let shown = |user: &&str| Shown {
            date: "2026-02-09".to_owned(),
            user: (*user).to_owned(),
            assistant: String::new(),
        };
        Particulars::of(&messages.iter().map(shown).collect::<Vec<_>>())
    }

    #[test]
    fn names_numbers_and_dates_that_the_user_did_not_type_are_no_fact() {
        let typed = typed(&[
            "Ada starts at Helio on March 2, our prod db is still postgres 14",
            "meeting with Bo tomorrow at 9, I live in Lyon",
        ]);
        for fact in [
            "Ada begins a job at Helio on 2 March 2026.",
            "The user's team runs PostgreSQL 14 in production.",
            "Bo meets the user on 2026-02-10 at 9:00.",
            "The user lives in Lyon.",
        ] {
            assert!(typed.support(fact, None), "{fact}");
        }
        for fact in [
            "Ada begins a job at Tarnhost on 2 March.",
            "Ada begins a job at Helio on 3 April.",
            "Ada begins a job at Helio on a Friday.",
            "The user's team runs PostgreSQL 15.",
            "Zoe lives in Lyon.",
            "The user lives in Lyon with Zoe.",
            "Bo meets the user on 2027-05-10.",
        ] {
            assert!(!typed.support(fact, None), "{fact}");
        }
        assert!(typed.have_day("2026-03-02T00:00:00Z".parse().unwrap()));
        assert!(!typed.have_day("2026-07-02T00:00:00Z".parse().unwrap()));
        assert!(typed.have_name("Ada") && typed.have_name("The user") && !typed.have_name("Zoe"));
    }

    #[test]
    fn a_fact_is_negated_where_the_user_negates_it() {
        let typed = typed(&[
            "I don't drink coffee. I like tea.",
            "Ich esse kein Fleisch",
            "I quit smoking",
            "我不吃辣",
        ]);
        for (fact, agrees) in [
            ("The user does not drink coffee.", true),
            ("The user drinks coffee.", false),
            ("The user likes tea.", true),
            ("The user does not like tea.", false),
            ("Der Nutzer isst kein Fleisch.", true),
            ("Der Nutzer isst Fleisch.", false),
            ("The user no longer smokes.", true),
            ("用户不吃辣。", true),
        ] {
            assert_eq!(typed.support(fact, None), agrees, "{fact}");
        }
    }
}
