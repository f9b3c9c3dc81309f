//! The front ends test their words; this tests what they do not use, and `flattened!`.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Whose {
    user: String,
    #[serde(default)]
    tenant: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Page {
    #[serde(default)]
    limit: Option<u32>,
}

flattened! {
    #[derive(Debug, PartialEq, Serialize)]
    struct Paged {
        page: Page,
        order: Order,
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    #[serde(default)]
    newest: Option<bool>,
}

flattened! {
    #[derive(Debug, PartialEq, Serialize)]
    struct Request {
        whose: Whose,
        rest: Paged,
    }
}

fn node(value: &serde_json::Value) -> Node {
    serde_json::from_value(value.clone()).unwrap()
}

fn refused(value: &serde_json::Value) -> Vec<(String, Cause)> {
    let Errors { first, others } = read::<Request>(&node(value)).unwrap_err();
    std::iter::once(first).chain(others).map(|error| (error.path, error.cause)).collect()
}

const KNOWN: [&str; 4] = ["user", "tenant", "limit", "newest"];

#[test]
fn flattened_parts_are_read_from_one_object_and_written_to_one() {
    let written = json!({"user": "u", "tenant": null, "limit": 5, "newest": true});
    let request: Request = read(&node(&written)).unwrap();
    assert_eq!((request.whose.user.as_str(), request.rest.page.limit), ("u", Some(5)));
    assert_eq!(serde_json::to_value(&request).unwrap(), written);
    let spelt = [("user", "5"), ("limit", "5"), ("newest", "true")];
    let spelt = spelt.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(read::<Request>(&Node::of_spelt(spelt)).unwrap().rest, request.rest);
}

#[test]
fn an_unknown_key_is_refused_before_a_missing_one_and_lists_the_keys_of_all_parts() {
    let all = refused(&json!({"usr": "u", "limti": 5}));
    let unknown = |all: &(String, Cause)| match &all.1 {
        Cause::UnknownKey { name, known } => *name == all.0 && **known == KNOWN,
        _ => false,
    };
    assert!(unknown(&all[0]) && unknown(&all[1]), "{all:?}");
    assert_eq!(all[2], (String::new(), Cause::Missing("user")));
}

#[test]
fn an_error_in_a_part_has_its_place() {
    let expected = Expected::Other("a whole number, 0 or more".to_owned());
    let wrong = ("limit".to_owned(), Cause::WrongType(expected, Found::Text));
    assert_eq!(refused(&json!({"user": "u", "limit": "5"})), [wrong]);
    for list in [json!([["u"]]), json!(["u", null, 5])] {
        assert_eq!(refused(&list), [(String::new(), Cause::WrongType(Expected::Map, Found::List))]);
    }
}

#[test]
fn the_number_of_reported_keys_is_bounded() {
    let mut many: serde_json::Map<_, _> =
        (0..1000).map(|key| (key.to_string(), json!(0))).collect();
    many.insert("user".to_owned(), json!("u"));
    assert_eq!(refused(&many.into()).len(), 100);
}

#[test]
fn a_whole_number_may_have_a_decimal_point_but_not_a_fraction() {
    let page = |limit: f64| read::<Page>(&node(&json!({"limit": limit}))).map(|page| page.limit);
    assert_eq!(page(5.0), Ok(Some(5)));
    for limit in [5.5, -5.0, 1e300] {
        assert!(page(limit).is_err(), "{limit}");
    }
}
