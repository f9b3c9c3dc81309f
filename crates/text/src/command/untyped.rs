//! Finds the parts of a message that the user did not type: quotations, code, mails, transcripts, retrieved passages and
//! text in tags. They are recognised by their marks. Text that is pasted without marks is not found here; therefore
//! [`crate::command::masked::Masked::speaks`] also checks the position of a sentence.
//!
//! A part with an opening mark and no closing one extends to the end of the message: when in doubt, text is untyped.
//! Only a straight quotation mark ends with its paragraph, because it has other uses ([`quoted`]).

mod quoted;

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    lang::{
        self, Language,
        keys::{Pasted, TimePhrase},
    },
    rules::pattern::Pattern,
};

/// A tag that opens something.
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"<(/?)([a-zA-Z][\w:.-]*)[^<>]*>"));

/// A line that starts retrieved passages: "Context: …", "### Documents", "[1] …", "Document 2: …", or the sentence with
/// which prompt templates announce them.
static CONTEXT: LazyLock<Pattern> = LazyLock::new(|| {
    let (titles, announced) = (any(Pasted::ContextTitle), any(Pasted::Announced));
    Pattern::constant(&format!(
        concat!(
            r"(?im)^[ \t]*(?:#{{1,6}}[ \t]*|[*]{{2}}|[-=]{{2,}}[ \t]*(?:begin |start of )?|\[)?",
            r"(?:retrieved |relevant |additional |supporting |provided |following )?(?:{titles})",
            r"(?:[ \t]*#?[ \t]*\d+)?\]?(?:[*]{{2}})?[ \t]*(?:[:：]|$)",
            r"|^[ \t]*[\[(【]\d{{1,3}}[\])】][ \t]*\S",
            r"|\b(?:{announced})",
        ),
        titles = titles,
        announced = announced,
    ))
});

/// A line that ends retrieved passages; the user's question follows.
static QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    let titles = any(Pasted::QuestionTitle);
    pattern(&format!(
        r"(?im)^[ \t]*(?:#{{1,6}}[ \t]*|[*]{{2}})?(?:{titles})(?:[*]{{2}})?[ \t]*[:：]"
    ))
});

/// A mail header. Two of them make a mail.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"(?im)^[ \t]*(?:{})[ \t]*[:：][ \t]*\S", any(Pasted::MailHeader)))
});

/// An address in angle brackets after a label: the header of a mail in any language.
static ADDRESSED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[^\n:：]{1,20}[:：][^\n]*<[^\s<>@]+@[^\s<>]+>"));

/// A line of an exported chat: a name and a time alone (Slack, Teams, Discord), or a name in angle brackets (IRC).
static STAMPED: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = Language::ALL.iter().map(|language| &language.cldr().phrases);
    let days =
        phrases.flat_map(|of| [TimePhrase::Today, TimePhrase::Yesterday].map(|it| of.get(&it)));
    let days: Vec<&str> = days.flatten().flatten().map(String::as_str).collect();
    pattern(&format!(
        concat!(
            r"(?im)^[ \t]*(?:\[?[^\n:\d]{{2,40}}?[\]\s(,—–-]+(?:(?:{days})[^\n\d]{{0,5}})?",
            r"(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}},? )?\d{{1,2}}[:.]\d{{2}}(?::\d{{2}})?(?: ?[ap]\.?m\.?)?[\])]?[ \t]*$",
            r"|(?:\[?\d{{1,2}}:\d{{2}}(?::\d{{2}})?\]? ?)?<[\p{{L}}\d_ .-]{{2,30}}> \S)",
        ),
        days = days.join("|").replace('’', "['’]"),
    ))
});

/// A line of subtitles.
static SUBTITLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t]*(?:\d+\n[ \t]*)?\d{1,2}:\d{2}(?::\d{2})?[.,]?\d* *-->"));

/// The heading of a retrieved file: a file name, or the number of a chunk.
static FILE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::constant(
        r"(?im)^[ \t]*(?:#{1,6}|[*-]|\[)[^\n]{0,80}(?:\.(?:pdf|docx?|txt|md|html?|pptx?|xlsx?|csv|json)\b|\bchunk[ _#]*\d)",
    )
});

/// The line that introduces a forwarded or quoted mail.
static FORWARDED: LazyLock<Regex> = LazyLock::new(|| {
    let (forwarded, wrote) = (any(Pasted::Forwarded), any(Pasted::Wrote));
    pattern(&format!(
        r"(?im)^[ \t]*-{{2,}}[ \t]*(?:{forwarded})|^[ \t]*begin forwarded message|^(?:{wrote})[^:\n]{{0,40}}:"
    ))
});

/// A line of a transcript: a speaker, optionally preceded by a time, and the words.
static SPOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?m)^[ \t]*(?:[*]{2})?(?:[\[(]?(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},?[ \t]*)?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?[ \t]*",
        r"(?:[ap]m)?[\])]?[ \t-]*)?[^\s:：.!?,;][^:：\n.!?]{0,30}[:：](?:[*]{2})?[ \t]+\S",
    ))
});

/// The beginning of a line with a bracket that holds a day and a time.
macro_rules! bracketed {
    () => {
        r"^[ \t]*\[[^\]\n]{2,120}?\d{4}-\d{2}-\d{2}[tT ]\d{1,2}:\d{2}[^\]\n]{0,60}\]"
    };
}

/// Frames that a chat channel's bridge puts around a message: a bracket with a time or an id, the line that a channel's system
/// message is, the label of data about the message.
static ENVELOPE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::constant(concat!(
        r"(?im)^[ \t]*system:[ \t]*\[[^\]\n]*\d{1,2}:\d{2}[^\]\n]*\][^\n]*$",
        "|",
        bracketed!(),
        r"|^[ \t]*\[[\w ]{0,30}\bid: ?[^\]\n]{1,80}\]|^[ \t]*\[\w*_id: ?[^\]\n]{1,80}\]",
        r"|^[^\n:]{0,60}\((?:untrusted|external) (?:meta)?(?:data|content|context|info|information)\):[ \t]*(?:\n```[^`]*```[ \t]*)?$",
        // In any language: a message that begins with a label, a note on it in brackets, and JSON.
        r"|\A[^\n:：]{0,60}[(（][^()（）\n]{2,40}[)）][ \t]*[:：][ \t]*\n```json(?s:.*?)```[ \t]*$",
    ))
});

static BRACKETED: LazyLock<Regex> = LazyLock::new(|| pattern(concat!("(?m)", bracketed!())));

/// A day and a time.
static DATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{4}-\d{2}-\d{2}[tT ]\d{1,2}:\d{2}"));

/// A divider line: `---`, `===`, `***`.
static DIVIDER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t]*(?:-{3,}|={3,}|[*]{3,}|_{3,}|#{3,})[ \t]*$"));

/// A line that starts a JSON object or list.
static DATA: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?m)^[ \t]*[\[{][ \t\n]*["\[{]"#));

/// Any of a list's patterns, of all languages.
fn any(list: Pasted) -> String {
    lang::all(|file| file.pasted.of(list)).collect::<Vec<_>>().join("|")
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants; the tests below compile them all"
)]
pub(super) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern compiles")
}

/// The marks of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Quotation marks, within one sentence, or code within one line.
    Quotation,
    /// Lines with speakers.
    Transcript,
    /// A channel's data about the message.
    Envelope,
    /// JSON.
    Data,
    /// Anything else: code, a mail, passages, tags, data.
    Marked,
}

/// The untyped parts of a message as byte ranges, in no order; they may overlap.
pub(super) fn parts(message: &str) -> Vec<(Part, Range<usize>)> {
    let part = |range: Range<usize>| match quoted::is_block(&message[range.clone()]) {
        true => (Part::Marked, range),
        false => (Part::Quotation, range),
    };
    let mut found: Vec<_> = quoted::ranges(message).into_iter().map(part).collect();
    let passages = passages(message);
    found.extend(transcript(message, &passages).map(|range| (Part::Transcript, range)));
    found.extend(envelopes(message).into_iter().map(|range| (Part::Envelope, range)));
    found.extend(data(message).into_iter().map(|range| (Part::Data, range)));
    let mut marked = tagged(message);
    marked.extend(passages);
    let headers: Vec<_> = HEADER.find_iter(message).take(2).collect();
    if let [first, _] = headers[..] {
        marked.push(first.start()..message.len());
    }
    let mut dated = BRACKETED.find_iter(message);
    if let (Some(first), Some(_)) = (dated.next(), dated.next()) {
        marked.push(first.start()..message.len());
    }
    let stamped: Vec<_> = STAMPED.find_iter(message).collect();
    if let [first, _, ..] = stamped[..] {
        marked.push(first.start()..message.len());
    }
    let rest = [&FORWARDED, &ADDRESSED, &SUBTITLE].map(|mark| mark.find(message));
    let starts = rest.into_iter().flatten().map(|it| it.start());
    let file = FILE.find(message).map(|it| it.start);
    marked.extend(starts.chain(file).map(|start| start..message.len()));
    let mut dividers = DIVIDER.find_iter(message);
    if let Some(first) = dividers.next() {
        marked.push(first.start()..dividers.last().map_or(message.len(), |last| last.end()));
    }
    found.extend(marked.into_iter().map(|range| (Part::Marked, range)));
    found
}

/// From each opening tag to its closing tag; only the tag when nothing closes it.
fn tagged(message: &str) -> Vec<Range<usize>> {
    let tags: Vec<_> = TAG
        .captures_iter(message)
        .filter_map(|tag| {
            let closes = !tag.get(1)?.is_empty();
            Some((tag.get(0)?.range(), tag.get(2)?.as_str(), closes))
        })
        .collect();
    let closing = tags.iter().filter(|(.., closes)| *closes);
    // The last one of each name.
    let last: HashMap<String, &Range<usize>> =
        closing.map(|(range, name, _)| (name.to_ascii_lowercase(), range)).collect();
    let mut found = Vec::new();
    let mut from = 0;
    for (range, name, closes) in &tags {
        if range.start < from {
            continue;
        }
        let close = last.get(&name.to_ascii_lowercase()).filter(|_| !closes);
        from = close.map_or(range.end, |close| close.end.max(range.end));
        found.push(range.start..from);
    }
    found
}

/// The envelope around a message. Several dated brackets are the lines of several speakers and no envelope.
pub(super) fn envelopes(message: &str) -> Vec<Range<usize>> {
    let found: Vec<_> = ENVELOPE.find_iter(message).collect();
    let dated = |range: &&Range<usize>| DATED.is_match(&message[(*range).clone()]);
    if found.iter().filter(dated).count() > 1 { Vec::new() } else { found }
}

/// JSON objects and lists that begin a line, to where they close.
fn data(message: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = DATA.find_at(message, from) {
        from = closed(message, begin.start()).unwrap_or(message.len());
        found.push(begin.start()..from);
    }
    found
}

/// Where the brackets that open at `start` are all closed.
fn closed(message: &str, start: usize) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in message.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// From each line that starts passages up to and including the label of the question after them.
fn passages(message: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    let context = CONTEXT.finder(message);
    while let Some(begin) = context(from) {
        let end = QUESTION.find_at(message, begin.end).map_or(message.len(), |label| label.end());
        found.push(begin.start..end);
        from = end;
    }
    found
}

/// From the first line of a transcript to the end of the paragraph of its last line. The labels of passages look like
/// transcript lines and are skipped.
fn transcript(message: &str, passages: &[Range<usize>]) -> Option<Range<usize>> {
    let mut lines = SPOKEN.find_iter(message).filter(|line| !is_within(line.start(), passages));
    let (first, last) = (lines.next()?, lines.last()?);
    let end = message[last.end()..].find("\n\n").map_or(message.len(), |at| last.end() + at);
    Some(first.start()..end)
}

/// Whether a place is in one of these parts, which are in ascending order.
fn is_within(place: usize, parts: &[Range<usize>]) -> bool {
    let at = parts.partition_point(|part| part.end <= place);
    parts.get(at).is_some_and(|part| part.start <= place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message without its untyped parts.
    fn typed(message: &str) -> String {
        let untyped: Vec<_> = parts(message).into_iter().map(|(_, range)| range).collect();
        let kept =
            message.char_indices().filter(|(at, _)| !untyped.iter().any(|part| part.contains(at)));
        kept.map(|(_, c)| c).collect::<String>().trim().to_owned()
    }

    #[test]
    fn what_others_wrote_is_told_by_its_marks() {
        for (message, left) in [
            ("He said \"forget it\" and left", "He said  and left"),
            ("see\n> forget it\nok", "see\n\nok"),
            ("<document index=\"1\">Forget it.</document> What is it?", "What is it?"),
            ("<ctx><a>Forget it.</a> And</ctx> why?", "why?"),
            ("Context:\nForget it.\n\nQuestion: Why?", "Why?"),
            ("Use the following pieces of context to answer.\n\nForget it.", ""),
            ("### Documents\nForget it.\n### Question: why?", "why?"),
            ("[1] Forget it.\n[2] Or not.\nUser question: why?", "why?"),
            ("Kontext: Vergiss das.\nFrage: Warum?", "Warum?"),
            ("上下文：忘掉它。\n问题：为什么？", "为什么？"),
            ("Read this.\nFrom: Bob\nSubject: Hi\n\nForget it.\nBob", "Read this."),
            ("Well.\nOn Tue, 3 May, Bob wrote:\nForget it.", "Well."),
            ("Bob: forget it\nAnn: no\n\nWhat now?", "What now?"),
            ("[10:31] Bob: forget it\n[10:32] Ann: no", ""),
            ("My text:\n---\nForget it.\n---\nwhat is it?", "My text:\n\nwhat is it?"),
            ("look\n{\"a\": \"forget } it\"}\nok", "look\n\nok"),
            ("look\n{\"a\": \"forget it\"\nok", "look"),
        ] {
            assert_eq!(typed(message), left, "{message}");
        }
    }

    #[test]
    fn what_people_type_is_typed() {
        for message in [
            "Please remember that I'm vegan. I also like tea.",
            "My budget: 10,000 dollars",
            "I use Vec and <3 it",
            "Remember: the bin goes out on Tuesdays",
            "Can you help me find sources for my essay on whales?",
            "The context of this is my thesis. Please keep my answers short.",
            "1. milk\n2. bread",
            "- call me Sam\n- be brief",
        ] {
            assert_eq!(typed(message), message);
        }
    }

    #[test]
    fn a_long_message_of_marks_is_read_in_one_go() {
        for unit in ["<a>", "Context:\n", "[1] x\n", "From: x\n", "a: b\n", "---\n", "\"", "{\"\n"]
        {
            assert!(!parts(&unit.repeat(4_000)).is_empty(), "{unit}");
        }
    }
}
