//! Compares the generated files, and those that must agree with the schema.

use std::{fmt::Write, fs, path::PathBuf};

use crate::{environment::Variables, live::NEED_RESTART, schema::*};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The file must contain `wanted`; `UPDATE_EXPECT=1` writes it.
fn expect_file(name: &str, wanted: &str) {
    let path = file(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{name} is out of date; run: UPDATE_EXPECT=1 cargo test --lib config::schema"
    );
}

#[test]
fn the_schema_file_is_up_to_date() {
    expect_file(
        "config/config.schema.json",
        &format!("{}\n", serde_json::to_string_pretty(json_schema()).unwrap()),
    );
}

#[test]
fn the_documentation_of_all_keys_is_up_to_date() {
    let mut table = String::from("| key | default | meaning |\n|---|---|---|\n");
    visit(json_schema(), "", &mut |key, schema| {
        let resolved = resolve(schema);
        if resolved.get("properties").is_some() {
            return;
        }
        let meaning = text(schema).unwrap_or_else(|| panic!("{key} has no description"));
        let choices = resolved.get("oneOf").map(choices).unwrap_or_default();
        let restart = NEED_RESTART.iter().any(|part| {
            key.strip_prefix(part)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        let restart = if restart { " *restart*" } else { "" };
        let default = default(key, schema);
        writeln!(table, "| `{key}` | {default} | {meaning}{choices}{restart} |").unwrap();
    });
    let page = fs::read_to_string(file("docs/config.md")).unwrap();
    let (before, rest) = page.split_once("config::schema -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    expect_file(
        "docs/config.md",
        &format!("{before}config::schema -->\n{table}<!-- end -->{after}"),
    );
}

fn text(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.replace('\n', " "))
}

fn choices(all: &Value) -> String {
    let told = |one: &Value| {
        let name = one.get("const")?.as_str()?;
        Some(format!(" `{name}`: {}", text(one)?))
    };
    all.as_array().into_iter().flatten().filter_map(told).collect()
}

fn default(key: &str, schema: &Value) -> String {
    let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut required = false;
    visit(json_schema(), "", &mut |key, schema| {
        if key == parent.trim_end_matches("[]") {
            let of_item = resolve(schema).get("items").map_or(resolve(schema), resolve);
            let names = of_item.get("required").and_then(Value::as_array);
            required = names.into_iter().flatten().any(|one| one == name);
        }
    });
    match schema.get("default") {
        _ if required => "required".into(),
        None | Some(Value::Null) => "none".into(),
        Some(value) => format!("`{value}`"),
    }
}

#[test]
fn the_default_file_has_every_key_at_its_default() {
    let yaml = fs::read_to_string(file("config/config.yaml")).unwrap();
    let read = Config::from_text(Some(&yaml), &Variables::of([]), &|_| {}, &|_| None).unwrap();
    let mut defaults = Config::default();
    defaults.memory.store = Some(crate::sections::memory::StoreKind::Sqlite);
    assert_eq!(read, defaults);
    visit(json_schema(), "", &mut |key, _| {
        let name = key.rsplit(['.', ']']).next().unwrap();
        let named = yaml.lines().any(|line| {
            let line = line.trim_start_matches(['#', ' ', '-']);
            line.starts_with(&format!("{name}:"))
                || line.contains(&format!("{{{name}:"))
                || line.contains(&format!(", {name}:"))
        });
        assert!(named, "config/config.yaml does not name {key}");
    });
}

#[test]
fn commented_sections_of_the_default_file_are_valid() {
    let yaml = fs::read_to_string(file("config/config.yaml")).unwrap();
    let uncommented: String = yaml
        .lines()
        // Prose starts with a capital letter or a backquote; keys and items do not.
        .map(|line| {
            let bare = line.trim_start().trim_start_matches('#');
            let key = bare.trim_start().trim_start_matches("- ");
            let commented = line.trim_start().starts_with('#')
                && key.split(':').next().is_some_and(|k| {
                    bare.contains(':') && k.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                });
            let line = if commented { line.replacen("# ", "", 1) } else { line.to_owned() };
            line.replace("api: {}", "api:").replace(": []", ":") + "\n"
        })
        .collect();
    let read = Config::from_text(Some(&uncommented), &Variables::of([]), &|_| {}, &|_| {
        Some("set".repeat(11))
    });
    let config = read.unwrap_or_else(|problems| panic!("{problems:#?}\n{uncommented}"));
    assert_eq!(config.memory.policies.len(), 1);
    assert_eq!(config.external_models.len(), 1);
    assert!(config.memory.milvus.is_some());
    assert!(config.api.key_env.is_some());
}

#[test]
fn the_check_supports_every_bound_of_the_schema() {
    // A keyword that only editors check would be a bound that memgate does not enforce.
    let known = [
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        "uniqueItems",
    ];
    fn walk(schema: &Value, known: &[&str]) {
        for (name, value) in schema.as_object().into_iter().flatten() {
            assert!(known.contains(&name.as_str()), "{name}");
            match name.as_str() {
                "properties" | "$defs" => {
                    value.as_object().unwrap().values().for_each(|one| walk(one, known));
                }
                "anyOf" | "oneOf" => {
                    value.as_array().unwrap().iter().for_each(|one| walk(one, known));
                }
                "items" => walk(value, known),
                _ => {}
            }
        }
    }
    walk(json_schema(), &known);
}
