//! Properties of edits over generated requests, against an oracle that edits trees.

use proptest::prelude::*;

use crate::{
    Ask, Dialect, read,
    seats::{Placed, Placement},
    tests::json_text::{Tree, anything, gaps, key, literal, means},
};

const CONTEXT: &str = "<memory-context>\n- a \"b\" \\ ☂\n</memory-context>";
const FIELDS: [&str; 3] = ["memory_config", "memory_context", "auto_store"];
const PLACEMENTS: [Placement; 3] =
    [Placement::System, Placement::BeforeLastUser, Placement::LastUser];

type Member = (String, Tree);

fn member(
    name: &'static str,
    value: impl Strategy<Value = Tree> + 'static,
) -> BoxedStrategy<Member> {
    (key(name), value).boxed()
}

fn scalar(written: &'static str) -> BoxedStrategy<Tree> {
    Just(Tree::Scalar(written.to_owned())).boxed()
}

fn text() -> BoxedStrategy<Tree> {
    literal().prop_map(Tree::Scalar).boxed()
}

fn object(members: Vec<BoxedStrategy<Member>>) -> BoxedStrategy<Tree> {
    prop::sample::subsequence(members.clone(), 0..=members.len())
        .prop_flat_map(|members| members)
        .prop_shuffle()
        .prop_map(Tree::Object)
        .boxed()
}

fn content(dialect: Dialect) -> BoxedStrategy<Tree> {
    let kind = if dialect == Dialect::Chat { r#""text""# } else { r#""input_text""# };
    let part = object(vec![
        member("type", scalar(kind)),
        member("text", text()),
        member("image_url", anything()),
    ]);
    prop_oneof![
        4 => text(),
        2 => prop::collection::vec(part, 0..3).prop_map(Tree::Array),
        1 => scalar("null"),
        1 => anything(),
    ]
    .boxed()
}

fn message(dialect: Dialect) -> BoxedStrategy<Tree> {
    let role = prop::sample::select(vec![
        r#""user""#,
        r#""\u0075ser""#,
        r#""system""#,
        r#""developer""#,
        r#""assistant""#,
        r#""tool""#,
        "null",
    ])
    .prop_map(|role| Tree::Scalar(role.to_owned()));
    let extra = prop::collection::vec((literal(), anything()), 0..2);
    // Role and content mostly once, sometimes twice.
    let content_of = move || member("content", content(dialect));
    let twice = prop_oneof![5 => Just(false), 1 => Just(true)];
    (member("role", role), content_of(), content_of(), twice, extra)
        .prop_map(|(role, content, again, twice, mut members)| {
            members.extend([role, content]);
            members.extend(twice.then_some(again));
            members
        })
        .prop_shuffle()
        .prop_map(Tree::Object)
        .boxed()
}

fn conversation(dialect: Dialect) -> BoxedStrategy<Tree> {
    prop::collection::vec(message(dialect), 0..5).prop_map(Tree::Array).boxed()
}

/// Requests that can be read, with our fields right, repeated or missing.
fn request(dialect: Dialect) -> BoxedStrategy<Tree> {
    let config = object(vec![
        member("enabled", scalar("true")),
        member("memory_types", scalar("[ \"semantic\" ,\"}\" ]")),
        member("retrieval_limit", scalar("7")),
        member("auto_store", scalar("null")),
    ]);
    let mut members = vec![
        member("model", text()),
        member("seed", anything()),
        member("metadata", anything()),
        member("memory_config", config.clone()),
        member("memory_config", config),
        member("memory_context", object(vec![member("user_id", scalar("\"u\""))])),
        member("auto_store", scalar("false")),
        (literal(), anything()).prop_filter("ours", |(key, _)| !ours(key)).boxed(),
    ];
    match dialect {
        Dialect::Chat => {
            members.push(member("messages", conversation(dialect)));
            members.push(member("messages", conversation(dialect)));
        }
        Dialect::Responses => {
            members.push(member("input", prop_oneof![text(), conversation(dialect)]));
            members.push(member("input", prop_oneof![text(), conversation(dialect)]));
            members.push(member("instructions", prop_oneof![text(), scalar("null"), anything()]));
            members.push(member("prompt", prop_oneof![scalar("null"), anything()]));
        }
    }
    object(members)
}

fn ours(key: &str) -> bool {
    FIELDS.iter().any(|field| means(key, field))
}

/// The request without our fields and with the context placed, by the rules of the contract.
fn expected(dialect: Dialect, request: &Tree, placement: Placement) -> Option<Tree> {
    let mut tree = without_ours(request);
    let list = if dialect == Dialect::Chat { "messages" } else { "input" };
    let part = if dialect == Dialect::Chat { "text" } else { "input_text" };
    if dialect == Dialect::Responses && placement == Placement::System {
        let prompt = tree.get("prompt").is_some();
        let instructions = tree.get("instructions").cloned();
        return match instructions {
            Some(Tree::Scalar(written)) if written.starts_with('"') => {
                *tree.get_mut("instructions")? = add(&Tree::Scalar(written), part, false)?;
                Some(tree)
            }
            Some(_) => None,
            None if prompt => expected(dialect, request, Placement::BeforeLastUser),
            None => {
                let Tree::Object(members) = &mut tree else { return None };
                match members.iter_mut().rev().find(|(key, _)| means(key, "instructions")) {
                    Some((_, null)) => *null = Tree::string(CONTEXT),
                    None => members.insert(0, named("instructions", Tree::string(CONTEXT))),
                }
                Some(tree)
            }
        };
    }
    let place = tree.get_mut(list)?;
    if let Tree::Scalar(_) = place {
        *place = match placement {
            Placement::LastUser => add(place, part, true)?,
            _ => {
                Tree::Array(vec![said("user", Tree::string(CONTEXT)), said("user", place.clone())])
            }
        };
        return Some(tree);
    }
    let Tree::Array(messages) = place else { return None };
    let role = |message: &Tree| message.get("role").and_then(Tree::text).unwrap_or_default();
    let last_user = messages.iter().rposition(|message| role(message) == "user");
    match placement {
        Placement::System => {
            let system = |message: &Tree| ["system", "developer"].contains(&&*role(message));
            let first = messages.iter().position(system);
            let content = first.and_then(|first| messages[first].get("content"));
            match (first, content.and_then(|content| add(content, part, false))) {
                (Some(first), Some(grown)) => *messages[first].get_mut("content")? = grown,
                _ if messages.is_empty() => return None,
                _ => messages.insert(0, said("system", Tree::string(CONTEXT))),
            }
        }
        Placement::BeforeLastUser => {
            messages.insert(last_user?, said("user", Tree::string(CONTEXT)))
        }
        Placement::LastUser => {
            let message = messages.get_mut(last_user?)?;
            let grown = add(message.get("content")?, part, true)?;
            *message.get_mut("content")? = grown;
        }
    }
    Some(tree)
}

/// A content with the context in front or at the end.
fn add(content: &Tree, part: &str, front: bool) -> Option<Tree> {
    let gapped = if front { format!("{CONTEXT}\n\n") } else { format!("\n\n{CONTEXT}") };
    match content {
        Tree::Scalar(written) => {
            let inner = written.strip_prefix('"')?.strip_suffix('"')?;
            let context =
                serde_json::to_string(if inner.is_empty() { CONTEXT } else { &gapped }).ok()?;
            let context = context.trim_matches('"');
            Some(Tree::Scalar(if front {
                format!("\"{context}{inner}\"")
            } else {
                format!("\"{inner}{context}\"")
            }))
        }
        Tree::Array(parts) => {
            let text = if parts.is_empty() { CONTEXT } else { &gapped };
            let new = Tree::Object(vec![
                named("type", Tree::string(part)),
                named("text", Tree::string(text)),
            ]);
            let mut parts = parts.clone();
            parts.insert(if front { 0 } else { parts.len() }, new);
            Some(Tree::Array(parts))
        }
        Tree::Object(_) => None,
    }
}

fn named(name: &str, value: Tree) -> Member {
    (format!("\"{name}\""), value)
}

fn said(role: &str, content: Tree) -> Tree {
    Tree::Object(vec![named("role", Tree::string(role)), named("content", content)])
}

fn without_ours(request: &Tree) -> Tree {
    match request {
        Tree::Object(members) => {
            Tree::Object(members.iter().filter(|(key, _)| !ours(key)).cloned().collect())
        }
        other => other.clone(),
    }
}

fn check(dialect: Dialect, tree: &Tree, gaps: &[&'static str]) -> Result<(), TestCaseError> {
    let written = tree.write(gaps);
    let body = written.as_bytes();
    let request = read(dialect, body).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;

    let removal = request.plan(None);
    prop_assert_eq!(removal.placed(), Placed::NotAsked);
    let removed = String::from_utf8(removal.apply(body)).unwrap();
    prop_assert_eq!(Tree::parse(&removed), without_ours(tree));

    for placement in PLACEMENTS {
        let edits = request.plan(Some((CONTEXT, placement)));
        let edited = edits.apply(body);
        prop_assert_eq!(crate::tests::undone(&edits, &edited, body), body);
        let now = Tree::parse(std::str::from_utf8(&edited).unwrap());
        match expected(dialect, tree, placement) {
            Some(expected) => {
                prop_assert!(matches!(edits.placed(), Placed::At(_)), "{placement:?}");
                prop_assert_eq!(now, expected, "{:?}", placement);
            }
            None => {
                prop_assert_eq!(edits.placed(), Placed::Nowhere);
                prop_assert_eq!(now, without_ours(tree));
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_chat_body_changes_by_our_fields_and_the_context_alone(
        tree in request(Dialect::Chat), gaps in gaps()
    ) {
        check(Dialect::Chat, &tree, &gaps)?;
    }

    #[test]
    fn a_responses_body_changes_by_our_fields_and_the_context_alone(
        tree in request(Dialect::Responses), gaps in gaps()
    ) {
        check(Dialect::Responses, &tree, &gaps)?;
    }

    #[test]
    fn a_damaged_body_is_refused_or_edited_into_json(
        tree in request(Dialect::Chat), gaps in gaps(), at in any::<prop::sample::Index>(),
        damage in any::<u8>(), cut in any::<bool>()
    ) {
        let mut body = tree.write(&gaps).into_bytes();
        let at = at.index(body.len());
        if cut { body.truncate(at) } else { body[at] = damage }
        for dialect in [Dialect::Chat, Dialect::Responses] {
            let Ok(request) = read(dialect, &body) else { continue };
            for placement in PLACEMENTS {
                let edited = request.plan(Some((CONTEXT, placement))).apply(&body);
                let json = serde_json::from_slice::<serde::de::IgnoredAny>(&edited);
                prop_assert!(json.is_ok(), "{}", String::from_utf8_lossy(&edited));
            }
        }
    }

    #[test]
    fn bytes_of_any_kind_are_read_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _either = (read(Dialect::Chat, &body).is_ok(), read(Dialect::Responses, &body).is_ok());
    }
}

#[test]
fn nesting_of_any_depth_is_carried_along() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let body = format!(
        r#"{{"x":{deep},"auto_store":true,"messages":[{{"role":"user","content":{deep}}}]}}"#
    );
    let request = read(Dialect::Chat, body.as_bytes()).ok().unwrap();
    let edited = request.plan(Some((CONTEXT, Placement::BeforeLastUser))).apply(body.as_bytes());
    assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&edited).is_ok());
}

#[test]
fn a_body_of_very_many_messages_passes_as_it_is() {
    let body = format!(r#"{{"messages":[{{}}{}]}}"#, ",{}".repeat(1 << 18));
    assert!(read(Dialect::Chat, body.as_bytes()).is_err());
}

#[test]
fn very_many_tool_results_are_read_in_one_pass_and_the_first_ones_kept() {
    let results: String = (0..200_000)
        .map(|n| format!(r#",{{"role":"tool","tool_call_id":"call_{n}","content":""}}"#))
        .collect();
    let body = format!(r#"{{"messages":[{{"role":"user","content":"go"}}{results}]}}"#);
    let request = read(Dialect::Chat, body.as_bytes()).ok().unwrap();
    let ask = request.ask();
    assert!(ask.in_tool_loop);
    assert_eq!(ask.tool_items.len(), Ask::MAX_TOOL_ITEMS);
    assert_eq!(ask.tool_items[0].call_id, "call_0");
}

/// The digest of the history of a request in each dialect.
fn history_digests(messages: &str) -> [Option<String>; 2] {
    [(Dialect::Chat, "messages"), (Dialect::Responses, "input")].map(|(dialect, list)| {
        let body = format!(r#"{{"model": "m", "{list}": [{messages}]}}"#);
        read(dialect, body.as_bytes()).unwrap().ask().history_digest.clone()
    })
}

#[test]
fn the_digest_of_the_history_is_that_of_all_messages_before_the_last_user_message() {
    let before = r#"{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}"#;
    let digests = history_digests(&format!(r#"{before}, {{"role": "user", "content": "a"}}"#));
    assert!(digests.iter().all(Option::is_some));
    for same in [
        format!(r#"{before}, {{"role": "user", "content": "b"}}"#),
        format!(
            r#"{{"role": "system", "content": "s"}}, {before}, {{"role": "user", "content": "b"}}"#
        ),
        format!(
            r#"{before},{{"role": "user", "content": "b"}}, {{"role": "assistant", "content": "c"}}"#
        ),
    ] {
        assert_eq!(history_digests(&same), digests, "{same}");
    }
    for other in [
        before.replace("Hi", "Ho"),
        before.replace("Yes?", "Yes!"),
        before.replace(": \"Hi\"", ":  \"Hi\""),
        format!(r#"{before}, {before}"#),
    ] {
        let found = history_digests(&format!(r#"{other}, {{"role": "user", "content": "a"}}"#));
        assert!(found.iter().zip(&digests).all(|(one, other)| one != other), "{other}");
    }
    let first = r#"{"role": "system", "content": "s"}, {"role": "user", "content": "a"}"#;
    assert_eq!(history_digests(first), [None, None]);
}
