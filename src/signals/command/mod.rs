//! What a message asks of memory itself: "remember that …", "forget that …".
//!
//! Only the patterns of patterns.txt decide, and only on what the user says in their own words:
//! quotations, code, pasted texts and questions ask for nothing. When in doubt, nothing is asked.
//! A pure function, because recall and capture see a message on two streams. It must never know
//! what is remembered.

mod masked;
mod patterns;
mod subject;

#[cfg(test)]
mod tests;

use std::ops::Range;

use masked::Masked;
use patterns::List;
pub use subject::Subject;

/// Longer messages are pasted for the most part, in characters.
const MAX_CHARS: usize = 2_000;

/// Sentences that are looked at: more is pasted text.
const MAX_SENTENCES: usize = 32;

/// The longest thing to be remembered, in characters.
const MAX_STATEMENT: usize = 500;

/// The longest name of a topic to be forgotten, in words; more is no name.
const MAX_TOPIC_WORDS: usize = 7;

/// Leads before one request.
const MAX_LEADS: usize = 5;

/// What a message asks of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// To be remembered, in the user's words.
    pub remember: Vec<String>,
    /// To be forgotten.
    pub forget: Vec<Subject>,
    /// The message without these requests.
    pub rest: String,
}

/// The kinds of requests in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Something is to be remembered.
    Remember,
    /// Something is to be forgotten.
    Forget,
    /// Both.
    Both,
}

impl Command {
    /// The name in metadata and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Forget => "forget",
            Self::Both => "remember+forget",
        }
    }
}

impl Commands {
    /// What a message asks of memory.
    #[must_use]
    pub fn of(message: &str) -> Self {
        let long = message.len() > MAX_CHARS && message.chars().nth(MAX_CHARS).is_some();
        if long || !List::Stem.is_match(message) {
            return Self::default();
        }
        Reader { message, masked: Masked::of(message) }.read()
    }

    /// Which kinds there are.
    #[must_use]
    pub fn kind(&self) -> Option<Command> {
        match (self.remember.is_empty(), self.forget.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Command::Remember),
            (true, false) => Some(Command::Forget),
            (false, false) => Some(Command::Both),
        }
    }
}

struct Reader<'a> {
    message: &'a str,
    masked: Masked,
}

/// A request as it stands in a message.
enum Asked {
    Remember(Range<usize>),
    /// What was said before it.
    RememberBefore,
    Forget(Subject),
}

impl Reader<'_> {
    fn read(&self) -> Commands {
        let mut commands = Commands::default();
        let mut rest: Vec<&str> = Vec::new();
        let mut before: Option<Range<usize>> = None;
        let sentences = self.masked.sentences();
        for sentence in sentences.into_iter().take(MAX_SENTENCES) {
            let text = &self.masked.text()[sentence.clone()];
            // A text that is handed over, or a speaker's name before what they said.
            if List::Task.is_match(text) || text.ends_with([':', '：']) {
                let handed_over = self.message[sentence.start..].trim();
                rest.push(handed_over);
                break;
            }
            let asked = self.requests(sentence.clone());
            if asked.is_empty() {
                rest.push(&self.message[sentence.clone()]);
            }
            for asked in asked {
                match asked {
                    Asked::Remember(what) => commands.remember.extend(self.statement(what)),
                    Asked::RememberBefore => {
                        commands.remember.extend(before.clone().and_then(|b| self.statement(b)));
                    }
                    Asked::Forget(subject) => commands.forget.push(subject),
                }
            }
            before = Some(sentence);
        }
        commands.remember.dedup();
        commands.forget.dedup();
        commands.rest = rest.join(" ");
        commands
    }

    /// The requests in a sentence. One follows another only after one.
    fn requests(&self, sentence: Range<usize>) -> Vec<Asked> {
        let text = &self.masked.text()[sentence.clone()];
        if let Some(told) = self.told_and_asked(&sentence) {
            return vec![told];
        }
        let cut = List::AndThen.find(text).filter(|cut| cut.start > 0).map(|cut| cut.start);
        let first = sentence.start..sentence.start + cut.unwrap_or(text.len());
        let Some(asked) = self.request(first) else { return Vec::new() };
        let mut all = vec![asked];
        if let Some(cut) = cut {
            let joint = text[cut..].trim_start_matches([',', ';', ' ', '–', '—', '-']);
            all.extend(self.requests(sentence.end - joint.len()..sentence.end));
        }
        all
    }

    /// "My flight is on Friday, remember that."
    fn told_and_asked(&self, sentence: &Range<usize>) -> Option<Asked> {
        let text = &self.masked.text()[sentence.clone()];
        let joints = [", ", "; ", " - ", " – ", " — ", "—", "，", "、"];
        let (at, joint) = joints.iter().filter_map(|j| Some((text.rfind(j)?, j.len()))).max()?;
        let asking = self.masked.trimmed(sentence.start + at + joint..sentence.end);
        let (range, modal) = self.without_leads(asking);
        let asks = List::RememberBefore.is_match(self.bare(range.clone()));
        (asks && (modal || !is_question(text)))
            .then(|| Asked::Remember(sentence.start..sentence.start + at))
    }

    fn request(&self, sentence: Range<usize>) -> Option<Asked> {
        let question = is_question(&self.masked.text()[sentence.clone()]);
        let (range, modal) = self.without_leads(sentence);
        if question && !modal {
            return None;
        }
        let text = self.bare(range.clone());
        let at = |what: Range<usize>| range.start + what.start..range.start + what.end;
        let said = |what: &Range<usize>| &self.masked.text()[at(what.clone())];
        if List::RememberBefore.is_match(text) {
            return Some(Asked::RememberBefore);
        }
        let find = |list: List, fits: &dyn Fn(&str) -> bool| {
            list.captured(text).into_iter().find(|what| fits(said(what)))
        };
        let clause = |what: &str| {
            !List::Talk.is_match(what) && List::Clause.is_match(what) && !List::Thing.is_match(what)
        };
        // Other languages have a word for "that" which is no "that film".
        let tells = |what: &str| !List::Talk.is_match(what) && (!is_english(text) || clause(what));
        let mine = |what: &str| {
            !List::Talk.is_match(what) && (!is_english(text) || clause(what)) && is_mine(what)
        };
        let rule = |what: &str| List::Rule.is_match(what.strip_prefix("to ").unwrap_or(what));
        if let Some(what) = find(List::RememberRule, &rule) {
            return Some(Asked::Remember(at(what)));
        }
        let remember =
            if modal { find(List::Remember, &mine) } else { find(List::Remember, &tells) };
        let own = |what: &str| List::Subject.is_match(what) && mine(what);
        let remember = remember.or_else(|| find(List::RememberBare, &own));
        if let Some(what) = remember.or_else(|| find(List::RememberMine, &mine)) {
            return Some(Asked::Remember(at(what)));
        }
        self.forget(text, &find, range.start)
    }

    fn forget(
        &self,
        text: &str,
        find: &dyn Fn(List, &dyn Fn(&str) -> bool) -> Option<Range<usize>>,
        start: usize,
    ) -> Option<Asked> {
        // "… from your memory" says for certain what is meant, but it is not part of the name.
        let fact = |what: &str| !List::Talk.is_match(what) && !List::Aside.is_match(what);
        let whose = |what: &str| {
            let tells = List::Subject.is_match(what) || List::Named.is_match(what);
            fact(what)
                && tells
                && (!is_english(text) || List::Clause.is_match(what) || List::Named.is_match(what))
        };
        let topic = |what: &str| {
            fact(what)
                && what.split_whitespace().count() <= MAX_TOPIC_WORDS
                && !what.contains([',', ';', ':'])
        };
        let my_topic = |what: &str| topic(what) && List::Mine.is_match(what);
        let words =
            |what: Range<usize>| self.message[start + what.start..start + what.end].to_owned();
        if let Some(what) = find(List::ForgetTopic, &topic) {
            return Some(Asked::Forget(Subject::topic(&words(what))));
        }
        let told = find(List::ForgetFact, &fact).or_else(|| find(List::ForgetMine, &whose));
        if let Some(what) = told {
            return Some(Asked::Forget(Subject::fact(&words(what))));
        }
        let what = find(List::ForgetMyTopic, &my_topic)?;
        Some(Asked::Forget(Subject::topic(&words(what))))
    }

    /// A sentence without leads, and whether it asks whether something can be done.
    fn without_leads(&self, mut range: Range<usize>) -> (Range<usize>, bool) {
        let mut modal = false;
        for _ in 0..MAX_LEADS {
            let text = &self.masked.text()[range.clone()];
            if let Some(ask) = List::Ask.find(text) {
                modal = true;
                range.start += ask.end;
            } else if let Some(lead) = List::Lead.find(text) {
                range.start += lead.end;
            } else {
                break;
            }
        }
        (range, modal)
    }

    /// The words of a request without courtesy and marks at its end.
    fn bare(&self, range: Range<usize>) -> &str {
        let marks = |c: char| c.is_whitespace() || ".!?…。！？؟।,;，；🙏".contains(c);
        let mut text = self.masked.text()[range].trim_end_matches(marks);
        for _ in 0..MAX_LEADS {
            let Some(tail) = List::Tail.find(text).filter(|tail| tail.start > 0) else { break };
            // Only whole words.
            let before = &text[..tail.start];
            let cut = before.chars().next_back().zip(text[tail.start..].chars().next());
            if cut.is_some_and(|(a, b)| a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric()) {
                break;
            }
            text = before.trim_end_matches(marks);
        }
        text
    }

    fn statement(&self, range: Range<usize>) -> Option<String> {
        let words = self.message[range].split_whitespace().collect::<Vec<_>>().join(" ");
        let fits = words.chars().nth(MAX_STATEMENT).is_none();
        (fits && words.chars().any(char::is_alphanumeric)).then_some(words)
    }
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟', '吗', '嗎'])
}

/// English alone says "that" of clauses and of things alike.
fn is_english(request: &str) -> bool {
    let stem = [
        "remember", "memori", "forget", "note", "keep", "bear", "for ", "make", "take", "always",
        "do not", "don", "never", "stop", "quit", "delete", "remove", "erase", "you ",
    ];
    let lower = request.to_lowercase();
    stem.iter().any(|stem| lower.starts_with(stem))
}

/// Whether a clause speaks of the speaker.
fn is_mine(what: &str) -> bool {
    super::is_personal(what)
}
