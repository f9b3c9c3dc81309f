//! The crate graph: what Cargo knows must equal what ARCHITECTURE.md draws.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

use crate::repository;

/// A member of the workspace.
pub(crate) struct Package {
    /// As in its Cargo.toml.
    pub(crate) name: String,
    /// Where its Cargo.toml is.
    pub(crate) folder: PathBuf,
    /// The members it depends on, tests and benches aside.
    pub(crate) needs: BTreeSet<String>,
}

/// Every member of the workspace, by `cargo metadata`.
pub(crate) fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(repository())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let members = metadata["packages"].as_array().expect("packages are a list");
    let names: BTreeSet<&str> = members.iter().filter_map(|m| m["name"].as_str()).collect();
    members
        .iter()
        .map(|member| Package {
            name: member["name"].as_str().unwrap_or_default().to_owned(),
            folder: PathBuf::from(member["manifest_path"].as_str().unwrap_or_default())
                .with_file_name(""),
            needs: member["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|dependency| dependency["kind"].is_null())
                .filter_map(|dependency| dependency["name"].as_str())
                .filter(|name| names.contains(name))
                .map(str::to_owned)
                .collect(),
        })
        .collect()
}

/// The arrows of the first mermaid graph in ARCHITECTURE.md: lines like `recall --> core & store`.
/// `memgate` is the program; every other name stands for `memgate-<name>`.
fn drawn() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md"))
        .expect("ARCHITECTURE.md can be read");
    let graph = text
        .split("```mermaid")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("ARCHITECTURE.md draws the crates in a mermaid block");
    let package = |name: &str| match name.trim() {
        "memgate" => "memgate".to_owned(),
        other => format!("memgate-{other}"),
    };
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in graph.lines() {
        if let Some((from, to)) = line.split_once("-->") {
            arrows.entry(package(from)).or_default().extend(to.split('&').map(package));
        }
    }
    arrows
}

#[test]
fn crates_depend_on_each_other_just_as_architecture_md_draws() {
    let drawn = drawn();
    let mut wrong = Vec::new();
    for package in packages().into_iter().filter(|package| package.name.starts_with("memgate")) {
        let allowed = drawn.get(&package.name).cloned().unwrap_or_default();
        for extra in package.needs.difference(&allowed) {
            wrong.push(format!("{} depends on {extra}, which is not drawn", package.name));
        }
        for stale in allowed.difference(&package.needs) {
            wrong.push(format!("{} --> {stale} is drawn, but not so in Cargo.toml", package.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
