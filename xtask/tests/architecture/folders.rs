//! Folders that can be read at a glance, and files that are worth one.

use std::path::Path;

use crate::sources;

/// Files side by side: what a reader takes in without a hall to sort them.
const MOST: usize = 12;

#[test]
fn no_folder_holds_more_than_a_dozen_files() {
    let mut crowded = Vec::new();
    for (_, source) in sources() {
        look(&source, &mut crowded);
    }
    assert!(crowded.is_empty(), "{}", crowded.join("\n"));
}

fn look(folder: &Path, crowded: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files = 0;
    for entry in entries.flatten().map(|entry| entry.path()) {
        if entry.is_dir() && entry.ends_with("tests") {
            // Tests are read one at a time.
            continue;
        }
        if entry.is_dir() {
            look(&entry, crowded);
        } else if entry.extension().is_some_and(|extension| extension == "rs")
            && entry.file_stem().is_some_and(|stem| stem != "mod" && stem != "lib")
        {
            files += 1;
        }
    }
    if files > MOST {
        crowded.push(format!("{}: {files} files", folder.display()));
    }
}

/// A shorter file is mostly its head.
const SHORT: usize = 40;

/// A split has a price too. This only shows it: `cargo test -p xtask --test architecture short -- --nocapture`.
#[test]
fn short_product_files_are_counted() {
    let mut lengths = Vec::new();
    for (_, source) in sources() {
        lengths_of(&source, &mut lengths);
    }
    let short = lengths.iter().filter(|lines| **lines < SHORT).count();
    println!("{short} of {} product files have fewer than {SHORT} lines", lengths.len());
    assert!(short < lengths.len());
}

fn lengths_of(folder: &Path, lengths: &mut Vec<usize>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().map(|entry| entry.path()) {
        if entry.file_stem().is_some_and(|stem| stem == "tests" || stem == "test_support") {
            continue;
        }
        if entry.is_dir() {
            lengths_of(&entry, lengths);
        } else if let Ok(text) = std::fs::read_to_string(&entry) {
            lengths.push(text.lines().count());
        }
    }
}
