//! Finds flaky tests in the output of test runners: tests that failed and then passed on a retry.

use std::fmt;

/// A flaky test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaky {
    /// Name as its runner prints it.
    pub test: String,
    /// Output of the first failure.
    pub failure: String,
}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "FLAKY {}", self.test)?;
        self.failure.lines().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// Most lines of a failure's output that are kept.
const MOST_LINES: usize = 60;

/// Reads a runner's output line by line.
#[derive(Debug, Default)]
pub(super) struct FlakyReader {
    /// First failures of tests that are tried again.
    failures: Vec<Flaky>,
    /// Whether the next lines belong to the last of `failures`.
    inside: bool,
    flaky: Vec<Flaky>,
}

/// A line about a test.
enum Line<'a> {
    /// The first try failed.
    FirstFailure(&'a str),
    /// A retry passed.
    PassedLater(&'a str),
    /// The line ends a failure's output.
    Other,
    /// The line may be part of a failure's output.
    Text,
}

impl FlakyReader {
    /// Reads the next line.
    pub(super) fn line(&mut self, line: &str) {
        match parse(line) {
            Line::FirstFailure(test) => {
                self.inside = !self.failures.iter().any(|failure| failure.test == test);
                if self.inside {
                    self.failures.push(Flaky { test: test.to_owned(), failure: String::new() });
                }
            }
            Line::PassedLater(test) => {
                self.inside = false;
                let new = !self.flaky.iter().any(|flaky| flaky.test == test);
                let failure = self.failures.iter().find(|failure| failure.test == test);
                self.flaky.extend(failure.filter(|_| new).cloned());
            }
            Line::Other => self.inside = false,
            Line::Text => {
                if let Some(last) = self.failures.last_mut().filter(|_| self.inside)
                    && last.failure.lines().count() < MOST_LINES
                {
                    last.failure.push_str(line);
                    last.failure.push('\n');
                }
            }
        }
    }

    /// The flaky tests, in the order in which the runner named them.
    pub(super) fn finish(self) -> Vec<Flaky> {
        self.flaky
    }
}

/// nextest: `  TRY 1 FAIL [   0.168s] (───) crate test`, the output, and at the end
/// `   FLAKY 2/3 [   0.020s] (4/4) crate test`. pytest with `--rerun-show-tracebacks`: `RERUN id`, the
/// traceback, and `PASSED id`.
fn parse(line: &str) -> Line<'_> {
    if let Some(id) = line.strip_prefix("RERUN ") {
        return Line::FirstFailure(id);
    }
    if let Some(id) = line.strip_prefix("PASSED ") {
        return Line::PassedLater(id);
    }
    if line.starts_with("FAILED ") || line.starts_with("====") {
        return Line::Other;
    }
    let status = line.trim_start();
    let name = || status.split_once("] (").and_then(|(_, rest)| rest.split_once(") "));
    match name() {
        Some((_, name)) if status.starts_with("TRY 1 ") && !status.starts_with("TRY 1 PASS") => {
            Line::FirstFailure(name)
        }
        Some((_, name)) if status.starts_with("FLAKY ") => Line::PassedLater(name),
        Some(_) => Line::Other,
        None => Line::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaky(output: &str) -> Vec<Flaky> {
        let mut reader = FlakyReader::default();
        output.lines().for_each(|line| reader.line(line));
        reader.finish()
    }

    #[test]
    fn nextests_flaky_tests_are_found_with_their_first_failure() {
        let output = "
  TRY 1 FAIL [   0.168s] (───) nt bad
  stderr ───

    always

  TRY 1 FAIL [   0.169s] (───) nt tests::flaky
  stderr ───

    thread 'flaky' panicked at src/lib.rs:2:171:
    try 0

  TRY 2 FAIL [   0.178s] (───) nt tests::flaky
  stderr ───

    try 1

  TRY 3 PASS [   0.013s] (1/4) nt tests::flaky
  TRY 3 FAIL [   0.194s] (3/4) nt bad
     Summary [   0.569s] 4 tests run: 3 passed (1 flaky), 1 failed, 0 skipped
   FLAKY 3/3 [   0.013s] (1/4) nt tests::flaky
  TRY 3 FAIL [   0.194s] (3/4) nt bad
";
        let [found] = flaky(output).try_into().unwrap();
        assert_eq!(found.test, "nt tests::flaky");
        assert!(found.failure.contains("try 0") && !found.failure.contains("try 1"), "{found}");
    }

    #[test]
    fn pytests_flaky_tests_are_found_with_their_first_failure() {
        let output = "
=========================== rerun test summary info ============================
RERUN tests/test_a.py::test_flaky
E   assert 1 == 2
RERUN tests/test_a.py::test_flaky
E   assert 1 == 3
PASSED tests/test_a.py::test_flaky
RERUN tests/test_a.py::test_bad
E   assert 0
FAILED tests/test_a.py::test_bad
=========================== short test summary info ============================
";
        let [found] = flaky(output).try_into().unwrap();
        assert_eq!(found.test, "tests/test_a.py::test_flaky");
        assert!(found.failure.contains("1 == 2") && !found.failure.contains("1 == 3"), "{found}");
    }

    #[test]
    fn a_run_without_retries_has_no_flaky_tests() {
        assert_eq!(flaky("     Summary [   0.4s] 20 tests run: 20 passed, 0 skipped\n"), []);
    }
}
