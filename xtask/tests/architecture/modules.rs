//! The modules of a crate: which file holds which, and where a re-exported name is defined.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use syn::{Item, UseTree, Visibility};

/// A path of names, without `crate`.
pub(crate) type Names = Vec<String>;

/// A file of a crate.
pub(crate) struct Module {
    /// Its content.
    pub(crate) syntax: syn::File,
}

/// The modules of a crate that have a file of their own, by their path.
pub(crate) struct Modules {
    /// The files.
    pub(crate) files: BTreeMap<Names, Module>,
    /// Re-exports: names that a module passes on, to the path they come from.
    reexports: BTreeMap<Names, Names>,
}

impl Modules {
    /// Reads every file below `source`.
    pub(crate) fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(source, &mut Vec::new(), &mut files);
        let mut modules = Self { files, reexports: BTreeMap::new() };
        let mut reexports = BTreeMap::new();
        for (path, module) in &modules.files {
            for item in &module.syntax.items {
                let Item::Use(item) = item else { continue };
                if matches!(item.vis, Visibility::Inherited) {
                    continue;
                }
                for (target, name) in leaves(&item.tree) {
                    if let (Some(target), Some(name)) = (modules.absolute(path, &target), name) {
                        reexports.insert([path.clone(), vec![name]].concat(), target);
                    }
                }
            }
        }
        modules.reexports = reexports;
        modules
    }

    /// An absolute path for one that a `use` in `here` names; `None` for other crates' names.
    pub(crate) fn absolute(&self, here: &Names, path: &Names) -> Option<Names> {
        let mut base = here.clone();
        let mut rest = path.as_slice();
        match rest.first().map(String::as_str) {
            Some("crate") => {
                base.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            // A child's path, in the 2018 style.
            Some(child)
                if self.files.contains_key(&[here.clone(), vec![child.to_owned()]].concat()) => {}
            _ => return None,
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The module whose file defines what an absolute path names.
    pub(crate) fn home(&self, path: &Names) -> Names {
        let mut path = path.clone();
        // Re-exports of re-exports end: each is nearer to the definition.
        for _ in 0..8 {
            let Some((length, target)) = (1..=path.len())
                .rev()
                .filter(|length| !self.files.contains_key(&path[..*length]))
                .find_map(|length| Some((length, self.reexports.get(&path[..length])?)))
            else {
                break;
            };
            path = [target.as_slice(), &path[length..]].concat();
        }
        (0..=path.len())
            .rev()
            .map(|length| path[..length].to_vec())
            .find(|module| self.files.contains_key(module))
            .unwrap_or_default()
    }
}

/// The paths of a `use`, each with the name it gets here; a glob has none.
pub(crate) fn leaves(tree: &UseTree) -> Vec<(Names, Option<String>)> {
    match tree {
        UseTree::Path(path) => leaves(&path.tree)
            .into_iter()
            .map(|(names, name)| {
                let first = path.ident.to_string();
                let name = if names.is_empty() { Some(first.clone()) } else { name };
                ([vec![first], names].concat(), name)
            })
            .collect(),
        UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), None)],
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], Some(name.ident.to_string()))],
        UseTree::Rename(rename) => {
            vec![(vec![rename.ident.to_string()], Some(rename.rename.to_string()))]
        }
        UseTree::Glob(_) => vec![(Vec::new(), None)],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

fn collect(folder: &Path, path: &mut Names, files: &mut BTreeMap<Names, Module>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    entries.sort();
    for entry in entries {
        let stem = entry.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() {
            path.push(stem);
            collect(&entry, path, files);
            path.pop();
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&entry).expect("a source file can be read");
            let syntax = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", entry.display()));
            let mut module = path.clone();
            if !matches!(stem.as_str(), "mod" | "lib" | "main") {
                module.push(stem);
            }
            files.insert(module, Module { syntax });
        }
    }
}
