//! Any text as a helper model's answer: it is read without a panic, and what is taken has bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_capture::fuzz_helper_answer;
use memgate_recall::fuzz_self_query;

fuzz_target!(|input: (String, String, Vec<String>)| {
    let (answer, said, known) = input;
    let (facts, bytes) = fuzz_helper_answer(&answer, &said, &known);
    assert!(facts <= 50 && bytes <= 50 * 4_000);
    let (conditions, bytes) = fuzz_self_query(&answer, &said, &known);
    assert!(conditions <= 40 + known.len() && bytes <= 400 * 4);
});
