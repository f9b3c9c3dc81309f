//! Generates requests: conversations of a given size that end in a greeting or in a unique
//! question.

use super::plan::{Case, FIRST_TOKEN_MS, Message};

/// The vocabulary of the seeded memories (`examples/seed_memories.rs`): a line of topics, a line of
/// places. Each word, like each month and year, is one token of all-MiniLM-L6-v2, so every question
/// has 16 tokens with the two special ones.
const VOCABULARY: &str = include_str!("../../../testdata/bench/vocabulary.txt");
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The bodies of one case.
pub(super) struct Template {
    before: String,
    after: String,
    message: Message,
}

impl Template {
    /// A conversation of about `case.bytes` bytes.
    pub(super) fn of(case: &Case) -> Self {
        const SAID: &str = "I was thinking about how we would go on with the plan from last week and wrote some of it \
                            down so that we can look at it together.";
        const ANSWERED: &str = "That sounds reasonable. Shall we go through it point by point, or would you rather \
                                begin with what has to be decided first?";
        let mut before = format!(
            r#"{{"model":"echo","stream":{},"messages":[{{"role":"system","content":"You are a helpful assistant."}}"#,
            case.streamed
        );
        let after = r#""}]}"#.to_owned();
        let mut turn = 0;
        loop {
            let more = format!(
                r#",{{"role":"user","content":"{turn}. {SAID}"}},{{"role":"assistant","content":"{ANSWERED}"}}"#
            );
            // The last message has about 100 bytes.
            if before.len() + more.len() + after.len() + 100 > case.bytes {
                break;
            }
            before.push_str(&more);
            turn += 1;
        }
        before.push_str(r#",{"role":"user","content":""#);
        Self { before, after, message: case.message }
    }

    /// The body of request `number` from `user`.
    pub(super) fn body(&self, number: u64, user: u64) -> String {
        let message = match self.message {
            Message::Greeting => "Hello there!".to_owned(),
            Message::Question => question(number, user),
        };
        let mut body = String::with_capacity(self.before.len() + message.len() + self.after.len());
        body.push_str(&self.before);
        body.push_str(&message);
        body.push_str(&self.after);
        body
    }
}

/// A question about the place of the user's first memories, different for every number; after
/// 46,080 they repeat, long after caches have evicted the first.
fn question(number: u64, user: u64) -> String {
    let mut lines = VOCABULARY.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let (topics, places) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let pick = |words: &[&'static str], number: u64| words[number as usize % words.len()];
    let month = pick(&MONTHS, number);
    let year = 1900 + number / 12 % 120;
    let topic = pick(&topics, number / 12 / 120);
    let place = pick(&places, user);
    format!("What did I tell you about the {topic} in {place} for {month} {year}?")
}

/// The user of request `number`; consecutive requests have unrelated users.
pub(super) fn user(number: u64, users: u64) -> u64 {
    // SplitMix64's finaliser.
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % users
}

/// The header that tells the model double when to answer; for streams only.
pub(super) fn directive(case: &Case) -> Option<String> {
    case.streamed.then(|| format!("first_token_ms={FIRST_TOKEN_MS}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::plan::Plan;
    use super::*;

    #[test]
    fn bodies_are_conversations_of_the_given_size() {
        for case in Plan::full().cases() {
            let body = Template::of(&case).body(7, 0);
            let off = body.len().abs_diff(case.bytes);
            assert!(off < 400, "{} bytes for {}", body.len(), case.bytes);
            let json: serde_json::Value = serde_json::from_str(&body).unwrap();
            assert_eq!(json["messages"].as_array().unwrap().last().unwrap()["role"], "user");
        }
    }

    #[test]
    fn questions_do_not_repeat_within_cache_lifetime() {
        let questions: HashSet<String> = (0..46_080).map(|number| question(number, 3)).collect();
        assert_eq!(questions.len(), 46_080);
    }

    #[test]
    fn all_users_send_requests() {
        let users: HashSet<u64> = (0..2_000).map(|number| user(number, 100)).collect();
        assert_eq!(users.len(), 100);
    }
}
