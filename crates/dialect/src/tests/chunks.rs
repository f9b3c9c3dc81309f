//! Properties of collecting replies: where chunks are cut never matters, and no bytes panic.

use proptest::prelude::*;

use crate::{Dialect, Ending, Reply, ReplyCollector, ReplyError};

fn collect(dialect: Dialect, body: &[u8], cuts: &[usize]) -> Result<Reply, ReplyError> {
    let mut collector = ReplyCollector::new(dialect, Some("text/event-stream"), 1 << 16);
    let (mut rest, mut cuts) = (body, cuts.iter().cycle());
    while !rest.is_empty() {
        let size = cuts.next().map_or(1, |cut| *cut).clamp(1, rest.len());
        let (chunk, after) = rest.split_at(size);
        collector.push(chunk);
        rest = after;
    }
    collector.finish()
}

/// Lines such as streams have, some broken, in any order.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        r#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"é☂𝄞"}}]}"#,
        r#"data: {"choices":[{"index":1,"delta":{"content":"other"}}]}"#,
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","#,
        r#"data: "function":{"name":"f","arguments":"{}"}}]}}]}"#,
        r#"data:{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"data: {"type":"response.output_text.delta","delta":"é☂𝄞"}"#,
        r#"data: {"type":"response.completed","response":{"id":"r","output":[]}}"#,
        r#"data: {"error":{"message":"no"}}"#,
        "data: [DONE]",
        "event: message",
        ": a comment",
        "id: 7",
        "data",
        "",
        "",
        "",
        "\u{feff}",
    ]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]);
    let lines = prop::collection::vec((line, end), 0..24);
    (lines, prop::collection::vec(any::<u8>(), 0..3)).prop_map(|(lines, noise)| {
        let text: String = lines.into_iter().map(|(line, end)| format!("{line}{end}")).collect();
        [text.into_bytes(), noise].concat()
    })
}

proptest! {
    #[test]
    fn a_stream_gives_the_same_reply_wherever_it_is_cut(
        body in stream(), cuts in prop::collection::vec(1_usize..40, 1..6)
    ) {
        for dialect in [Dialect::Chat, Dialect::Responses] {
            prop_assert_eq!(collect(dialect, &body, &cuts), collect(dialect, &body, &[body.len()]));
        }
    }

    #[test]
    fn bytes_of_any_kind_are_collected_without_a_panic(
        body in prop::collection::vec(any::<u8>(), 0..300), kind in prop::option::of("json|event-stream|x")
    ) {
        for dialect in [Dialect::Chat, Dialect::Responses] {
            let mut collector = ReplyCollector::new(dialect, kind.as_deref(), 200);
            body.chunks(7).for_each(|chunk| {
                collector.push(chunk);
                assert!(collector.held_bytes() <= 200);
            });
            let _either = collector.finish();
        }
    }
}

#[test]
fn a_stream_that_says_too_much_is_too_large_and_lets_go_of_it() {
    for (dialect, event) in [
        (Dialect::Chat, r#"{"choices":[{"index":0,"delta":{"content":"0123456789"}}]}"#),
        (
            Dialect::Chat,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"01"}}]}}]}"#,
        ),
        (Dialect::Responses, r#"{"type":"response.output_text.delta","delta":"0123456789"}"#),
        (Dialect::Responses, r#"{"type":"response.refusal.delta","delta":"0123456789"}"#),
        (Dialect::Responses, r#"{"type":"response.function_call_arguments.delta","delta":"0123"}"#),
    ] {
        let mut collector = ReplyCollector::new(dialect, Some("text/event-stream"), 1000);
        let mut most = 0;
        for _ in 0..1000 {
            collector.push(format!("data: {event}\n\n").as_bytes());
            most = most.max(collector.held_bytes());
        }
        assert!(most > 500 && most <= 1000, "{most}: {event}");
        assert_eq!(collector.held_bytes(), 0);
        assert_eq!(collector.finish(), Err(ReplyError::TooLarge { limit: 1000 }));
    }
}

#[test]
fn very_many_empty_items_are_too_large_too() {
    for (dialect, event) in [
        (Dialect::Chat, r#"{"choices":[{"delta":{"tool_calls":[{"index":N}]}}]}"#),
        (
            Dialect::Responses,
            r#"{"type":"response.output_text.delta","output_index":N,"delta":""}"#,
        ),
        (
            Dialect::Responses,
            r#"{"type":"response.output_text.delta","content_index":N,"delta":""}"#,
        ),
    ] {
        let mut collector = ReplyCollector::new(dialect, Some("text/event-stream"), 10_000);
        for index in 0..1000 {
            let event = event.replace('N', &index.to_string());
            collector.push(format!("data: {event}\n\n").as_bytes());
        }
        assert_eq!(collector.finish(), Err(ReplyError::TooLarge { limit: 10_000 }));
    }
}

#[test]
fn a_line_without_an_end_and_a_whole_body_are_held_to_the_bound() {
    for kind in ["text/event-stream", "application/json"] {
        let mut collector = ReplyCollector::new(Dialect::Chat, Some(kind), 100);
        collector.push(&[b'{'; 100]);
        assert_eq!(collector.held_bytes(), 100);
        collector.push(b"{");
        assert_eq!(collector.held_bytes(), 0);
        assert_eq!(collector.finish(), Err(ReplyError::TooLarge { limit: 100 }));
    }
}

#[test]
fn without_a_content_type_the_first_byte_decides() {
    let json = br#" {"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let events = b"\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    for body in [&json[..], &events[..]] {
        for kind in [None, Some("text/plain")] {
            let mut collector = ReplyCollector::new(Dialect::Chat, kind, 1000);
            body.chunks(1).for_each(|chunk| collector.push(chunk));
            let reply = collector.finish().unwrap();
            assert_eq!((reply.text.as_str(), reply.outcome), ("hi", Ending::Complete));
        }
    }
}
