//! No import cycle between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    imports,
    modules::{Modules, Names},
    sources,
};

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for (name, source) in sources() {
        let modules = Modules::read(&source);
        let needs: BTreeMap<Names, BTreeSet<Names>> = modules
            .files
            .keys()
            .filter(|path| !path.iter().any(|name| name == "tests"))
            .map(|path| (path.clone(), imports::of(&modules, path)))
            .collect();
        for circle in circles(&needs) {
            let files: Vec<String> = circle
                .iter()
                .map(|path| {
                    let of_circle = needs[path].intersection(&circle);
                    let of_circle: Vec<String> = of_circle.map(|to| to.join("::")).collect();
                    format!("  crate::{} needs {}", path.join("::"), of_circle.join(", "))
                })
                .collect();
            found.push(format!("{name}, {} files:\n{}", circle.len(), files.join("\n")));
        }
    }
    assert!(found.is_empty(), "{} circles\n{}", found.len(), found.join("\n"));
}

/// The strongly connected parts of more than one file: what each file reaches, and what reaches it.
fn circles(needs: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<BTreeSet<Names>> {
    let reached: BTreeMap<&Names, BTreeSet<&Names>> =
        needs.keys().map(|path| (path, reach(needs, path))).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, ahead) in &reached {
        let circle: BTreeSet<Names> = ahead
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(path)))
            .map(|other| (*other).clone())
            .collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            circles.push(circle);
        }
    }
    circles
}

fn reach<'a>(needs: &'a BTreeMap<Names, BTreeSet<Names>>, from: &'a Names) -> BTreeSet<&'a Names> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(path) = open.pop() {
        for next in needs.get(path).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

#[test]
fn a_circle_is_found_and_a_chain_is_none() {
    let path = |name: &str| vec![name.to_owned()];
    let needs = |pairs: &[(&str, &[&str])]| {
        pairs
            .iter()
            .map(|(from, to)| (path(from), to.iter().map(|to| path(to)).collect()))
            .collect()
    };
    let chain: BTreeMap<Names, BTreeSet<Names>> =
        needs(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert!(circles(&chain).is_empty());
    let circle = needs(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]);
    assert_eq!(circles(&circle), [["a", "b", "c"].map(path).into()]);
}
