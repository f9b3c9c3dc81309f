//! The JSON schema of the configuration, generated from the types, and the check of values against
//! it.

use std::sync::LazyLock;

use memgate_located::join;
use regex::Regex;
use serde_json::{Map, Value};

use crate::{Config, parse::problem::Problem};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(Config).to_value();
    round(&mut schema);
    schema
});

/// The JSON schema of the configuration file.
#[must_use]
pub fn json_schema() -> &'static Value {
    &SCHEMA
}

/// Rounds `f32` defaults, which would otherwise be written with the digits of an `f64`.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(short) = number.as_f64().map(|wide| (wide * 1e6).round() / 1e6) {
                *value = short.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(members) => members.values_mut().for_each(round),
        _ => {}
    }
}

/// All keys, with `[]` for list items: `memory.policies[].enabled`.
pub(super) fn all_keys() -> Vec<String> {
    let mut keys = Vec::new();
    visit(&SCHEMA, "", &mut |key, _| keys.push(key.to_owned()));
    keys
}

/// The schema of a key outside lists, for example `memory.deadline_ms`.
pub(super) fn of_key(key: &str) -> Option<&'static Value> {
    let member = |schema, name| resolve(schema).get("properties")?.get(name);
    key.split('.').try_fold(&*SCHEMA, member)
}

/// Calls `each` with every key and its schema, parents first.
pub(super) fn visit(schema: &Value, key: &str, each: &mut dyn FnMut(&str, &Value)) {
    let schema_of_value = resolve(schema);
    if let Some(members) = schema_of_value.get("properties").and_then(Value::as_object) {
        for (name, member) in members {
            let key = join(key, name);
            each(&key, member);
            visit(member, &key, each);
        }
    }
    if let Some(items) = schema_of_value.get("items") {
        visit(items, &format!("{key}[]"), each);
    }
}

/// Follows a reference, including a nullable one.
pub(super) fn resolve(schema: &Value) -> &Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return SCHEMA.pointer(name.trim_start_matches('#')).unwrap_or(schema);
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    choices.and_then(|all| all.iter().find(|one| one.get("$ref").is_some())).map_or(schema, resolve)
}

/// Checks a value against the bounds of its schema.
pub(super) fn check(schema: &Value, value: &Value, key: &str, problems: &mut Vec<Problem>) {
    let schema = resolve(schema);
    let cause = match value {
        Value::Number(number) => number.as_f64().and_then(|number| outside(schema, number)),
        Value::String(text) => unfit(schema, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let of_item = schema.get("items").unwrap_or(&Value::Null);
                check(of_item, item, &format!("{key}[{index}]"), problems);
            }
            bad_list(schema, items)
        }
        Value::Object(members) => {
            check_members(schema, members, key, problems);
            None
        }
        Value::Null | Value::Bool(_) => None,
    };
    if let Some(cause) = cause {
        problems.push(Problem::new(key, cause));
    }
}

fn check_members(
    schema: &Value,
    members: &Map<String, Value>,
    key: &str,
    problems: &mut Vec<Problem>,
) {
    for (name, member) in members {
        if let Some(of_member) = schema.get("properties").and_then(|all| all.get(name)) {
            check(of_member, member, &join(key, name), problems);
        }
    }
}

fn outside(schema: &Value, number: f64) -> Option<String> {
    let bound = |name| schema.get(name).and_then(Value::as_f64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    let fits = least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    (!fits).then(|| match (least, most) {
        (Some(least), Some(most)) => format!("must be between {least} and {most}"),
        (Some(least), None) => format!("must be at least {least}"),
        (_, most) => format!("must be at most {}", most.unwrap_or_default()),
    })
}

fn unfit(schema: &Value, text: &str) -> Option<String> {
    if schema.get("minLength").and_then(Value::as_u64).is_some_and(|least| least > 0)
        && text.is_empty()
    {
        return Some("must not be empty".into());
    }
    let pattern = schema.get("pattern").and_then(Value::as_str)?;
    let fits = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    (!fits).then(|| format!("must match {pattern}"))
}

fn bad_list(schema: &Value, items: &[Value]) -> Option<String> {
    if schema.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0)
        && items.is_empty()
    {
        return Some("must not be empty".into());
    }
    let most = schema.get("maxItems").and_then(Value::as_u64);
    if let Some(most) = most.filter(|most| items.len() as u64 > *most) {
        return Some(format!("must have at most {most} items"));
    }
    let unique = schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or(false);
    let doubled = items.iter().enumerate().any(|(index, item)| items[..index].contains(item));
    (unique && doubled).then(|| "must not contain duplicates".into())
}

#[cfg(test)]
mod tests;
