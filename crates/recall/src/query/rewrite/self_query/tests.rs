use proptest::prelude::*;
use serde_json::json;

use crate::query::rewrite::self_query::*;
use memgate_core::memory::{MemoryType, TimeField};

const MESSAGE: &str = "What did I promise Ana in March?";

fn types() -> Vec<String> {
    MemoryType::BUILT_IN.map(str::to_owned).to_vec()
}

fn read_as(answer: &str, asked: Option<Words>) -> Option<ModelAnswer> {
    let (types, now) = (types(), "2026-04-16T10:00:00Z".parse().unwrap());
    read(answer, asked, &HelpRequest { message: MESSAGE, earlier: &[], types: &types, now })
}

/// The conditions of an answer that holds something.
fn told(answer: &Value) -> Option<Filter> {
    read_as(&answer.to_string(), None).unwrap().conditions
}

fn time(from: Option<&str>, until: Option<&str>) -> Filter {
    let at = |day: &str| format!("{day}T00:00:00Z").parse().unwrap();
    Filter::happened(from.map(at), until.map(at))
}

#[test]
fn each_member_becomes_a_condition_and_all_must_hold() {
    let answer = json!({
        "types": ["procedural", "episodic"], "since": "2026-03-01", "until": "2026-04-01",
        "about": ["Ana", " Bank of America "], "tags": ["work"],
    });
    let names = ["Ana", "Bank of America"].map(|name| Filter::Entity(name.into()));
    let expected = Filter::And(vec![
        Filter::Type(vec!["procedural".into(), "episodic".into()]),
        time(Some("2026-03-01"), Some("2026-04-01")),
        Filter::Or(names.to_vec()),
        Filter::Or(vec![Filter::Tag("work".into())]),
    ]);
    assert_eq!(told(&answer), Some(expected));
    let since = Filter::And(vec![time(Some("2026-03-01"), None)]);
    assert_eq!(told(&json!({"since": "2026-03-01"})), Some(since));
}

#[test]
fn the_object_is_found_whatever_stands_around_it() {
    let expected = Some(Filter::And(vec![Filter::Or(vec![Filter::Tag("a{".into())])]));
    for answer in [
        r#"{"tags": ["a{"]}"#,
        "```json\n{\n  \"tags\": [\"a{\"]\n}\n```",
        r#"<think>{"tags": ["b"]}</think>{"tags": ["a{"]}"#,
        r#"thoughts {"tags": ["b"]} </think> {"tags": ["a{"]}"#,
        r#"Here {as you asked}: {"tags": ["a{"]} {"tags": ["c"]}. Anything else?"#,
    ] {
        assert_eq!(read_as(answer, None).unwrap().conditions, expected, "{answer}");
    }
    for answer in ["{}", "```\n{ }\n```", r#"{"tags": []}"#] {
        assert_eq!(read_as(answer, None), Some(ModelAnswer::default()), "{answer}");
    }
}

#[test]
fn what_is_no_whole_object_tells_nothing() {
    let long = json!({"tags": ["a"], "other": "x".repeat(LONGEST)}).to_string();
    let deep = format!("{{\"tags\": {}", "[".repeat(2_000));
    for answer in [
        "",
        "none",
        "[]",
        "{",
        "{tags: [a]}",
        r#"{"tags": ["a"]"#,
        r#"{"tags": ["a"#,
        r#"{"about": {"tags": ["a"]}"#,
        r#"<think>{"tags": ["a"]}"#,
        &long,
        &deep,
    ] {
        assert_eq!(read_as(answer, None), None, "{answer}");
    }
}

#[test]
fn members_that_do_not_fit_are_dropped_and_the_others_stay() {
    let good = Some(Filter::And(vec![Filter::Or(vec![Filter::Tag("a".into())])]));
    for (member, value) in [
        ("types", json!(["secrets", "PROCEDURAL", "procedural ", 5, null])),
        ("types", json!("procedural")),
        ("types", json!(types())),
        ("since", json!("March")),
        ("since", json!("2026-3-1")),
        ("since", json!("2026-02-30")),
        ("since", json!("2026-03-01T00:00:00Z")),
        ("since", json!("+26-03-01x")),
        ("since", json!("1889-03-01")),
        ("until", json!("9999-12-31")),
        ("until", json!(20_260_301)),
        ("about", json!(["", "  ", "a\u{0}b", "x".repeat(MAX_NAME_BYTES + 1), 7, ["Ana"]])),
        ("about", json!({"name": "Ana"})),
        ("user_id", json!("somebody else")),
        ("filter", json!({"or": []})),
        ("query", json!("Where is it?")),
    ] {
        assert_eq!(told(&json!({"tags": ["a"], member: value})), good, "{member} {value}");
    }
    let backwards = json!({"tags": ["a"], "since": "2026-04-01", "until": "2026-04-01"});
    assert_eq!(told(&backwards), good);
}

#[test]
fn names_count_once_and_are_bounded() {
    let many: Vec<String> = (0..50).map(|at| format!("t{}", at / 2)).collect();
    let tags = (0..MOST).map(|at| Filter::Tag(format!("t{at}"))).collect();
    assert_eq!(told(&json!({"tags": many})), Some(Filter::And(vec![Filter::Or(tags)])));
}

#[test]
fn only_words_that_were_asked_for_are_taken() {
    let answer = json!({"query": "What did I promise?", "note": "I promised a cake"}).to_string();
    let told = |asked| read_as(&answer, asked).unwrap();
    assert_eq!(told(None), ModelAnswer::default());
    let rewritten = told(Some(Words::Rewrite));
    assert_eq!(
        (rewritten.question.as_deref(), rewritten.guess),
        (Some("What did I promise?"), None)
    );
    let guessed = told(Some(Words::Hypothesis));
    assert_eq!((guessed.question, guessed.guess.as_deref()), (None, Some("I promised a cake")));
    for useless in [json!(MESSAGE), json!(""), json!("blah ".repeat(200)), json!(["x"])] {
        let answer = json!({"query": useless}).to_string();
        assert_eq!(
            read_as(&answer, Some(Words::Rewrite)),
            Some(ModelAnswer::default()),
            "{useless}"
        );
    }
}

#[test]
fn the_model_is_told_of_words_only_where_they_are_wanted() {
    for (words, query, note) in [
        (None, false, false),
        (Some(Words::Rewrite), true, false),
        (Some(Words::Hypothesis), false, true),
    ] {
        let told = instructions(words);
        assert_eq!((told.contains("\"query\""), told.contains("\"note\"")), (query, note));
        assert!(told.ends_with(DATA));
    }
}

/// Whether a condition is one that may be told.
fn may_be(filter: &Filter) -> bool {
    match filter {
        Filter::And(all) | Filter::Or(all) => all.len() <= MOST && all.iter().all(may_be),
        Filter::Not(inner) => may_be(inner),
        Filter::Type(named) => !named.is_empty() && named.iter().all(|it| types().contains(it)),
        Filter::Tag(name) | Filter::Entity(name) => {
            !name.trim().is_empty() && name.len() <= MAX_NAME_BYTES
        }
        Filter::Time { field, from, until } => {
            *field != TimeField::Updated && (from.is_none() || until.is_none() || from < until)
        }
        _ => false,
    }
}

fn check(answer: &str) -> Result<(), TestCaseError> {
    for asked in [None, Some(Words::Rewrite), Some(Words::Hypothesis)] {
        let told = read_as(answer, asked).unwrap_or_default();
        prop_assert!(told.conditions.as_ref().is_none_or(may_be), "{told:?}");
        prop_assert!(told.conditions.as_ref().map_or(0, Filter::size) <= 40, "{told:?}");
        let words = told.question.or(told.guess).unwrap_or_default();
        prop_assert!(words.chars().count() <= 400);
    }
    Ok(())
}

/// Values of every kind, among them what fits some member.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        "[0-9]{4}-[01][0-9]-[0-3][0-9]".prop_map(Value::from),
        "20[0-9]{2}-0[1-9]-[12][0-9]".prop_map(Value::from),
        prop::sample::select(types()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 40, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::vec(("[a-z]{0,5}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_more_than_conditions_within_bounds(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn no_mix_of_json_and_marks_makes_more(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "[", "]", "{", "}", ",", ":", "\"", "\"types\"", "\"episodic\"", "\"since\"",
                "\"2026-03-01\"", "\"query\"", "null", "1", "\\", "<think>", "</think>", "```json\n", "é", " ",
            ]),
            0..40,
        )
    ) {
        check(&parts.concat())?;
    }

    #[test]
    fn no_values_of_the_members_make_more(
        members in prop::collection::btree_map(
            prop::sample::select(vec!["types", "since", "until", "about", "tags", "query", "note", "owner"]),
            value(),
            0..8,
        )
    ) {
        check(&json!(members).to_string())?;
    }

    #[test]
    fn wherever_an_answer_is_cut_it_tells_nothing(cut in 0.0..1.0, tag in "[a-z{}\",é ]{1,12}") {
        let answer = json!({"about": [tag, "x"], "tags": [tag], "since": "2026-03-01"}).to_string();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "a place within a short text"
        )]
        let at = answer.floor_char_boundary((answer.len() as f64 * cut) as usize);
        prop_assert_eq!(read_as(&answer[..at], None), None);
        prop_assert!(read_as(&answer, None).is_some());
    }
}
