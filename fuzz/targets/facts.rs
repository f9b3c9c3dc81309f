//! Any text as a helper model's answer: it is read without a panic, and what is taken has bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate::capture::fuzz_helper_answer;

fuzz_target!(|input: (String, String, Vec<String>)| {
    let (answer, said, known) = input;
    let (facts, bytes) = fuzz_helper_answer(&answer, &said, &known);
    assert!(facts <= 50 && bytes <= 50 * 4_000);
});
