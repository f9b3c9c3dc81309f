//! Where sentences end.
//!
//! Unicode's own rules (UAX #29) end a sentence only before a capital letter, and people who type to an assistant use
//! few. So a full stop before white space ends one, except after an abbreviation, after an ordinal, within brackets, and
//! within quotation marks. Abbreviations are in `lang/`; all languages count at once, because people mix them.

use std::{collections::HashSet, ops::Range, sync::LazyLock};

use crate::lang;

/// The most bytes between brackets or quotation marks that belong together.
const MAX_ENCLOSED: usize = 400;

/// The most bytes before a full stop that are read for the word that it follows. All abbreviations are shorter.
const MAX_WORD: usize = 64;

/// The most digits of an ordinal.
const MAX_ORDINAL: usize = 3;

/// Words that a full stop follows, and that never end a sentence: "Dr."
static ABBREVIATIONS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.abbreviations).collect());
/// Words with a full stop that end a sentence where a capital letter follows: "p.m."
static CLOSING: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.closing_abbreviations).collect());
/// Words after which a number with a full stop is an ordinal: "im 3. Stock".
static BEFORE_ORDINALS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.before_ordinals).collect());
/// Months, before which a number with a full stop is a day: "3. März".
static MONTHS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let days = lang::files().flat_map(|file| file.days.entries());
    days.filter(|(day, _)| day.is_month()).map(|(_, word)| word.trim_end_matches('*')).collect()
});

/// The sentences of a text with the marks that end them, without white space around them. A text without letters and
/// digits is none.
pub(crate) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut enclosed_until = 0;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if at >= enclosed_until
            && let Some(close) = closing_mark(text, start, at, c)
        {
            enclosed_until = close;
        }
        let ends = match c {
            '\n' => true,
            _ if after < enclosed_until => false,
            // The last mark within a quotation ends the sentence around it, where another begins.
            _ if after == enclosed_until => is_ended_within(&text[..at]) && begins(&text[after..]),
            '.' => ends_at_stop(text, start, at),
            c if is_end(c) => text[after..].chars().next().is_none_or(|next| !is_end(next)),
            _ => false,
        };
        if ends {
            found.push(trimmed(text, start..after));
            start = after;
        }
    }
    found.push(trimmed(text, start..text.len()));
    found.retain(|range| text[range.clone()].chars().any(char::is_alphanumeric));
    found
}

/// Whether a character ends a sentence.
pub(super) fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।' | '\n')
}

/// Where what an opening mark encloses ends, on its line and not far away.
pub(crate) fn closing_mark(text: &str, start: usize, at: usize, mark: char) -> Option<usize> {
    let closing = match mark {
        '(' => ')',
        '[' => ']',
        '（' => '）',
        '「' => '」',
        '『' => '』',
        '“' => '”',
        '„' => return closing_of(text, at, mark, &['“', '”', '"']),
        '«' => '»',
        // This mark opens and closes: it opens if no word stands right before it.
        '"' if !text[start..at].ends_with(char::is_alphanumeric) => '"',
        _ => return None,
    };
    closing_of(text, at, mark, &[closing])
}

fn closing_of(text: &str, at: usize, mark: char, closing: &[char]) -> Option<usize> {
    let rest = text.get(at + mark.len_utf8()..)?;
    let on_line = |(end, c): &(usize, char)| *end <= MAX_ENCLOSED && *c != '\n';
    let mut near = rest.char_indices().take_while(on_line);
    let (end, found) = near.find(|(_, c)| closing.contains(c))?;
    Some(at + mark.len_utf8() + end + found.len_utf8())
}

/// Whether quoted words end as a sentence does.
fn is_ended_within(quoted: &str) -> bool {
    quoted.ends_with(|c| is_end(c) && c != '\n')
}

/// Whether a new sentence begins here, with a capital letter or in a script without them.
fn begins(rest: &str) -> bool {
    let first = rest.trim_start().chars().next();
    first.is_none_or(|c| c.is_alphabetic() && !c.is_lowercase())
}

/// Whether the full stop at `at` ends the sentence that begins at `start`.
fn ends_at_stop(text: &str, start: usize, at: usize) -> bool {
    let rest = &text[at + 1..];
    // Not within "3.5", "example.org" or "...".
    if rest.starts_with(|c: char| !c.is_whitespace()) {
        return false;
    }
    let from = start.max(text.ceil_char_boundary(at.saturating_sub(MAX_WORD)));
    let word = word_before(&text[from..at]);
    if rest.trim_start().is_empty() || word.is_empty() {
        return true;
    }
    let low = word.replace(' ', "").to_lowercase();
    let next = rest.split_whitespace().next().unwrap_or_default();
    let capital = next.starts_with(char::is_uppercase);
    let before = text[start..at - word.len()].trim_end();
    if word.chars().all(|c| c.is_ascii_digit()) {
        return !is_ordinal(word, before, next);
    }
    if ABBREVIATIONS.contains(&*low) {
        return false;
    }
    if CLOSING.contains(&*low) {
        return capital || rest.starts_with('\n');
    }
    !is_initial(word, next)
}

/// The word that a full stop follows, with full stops inside it: "p.m", "z. B".
fn word_before(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '-' || c == '\'';
    let mut start = text.trim_end_matches(is_part).len();
    // Full stops of letters that stand apart: "z. B", "e. g".
    while text[start..].chars().nth(1).is_none_or(|c| c == '.') {
        let before = text[..start].trim_end_matches(' ');
        let Some(rest) = before.strip_suffix('.') else { break };
        let mut letters = rest.chars().rev();
        let single = letters.next().is_some_and(char::is_alphabetic)
            && letters.next().is_none_or(|c| !c.is_alphanumeric());
        if !single {
            break;
        }
        start = rest.len() - rest.chars().next_back().map_or(0, char::len_utf8);
    }
    &text[start..]
}

/// "im 3. Stock", "3. März", "3. 4. 2026", and the number of an item in a list.
fn is_ordinal(number: &str, before: &str, next: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let next_word = next.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let digits = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let of_a_date = next.ends_with('.') && digits(&next_word)
        || word.strip_suffix('.').is_some_and(|day| !day.is_empty() && digits(day));
    number.len() <= MAX_ORDINAL
        && (before.is_empty()
            || of_a_date
            || BEFORE_ORDINALS.contains(&*word.to_lowercase())
            || MONTHS.contains(&*next_word))
}

/// Initials and letters that belong together: "J. Smith", "z. B."
fn is_initial(word: &str, next: &str) -> bool {
    let last = word.rsplit(['.', ' ']).next().unwrap_or_default();
    let mut letters = last.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return false };
    let next_single = next.chars().nth(1) == Some('.') && next.chars().count() == 2;
    letter.is_alphabetic()
        && !letter.eq_ignore_ascii_case(&'I')
        && (next_single || (letter.is_uppercase() && next.starts_with(char::is_uppercase)))
}

/// The range without white space at its ends.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

#[cfg(test)]
mod tests {
    use crate::sentences::sentences;

    #[test]
    fn a_text_is_cut_where_sentences_end() {
        assert_eq!(
            sentences("I earn 3.5k. Really?! See example.org, ok\nbye。我很好！"),
            ["I earn 3.5k.", "Really?!", "See example.org, ok", "bye。", "我很好！"]
        );
        assert_eq!(
            sentences("i live in leeds. my sister is a nurse. hmm... she's 34. We're close"),
            ["i live in leeds.", "my sister is a nurse.", "hmm...", "she's 34.", "We're close"]
        );
        assert!(sentences(" ... ").is_empty());
    }

    #[test]
    fn abbreviations_ordinals_and_times_end_no_sentence() {
        for text in [
            "My dentist is Dr. Smith.",
            "my flight leaves at 7 p.m. on Friday",
            "my flight leaves at 7 p. m. on Friday",
            "Denk daran, dass meine Tochter am 3. März Geburtstag hat",
            "Ich heiße Dr. Anna Schmidt und wohne im 3. Stock.",
            "der Termin ist am 3. 4. 2026 um 10.30 Uhr",
            "ich mag Obst, z. B. Äpfel, usw. und so",
            "My editor is J. K. Lindqvist.",
            "Vivo con la Sra. Gómez en la Av. Libertad",
            "M. Durand est mon propriétaire",
            "dhr. Jansen is mijn huisbaas",
            "живу на ул. Ленина, д. 5",
            "1. milk",
            "we meet approx. 3 times a week",
        ] {
            assert_eq!(sentences(text), [text]);
        }
        assert_eq!(
            sentences("We leave at 7 p.m. My wife drives. Ich bin 34. Meine Frau ist 31."),
            ["We leave at 7 p.m.", "My wife drives.", "Ich bin 34.", "Meine Frau ist 31."]
        );
    }

    #[test]
    fn nothing_ends_within_brackets_and_quotation_marks() {
        assert_eq!(
            sentences(
                "My boss (Mr Ott. He is new!) said \"Go. Now.\" and left. He said “Stop.” I went."
            ),
            [
                "My boss (Mr Ott. He is new!) said \"Go. Now.\" and left.",
                "He said “Stop.”",
                "I went."
            ]
        );
        assert_eq!(sentences("他说「好。走吧。」我很高兴。"), ["他说「好。走吧。」", "我很高兴。"]);
        // A bracket that nobody closes holds nothing together.
        assert_eq!(
            sentences("I live in Rome (since May. I like it."),
            ["I live in Rome (since May.", "I like it."]
        );
    }
}
