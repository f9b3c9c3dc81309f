//! From a message to its requests: sentence by sentence, in the user's own words.

use std::ops::Range;

use crate::{
    command::{
        commands::Commands,
        masked::{Masked, is_in_the_middle},
        patterns::List,
        request::{self, Request},
        subject::Subject,
    },
    greeting::is_greeting,
};

/// Sentences that are looked at: more is pasted text.
const MAX_SENTENCES: usize = 32;

/// The longest thing to be remembered, in characters.
const MAX_STATEMENT: usize = 500;

/// Leads before one request.
const MAX_LEADS: usize = 5;

/// A message that is read.
pub(super) struct Reader<'a> {
    message: &'a str,
    masked: Masked,
}

/// A request as it stands in a message.
enum Asked {
    Remember(Range<usize>),
    RememberBefore,
    ForgetBefore,
    Forget(Subject),
}

impl<'a> Reader<'a> {
    pub(super) fn of(message: &'a str) -> Self {
        Self { message, masked: Masked::of(message) }
    }

    pub(super) fn read(&self) -> Commands {
        let mut commands = Commands::default();
        let mut rest: Vec<&str> = Vec::new();
        let mut before: Option<Range<usize>> = None;
        let sentences = self.masked.sentences().into_iter().take(MAX_SENTENCES);
        let read: Vec<_> = sentences.map(|it| (self.requests(it.clone()), it)).collect();
        let forgets = |asked: &Asked| matches!(asked, Asked::Forget(_));
        let forgetting: Vec<bool> = read.iter().map(|(it, _)| it.iter().any(forgets)).collect();
        for (at, (asked, sentence)) in read.into_iter().enumerate() {
            let is_pasted = is_in_the_middle(&forgetting, at);
            if !asked.is_empty() && (is_pasted || !self.masked.speaks(&sentence, self.message)) {
                commands.others = true;
                before = Some(sentence);
                continue;
            }
            if asked.is_empty() {
                let text = &self.masked.text()[sentence.clone()];
                let task = List::Task.is_match(text);
                // A task may be about what was said before it: "… How do you say that in Spanish?"
                if task {
                    commands.forget.clear();
                }
                // Or it hands over a text; so does a speaker's name.
                if task || text.ends_with([':', '：']) {
                    rest.push(self.said(sentence.start..self.message.len()).trim());
                    break;
                }
                rest.push(self.said(sentence.clone()));
            }
            for asked in asked {
                match asked {
                    Asked::Remember(what) => commands.remember.extend(self.statement(what)),
                    // In a long message the sentence before may be pasted.
                    Asked::RememberBefore if self.masked.is_typed_whole() => match before.clone() {
                        Some(before) if !is_greeting(self.said(before.clone())) => {
                            commands.remember.extend(self.statement(before));
                        }
                        _ => commands.answer = true,
                    },
                    Asked::RememberBefore => {}
                    Asked::ForgetBefore => commands.withdrawn = true,
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

    /// "My flight is on Friday, remember that." "I failed the exam, forget that."
    fn told_and_asked(&self, sentence: &Range<usize>) -> Option<Asked> {
        let text = &self.masked.text()[sentence.clone()];
        let joints = [", ", "; ", " - ", " – ", " — ", "—", "，", "、"];
        let (at, joint) = joints.iter().filter_map(|j| Some((text.rfind(j)?, j.len()))).max()?;
        let asking = self.masked.trimmed(sentence.start + at + joint..sentence.end);
        if self.without_leads(sentence.clone()).0.start >= asking.start {
            // Nothing is told before it: "Great, save that."
            return None;
        }
        let (range, modal) = self.without_leads(asking);
        let asking = self.bare(range);
        if is_question(text) && !modal {
            None
        } else if List::RememberBefore.is_match(asking) {
            Some(Asked::Remember(sentence.start..sentence.start + at))
        } else {
            List::ForgetBefore.is_match(asking).then_some(Asked::ForgetBefore)
        }
    }

    fn request(&self, sentence: Range<usize>) -> Option<Asked> {
        let question = is_question(&self.masked.text()[sentence.clone()]);
        let (range, can) = self.without_leads(sentence);
        if question && !can {
            return None;
        }
        let at = |what: Range<usize>| range.start + what.start..range.start + what.end;
        Some(match request::read(self.bare(range.clone()), can)? {
            Request::Remember(what) => Asked::Remember(at(what)),
            Request::RememberBefore => Asked::RememberBefore,
            Request::ForgetBefore => Asked::ForgetBefore,
            Request::ForgetFact(what) => Asked::Forget(Subject::fact(self.said(at(what)))),
            Request::ForgetTopic(what) => Asked::Forget(Subject::topic(self.said(at(what)))),
        })
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

    /// The user's own words in a place.
    fn said(&self, range: Range<usize>) -> &str {
        self.message.get(range).unwrap_or_default()
    }

    fn statement(&self, range: Range<usize>) -> Option<String> {
        let words = self.said(range).split_whitespace().collect::<Vec<_>>().join(" ");
        let fits = words.chars().nth(MAX_STATEMENT).is_none();
        (fits && words.chars().any(char::is_alphanumeric)).then_some(words)
    }
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟', '吗', '嗎'])
}
