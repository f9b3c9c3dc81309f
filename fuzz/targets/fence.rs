//! Any text as a memory and as a reply: a context is stripped whole, whatever its memories say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_core::fence;

fuzz_target!(|text: &str| {
    let line = fence::escape(text);
    assert!(!line.chars().any(char::is_control));
    assert_eq!(fence::strip(&fence::render(&[text], &["x", text])), "");
    let stripped = fence::strip(text).into_owned();
    assert!(stripped.len() <= text.len() + 2 * text.matches(fence::OPEN).count());
});
