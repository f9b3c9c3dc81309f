//! Progress lines on standard error, for people only.

/// Prints one line.
#[expect(clippy::print_stderr, reason = "progress is for the terminal")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// Announces step `number` of `total`.
pub(crate) fn step(number: usize, total: usize, what: &str) {
    say(&format!("[{number}/{total}] {what}"));
}
