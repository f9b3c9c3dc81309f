//! Parses the numbers of tests from the output of test runners.

use std::fmt;
use std::iter::Sum;

/// Numbers of tests by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub passed: u64,
    pub failed: u64,
    /// Ignored, skipped or deselected.
    pub skipped: u64,
}

impl Counts {
    /// Parses the summary line of nextest or pytest; `None` for any other line.
    pub(super) fn in_line(line: &str) -> Option<Self> {
        let nextest = line
            .trim_start()
            .strip_prefix("Summary [")
            .and_then(|rest| rest.split_once("tests run:"));
        let pytest =
            line.strip_prefix('=').map(|line| line.trim_matches(['=', ' '])).filter(|line| {
                line.contains(" in ") && line.starts_with(|first: char| first.is_ascii_digit())
            });
        let line = nextest.map(|(_, counts)| counts).or(pytest)?;
        let mut counts = Self::default();
        let words: Vec<&str> =
            line.split([' ', ',', '.']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let &[number, word] = pair else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" | "xfailed" => counts.passed += number,
                "failed" | "timed" | "error" | "errors" | "xpassed" => counts.failed += number,
                "skipped" | "deselected" => counts.skipped += number,
                _ => {}
            }
        }
        Some(counts)
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, counts| Self {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
            skipped: sum.skipped + counts.skipped,
        })
    }
}

impl fmt::Display for Counts {
    /// Empty for a step without tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Option<Counts> {
        Some(Counts { passed, failed, skipped })
    }

    #[test]
    fn parses_the_summary_of_nextest() {
        let line = "     Summary [   0.402s] 20 tests run: 18 passed (1 slow), 2 failed, 1 skipped";
        assert_eq!(Counts::in_line(line), counts(18, 2, 1));
        let line =
            "     Summary [   0.402s] 1256/1300 tests run: 1255 passed, 1 timed out, 44 skipped";
        assert_eq!(Counts::in_line(line), counts(1255, 1, 44));
    }

    #[test]
    fn parses_the_summary_of_pytest() {
        let line =
            "=== 1 failed, 41 passed, 2 skipped, 3 deselected, 1 error in 12.34s (0:01:02) ===";
        assert_eq!(Counts::in_line(line), counts(41, 2, 5));
    }

    #[test]
    fn ignores_other_lines() {
        for line in [
            "test a ... ok",
            "=== FAILURES ===",
            "=== test session starts ===",
            "5 passed in prose",
            "",
        ] {
            assert_eq!(Counts::in_line(line), None, "{line}");
        }
    }
}
