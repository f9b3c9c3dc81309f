//! No import cycle between the files of a crate, nor between the folders and files side by side in a folder.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{
    imports,
    modules::{Modules, Names},
    sources,
};

/// The needs of each module of its crate.
type Needs = BTreeMap<Names, BTreeSet<Names>>;

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    refuse(|needs| vec![(Names::new(), needs.clone())]);
}

#[test]
fn no_folders_of_a_crate_import_each_other_in_a_circle() {
    refuse(|needs| {
        let folders: BTreeSet<&[String]> =
            needs.keys().flat_map(|path| (0..path.len()).map(|depth| &path[..depth])).collect();
        folders.into_iter().map(|folder| (folder.to_vec(), side_by_side(needs, folder))).collect()
    });
}

/// The needs between the folders and files in a folder.
fn side_by_side(needs: &Needs, folder: &[String]) -> Needs {
    let child = |path: &Names| {
        let inside = path.starts_with(folder) && path.len() > folder.len();
        inside.then(|| path[..=folder.len()].to_vec())
    };
    let mut between = Needs::new();
    for (from, to) in needs {
        let Some(from) = child(from) else { continue };
        let others = to.iter().filter_map(child).filter(|to| *to != from);
        between.entry(from.clone()).or_default().extend(others);
    }
    between
}

/// Fails with the circles in what `looked_at` makes of the needs of each crate.
fn refuse(looked_at: impl Fn(&Needs) -> Vec<(Names, Needs)>) {
    let mut found = Vec::new();
    for (name, source) in sources() {
        for (folder, needs) in looked_at(&needs_of(&source)) {
            for circle in circles(&needs) {
                let members = circle.iter().map(|path| {
                    let of_circle = needs[path].intersection(&circle);
                    let of_circle: Vec<String> = of_circle.map(|to| to.join("::")).collect();
                    format!("  crate::{} needs {}", path.join("::"), of_circle.join(", "))
                });
                let members: Vec<String> = members.collect();
                found.push(format!("{name} {}:\n{}", folder.join("/"), members.join("\n")));
            }
        }
    }
    assert!(found.is_empty(), "{} circles\n{}", found.len(), found.join("\n"));
}

fn needs_of(source: &Path) -> Needs {
    let modules = Modules::read(source);
    let files = modules.files.keys().filter(|path| !path.iter().any(|name| name == "tests"));
    files.map(|path| (path.clone(), imports::of(&modules, path))).collect()
}

/// The strongly connected parts of more than one file: what each file reaches, and what reaches it.
fn circles(needs: &Needs) -> Vec<BTreeSet<Names>> {
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

fn reach<'a>(needs: &'a Needs, from: &'a Names) -> BTreeSet<&'a Names> {
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
    let chain: Needs = needs(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert!(circles(&chain).is_empty());
    let circle = needs(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]);
    assert_eq!(circles(&circle), [["a", "b", "c"].map(path).into()]);
}

#[test]
fn folders_that_need_each_other_by_different_files_are_a_circle() {
    let path = |name: &str| -> Names { name.split('/').map(str::to_owned).collect() };
    let needs: Needs = [("a/one", "b/one"), ("b/two", "a/two"), ("a/two", "c"), ("c", "b/one")]
        .map(|(from, to)| (path(from), [path(to)].into()))
        .into();
    assert!(circles(&needs).is_empty());
    assert_eq!(circles(&side_by_side(&needs, &[])), [["a", "b", "c"].map(path).into()]);
}
