//! Folders that can be read at a glance.

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
