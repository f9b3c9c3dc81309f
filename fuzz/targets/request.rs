//! Any bytes as a request: what can be read is edited into JSON that can be read again, without our
//! fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgate_dialect::{Dialect, MemoryOptions, Placement, read};

fuzz_target!(|body: &[u8]| {
    for dialect in [Dialect::Chat, Dialect::Responses] {
        let Ok(request) = read(dialect, body) else { continue };
        let placements = [Placement::System, Placement::BeforeLastUser, Placement::LastUser];
        let contexts = placements.map(|placement| Some(("<memory-context>\n\"\\", placement)));
        for context in contexts.into_iter().chain([None]) {
            let edits = request.plan(context);
            let edited = edits.apply(body);
            assert_eq!(edits.is_empty(), edited == body);
            let json = edited.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&edited);
            serde_json::from_slice::<serde::de::IgnoredAny>(json).expect("edits keep JSON valid");
            let again = read(dialect, &edited).ok().expect("an edited request can be read");
            assert_eq!(again.ask().options, MemoryOptions::default());
            assert!(again.plan(None).is_empty());
        }
    }
});
