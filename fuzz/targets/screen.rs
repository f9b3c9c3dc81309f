//! Any bytes as a choice of words, numbers and characters: the screening reads the text without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_screening::screen_chosen;

fuzz_target!(|bytes: &[u8]| screen_chosen(bytes));
