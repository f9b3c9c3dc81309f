//! Any bytes under any encoding: decoding ends, within its bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_dialect::decode_body;

fuzz_target!(|bytes: &[u8]| {
    for encoding in ["gzip", "br", "zstd", "deflate", "identity", "gzip, br", "zstd,deflate"] {
        if let Ok(decoded) = decode_body(encoding, bytes, 1 << 16) {
            assert!(decoded.len() <= 1 << 16);
        }
    }
});
