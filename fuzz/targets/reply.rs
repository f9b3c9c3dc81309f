//! Any bytes as a reply: the collector keeps to its bound, and where chunks are cut never matters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_dialect::{Dialect, Reply, ReplyCollector, ReplyError};

const LIMIT: usize = 4096;

fn collect(
    dialect: Dialect,
    kind: Option<&str>,
    body: &[u8],
    size: usize,
) -> Result<Reply, ReplyError> {
    let mut collector = ReplyCollector::new(dialect, kind, LIMIT);
    for chunk in body.chunks(size) {
        collector.push(chunk);
        assert!(collector.held_bytes() <= LIMIT);
    }
    collector.finish()
}

fuzz_target!(|input: (u8, &[u8])| {
    let (size, body) = input;
    for dialect in [Dialect::Chat, Dialect::Responses] {
        for kind in [None, Some("text/event-stream"), Some("application/json")] {
            let whole = collect(dialect, kind, body, body.len().max(1));
            // Held bytes depend on the cuts, so only what stays far below the bound must agree.
            if body.len() < LIMIT / 8 {
                assert_eq!(collect(dialect, kind, body, usize::from(size).max(1)), whole);
            }
        }
    }
});
