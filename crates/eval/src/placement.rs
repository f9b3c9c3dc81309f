//! `memgate eval placement`: measures how much of a prompt a model server can reuse from the
//! previous request, for each placement of the context. Contexts come from recall and edits from
//! the gateway's code.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{
    count::percent,
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::{Scenario, Turn, ask, message, messages, tell},
    table::Sheet,
};
use memgate_config::MemoryConfig;
use memgate_core::memory::Owner;
use memgate_dialect::{Dialect, Placement};
use memgate_recall::tokens;

/// Number of turns of a conversation.
const TURNS: usize = 20;
/// A system prompt, as in most applications.
const INSTRUCTIONS: &str = "You are a helpful assistant. Answer in the language of the question, in a few sentences. \
     Say so when you do not know something, and ask back when a question can be understood in several ways.";

/// The variants; `None` is the conversation without memory.
const PLACEMENTS: [(&str, Option<Placement>); 4] = [
    ("without", None),
    ("system", Some(Placement::System)),
    ("before_last_user", Some(Placement::BeforeLastUser)),
    ("last_user", Some(Placement::LastUser)),
];

/// Arguments of `memgate eval placement`.
#[derive(Debug, clap::Args)]
pub struct Placements {
    /// Scenarios: JSON Lines (testdata/scenarios/README.md). Twenty at a time are told to one user,
    /// who then asks their questions in one conversation
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Evaluation for Placements {
    const LEARNS: bool = true;
    type Rows = Vec<Scenario>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Scenario>, String)> {
        let (scenarios, sha256) = data::rows::<Scenario>(&self.file)?;
        ensure!(scenarios.len() >= TURNS, "a conversation requires {TURNS} scenarios");
        Ok((scenarios, sha256))
    }

    async fn measure(
        &self,
        memory: &Services,
        scenarios: &Vec<Scenario>,
        digests: Digests,
    ) -> Result<Report> {
        let rest = scenarios.chunks_exact(TURNS).remainder().iter();
        let why = |left: &Scenario| format!("{}: the last conversation is not full", left.id);
        let unmeasured = rest.map(why).collect();
        Ok(Report { unmeasured, ..Report::of(&held(memory, scenarios).await?, digests)? })
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }

    fn unmeasured(report: &Report) -> &[String] {
        &report.unmeasured
    }
}

/// A request of a conversation and its context.
struct Asked {
    body: Vec<u8>,
    context: String,
}

/// Replays the conversations: tells the stories, then asks the questions.
async fn held(memory: &Services, scenarios: &[Scenario]) -> Result<Vec<Vec<Asked>>> {
    let mut conversations = Vec::new();
    for (number, stories) in scenarios.chunks_exact(TURNS).enumerate() {
        let owner = Owner::of_user(&format!("user {number}"))?;
        for story in stories {
            tell(memory, &owner, story).await.with_context(|| story.id.clone())?;
        }
        let mut said: Vec<Turn> = Vec::new();
        let mut requests = Vec::new();
        for story in stories {
            let recalled = ask(memory, &owner, &story.within(&said)).await;
            let Turn { user, assistant } = story.as_turn();
            let context = recalled.with_context(|| story.id.clone())?.context.text;
            requests.push(Asked { body: body(&said, &user), context });
            said.push(Turn { user, assistant });
        }
        conversations.push(requests);
    }
    Ok(conversations)
}

fn body(before: &[Turn], user: &str) -> Vec<u8> {
    let mut all = vec![message("system", INSTRUCTIONS)];
    all.extend(messages(before, user));
    json!({"model": "m", "messages": all}).to_string().into_bytes()
}

/// Prefix lengths shared by consecutive requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shared {
    /// Number of prompts that were followed by another.
    prompts: usize,
    /// Their bytes, and how many of them are a prefix of the next prompt.
    bytes: [usize; 2],
    /// Their tokens, and how many of them are a prefix of the next prompt.
    tokens: [usize; 2],
    /// The tokens of the last of these prompts in each conversation.
    last: [usize; 2],
    /// Number of tokens of the next prompts after the shared prefix.
    anew: usize,
}

impl std::iter::Sum for Shared {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        let both = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        each.fold(Self::default(), |sum, it| Self {
            prompts: sum.prompts + it.prompts,
            bytes: both(sum.bytes, it.bytes),
            tokens: both(sum.tokens, it.tokens),
            last: both(sum.last, it.last),
            anew: sum.anew + it.anew,
        })
    }
}

/// Prefix reuse, as `--json` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Shares {
    /// Share of a prompt's bytes that is a prefix of the next prompt.
    bytes: f64,
    /// Share of its tokens.
    tokens: f64,
    /// Share of the tokens of the second to last prompt of each conversation.
    last: f64,
    /// Mean number of tokens of a prompt after the prefix shared with the previous one.
    anew: f64,
}

impl Shared {
    fn shares(&self) -> Shares {
        let share = |of: usize, all: usize| of as f64 / (all.max(1)) as f64;
        Shares {
            bytes: share(self.bytes[1], self.bytes[0]),
            tokens: share(self.tokens[1], self.tokens[0]),
            last: share(self.last[1], self.last[0]),
            anew: share(self.anew, self.prompts),
        }
    }
}

/// Prefix reuse within one conversation.
fn shared(requests: &[Asked], placement: Option<Placement>) -> Result<Shared> {
    let prompts = requests.iter().map(|request| prompt(request, placement));
    let prompts = prompts.collect::<Result<Vec<_>>>()?;
    let pairs = prompts.iter().zip(prompts.iter().skip(1)).map(|(before, after)| {
        let same = common(before, after);
        let known = tokens(same);
        Shared {
            prompts: 1,
            bytes: [before.len(), same.len()],
            tokens: [tokens(before), known],
            last: [0, 0],
            anew: tokens(after).saturating_sub(known),
        }
    });
    let pairs: Vec<Shared> = pairs.collect();
    let last = pairs.last().map_or([0, 0], |pair| pair.tokens);
    Ok(Shared { last, ..pairs.into_iter().sum() })
}

/// The longest common prefix.
fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    &a[..a.floor_char_boundary(same)]
}

/// The prompt of an edited request: a plain chat template, all messages in order, and the start of
/// the reply.
fn prompt(asked: &Asked, placement: Option<Placement>) -> Result<String> {
    let request = memgate_dialect::read(Dialect::Chat, &asked.body)?;
    let context = placement.map(|placement| (asked.context.as_str(), placement));
    let body: Value = serde_json::from_slice(&request.plan(context).apply(&asked.body))?;
    let messages = body["messages"].as_array().context("the body has no messages")?;
    let mut prompt = String::new();
    for message in messages {
        let text = |key: &str| message[key].as_str().context("a message has an unexpected format");
        prompt += &format!("<|im_start|>{}\n{}<|im_end|>\n", text("role")?, text("content")?);
    }
    Ok(prompt + "<|im_start|>assistant\n")
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(serialize_with = "by_name")]
    placements: Vec<(&'static str, Shares)>,
    conversations: usize,
    turns: usize,
    /// Number of requests with a context.
    contexts: usize,
    /// The scenarios after the last full conversation.
    unmeasured: Vec<String>,
    #[serde(flatten)]
    digests: Digests,
}

fn by_name<S: Serializer>(named: &[(&'static str, Shares)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(named.iter().copied())
}

impl Report {
    fn of(conversations: &[Vec<Asked>], digests: Digests) -> Result<Self> {
        let placements = PLACEMENTS.into_iter().map(|(name, placement)| {
            let each = conversations.iter().map(|requests| shared(requests, placement));
            Ok((name, each.sum::<Result<Shared>>()?.shares()))
        });
        Ok(Self {
            placements: placements.collect::<Result<_>>()?,
            conversations: conversations.len(),
            turns: TURNS,
            contexts: conversations.iter().flatten().filter(|it| !it.context.is_empty()).count(),
            unmeasured: Vec::new(),
            digests,
        })
    }

    /// The result as text.
    fn told(&self) -> String {
        let Self { conversations, turns, contexts, .. } = self;
        let mut sheet = Sheet::of(&self.digests);
        sheet.line(format_args!(
            "{conversations} conversations of {turns} turns, {contexts} of their requests with a context"
        ));
        let row = |(name, shares): &(&str, Shares)| {
            let Shares { bytes, tokens, last, anew } = *shares;
            let [bytes, tokens, last] = [bytes, tokens, last].map(|share| percent(Some(share)));
            [(*name).to_owned(), bytes, tokens, last, format!("{anew:.0}")]
        };
        sheet.table(
            ["shared with next", "bytes", "tokens", "last prompt", "new tokens"],
            self.placements.iter().map(row),
        );
        sheet.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgate_core::fence;

    /// A conversation with a different context for every message.
    fn conversation() -> Vec<Asked> {
        let turn = |number: usize| Turn {
            user: format!("Question {number}: what did I say of it?"),
            assistant: format!("You said {number}."),
        };
        let turns: Vec<Turn> = (0..TURNS).map(turn).collect();
        let asked = |number: usize| Asked {
            body: body(&turns[..number], &turns[number].user),
            context: fence::render(&[], &[format!("{number} is what you said")]),
        };
        (0..TURNS).map(asked).collect()
    }

    #[test]
    fn placements_at_the_last_user_message_keep_the_prefix() {
        let requests = conversation();
        for placement in [Placement::BeforeLastUser, Placement::LastUser] {
            let prompts: Vec<String> =
                requests.iter().map(|it| prompt(it, Some(placement)).unwrap()).collect();
            for (number, pair) in prompts.windows(2).enumerate() {
                let same = common(&pair[0], &pair[1]);
                let earlier = pair[0].find(fence::OPEN).unwrap();
                assert!(same.len() >= earlier, "{placement:?}, turn {number}");
                assert!(number == 0 || same.contains(&format!("You said {}.", number - 1)));
            }
        }
    }

    #[test]
    fn placement_in_the_system_message_ends_the_prefix_there() {
        let shared = |placement| shared(&conversation(), placement).unwrap().shares();
        assert_eq!(shared(None).tokens, 1.0);
        let system = shared(Some(Placement::System));
        let last = shared(Some(Placement::LastUser));
        let before = shared(Some(Placement::BeforeLastUser));
        assert!(system.tokens < 0.4 && system.anew > last.anew, "{system:?} {last:?}");
        assert!(last.tokens > 0.8 && before.tokens > 0.8, "{last:?} {before:?}");
    }

    #[test]
    fn json_and_text_agree() {
        let digests = Digests { data_sha256: "d1".into(), model_sha256: "m1".into() };
        let report = Report::of(&[conversation()], digests).unwrap();
        let (json, told) = (serde_json::to_value(&report).unwrap(), report.told());
        assert_eq!(json["placements"]["without"]["tokens"], 1.0);
        assert_eq!((&json["conversations"], &json["contexts"]), (&json!(1), &json!(TURNS)));
        assert_eq!((&json["data_sha256"], &json["model_sha256"]), (&json!("d1"), &json!("m1")));
        assert!(
            told.contains("d1") && told.contains("m1") && told.contains("\nlast_user"),
            "{told}"
        );
    }
}
