//! The promises of SECURITY.md have the tests that it names.

use std::collections::BTreeSet;

use crate::repository;

/// The tests that a document names, as `path/to/file::name`.
fn named(document: &str) -> BTreeSet<(&str, &str)> {
    let quoted = document.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once("::")).collect()
}

#[test]
fn each_promise_names_tests_that_exist() {
    let read = |file: &str| std::fs::read_to_string(repository().join(file)).unwrap_or_default();
    let document = read("SECURITY.md");
    let promises =
        document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for promise in promises {
        let tests = named(promise);
        if tests.is_empty() {
            wrong.push(format!("no test: {promise}"));
        }
        for (file, name) in tests {
            count += 1;
            let text = read(file);
            if !["def ", "fn "].iter().any(|word| text.contains(&format!("{word}{name}("))) {
                wrong.push(format!("{file} has no test {name}"));
            }
        }
    }
    assert!(wrong.is_empty() && count > 20, "{}", wrong.join("\n"));
}
