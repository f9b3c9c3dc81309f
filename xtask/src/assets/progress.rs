//! Lines for the person who waits, on stderr. Nothing here is read by a program.

/// Prints one line.
#[expect(clippy::print_stderr, reason = "progress is for the terminal")]
pub fn say(line: &str) {
    eprintln!("{line}");
}

/// Announces step `number` of `total`.
pub fn step(number: usize, total: usize, what: &str) {
    say(&format!("[{number}/{total}] {what}"));
}
