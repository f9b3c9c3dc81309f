//! The double over a real socket: what a client sees byte by byte, and what the journal says afterwards.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A double on a free port; it ends with the test's runtime.
async fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(model_double::serve(listener));
    address
}

/// Sends one request and returns all that comes back, as text.
async fn raw(address: SocketAddr, method: &str, path: &str, double: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: double\r\nconnection: close\r\nx-double: {double}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The JSON body of a whole answer.
fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The data of each event of a streamed answer; chunked framing is undone first.
fn events(answer: &str) -> Vec<String> {
    let mut rest = answer.split_once("\r\n\r\n").unwrap().1;
    let mut plain = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        plain += &after[..length];
        rest = &after[length + 2..];
    }
    plain.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn chat(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "n": 2, "stream_options": {"include_usage": true},
           "messages": [{"role": "user", "content": "hello there"}]})
    .to_string()
}

#[tokio::test]
async fn a_chat_is_answered_with_what_it_said() {
    let address = start().await;
    let answer = body(&raw(address, "POST", CHAT, "", &chat(false)).await);
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("[user] hello there"), "{text}");
    assert_eq!(answer["choices"][1]["finish_reason"], "stop");
    assert!(answer["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_streamed_chat_says_the_same_in_deltas_and_ends_with_usage_and_done() {
    let address = start().await;
    let events = events(&raw(address, "POST", CHAT, "chunks=3", &chat(true)).await);
    assert_eq!(events.last().unwrap(), "[DONE]");
    let chunks: Vec<Value> = events[..events.len() - 1]
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let text: String = chunks
        .iter()
        .filter(|chunk| chunk["choices"][0]["index"] == 0)
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert!(text.contains("[user] hello there"), "{text}");
    assert_eq!(chunks.last().unwrap()["choices"], json!([]));
    assert!(chunks.last().unwrap()["usage"].is_object());
}

#[tokio::test]
async fn a_streamed_response_has_its_events_in_order_and_numbered() {
    let address = start().await;
    let request = json!({"model": "m", "input": "hello", "stream": true}).to_string();
    let events: Vec<Value> = events(&raw(address, "POST", RESPONSES, "chunks=1", &request).await)
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert!((0_u64..).zip(&events).all(|(n, event)| event["sequence_number"] == n));
    assert_eq!(events[0]["response"]["id"], events[8]["response"]["id"]);
    assert_eq!(events[8]["response"]["status"], "completed");
}

#[tokio::test]
async fn ids_are_never_repeated() {
    let address = start().await;
    let request = json!({"input": "hello"}).to_string();
    let one = body(&raw(address, "POST", RESPONSES, "", &request).await);
    let two = body(&raw(address, "POST", RESPONSES, "", &request).await);
    assert_ne!(one["id"], two["id"]);
}

#[tokio::test]
async fn a_cut_stream_has_no_proper_end() {
    let address = start().await;
    let answer = raw(address, "POST", CHAT, "cut_after=2", &chat(true)).await;
    assert!(answer.starts_with("HTTP/1.1 200"));
    assert_eq!(answer.matches("data: ").count(), 2);
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn split_and_crlf_change_the_bytes_but_not_the_events() {
    let address = start().await;
    let plain = events(
        &raw(address, "POST", RESPONSES, "chunks=2", r#"{"input":"x","stream":true}"#).await,
    );
    let odd = raw(
        address,
        "POST",
        RESPONSES,
        "chunks=2,split,crlf,comments",
        r#"{"input":"x","stream":true}"#,
    )
    .await;
    assert!(odd.matches("\r\n").count() > 100);
    assert_eq!(events(&odd).len(), plain.len());
}

#[tokio::test]
async fn errors_refusals_and_tool_calls_come_when_asked_for() {
    let address = start().await;
    let error = raw(address, "POST", CHAT, "status=503", &chat(false)).await;
    assert!(error.starts_with("HTTP/1.1 503"));
    assert_eq!(body(&error)["error"]["type"], "server_error");
    let refusal = body(&raw(address, "POST", CHAT, "refusal", &chat(false)).await);
    assert!(refusal["choices"][0]["message"]["refusal"].is_string());
    let call = body(&raw(address, "POST", CHAT, "tool_calls", &chat(false)).await);
    assert_eq!(call["choices"][0]["finish_reason"], "tool_calls");
    let misspelt = raw(address, "POST", CHAT, "refusle", &chat(false)).await;
    assert!(misspelt.starts_with("HTTP/1.1 400") && misspelt.contains("`refusle`"));
}

#[tokio::test]
async fn a_script_answers_and_the_echo_does_the_rest() {
    let address = start().await;
    let rules = json!([{"contains": "weather", "times": 1, "tool_calls": [{"name": "w", "arguments": {}}]},
                       {"contains": "weather", "reply": "sunny"}]);
    let set = raw(address, "POST", "/_double/script", "", &rules.to_string()).await;
    assert!(set.starts_with("HTTP/1.1 204"), "{set}");
    let request = json!({"input": "the weather?"}).to_string();
    let first = body(&raw(address, "POST", RESPONSES, "", &request).await);
    assert_eq!(first["output"][0]["type"], "function_call");
    let second = body(&raw(address, "POST", RESPONSES, "", &request).await);
    assert_eq!(second["output"][0]["content"][0]["text"], "sunny");
}

#[tokio::test]
async fn a_scripted_body_comes_in_pieces_that_may_end_within_a_character() {
    let address = start().await;
    let pieces = json!({"type": "text/event-stream", "text": "data: ü\n\n", "cut": 7});
    let rules = json!([{"contains": "", "pieces": pieces}]).to_string();
    raw(address, "POST", "/_double/script", "", &rules).await;
    let answer = raw(address, "POST", CHAT, "", &chat(true)).await;
    assert!(answer.contains("content-type: text/event-stream\r\n"), "{answer}");
    let halves = "7\r\ndata: \u{fffd}\r\n3\r\n\u{fffd}\n\n\r\n0\r\n\r\n";
    assert!(answer.ends_with(&format!("\r\n\r\n{halves}")), "{answer}");
}

#[tokio::test]
async fn the_journal_keeps_every_request_byte_for_byte() {
    let address = start().await;
    let odd = r#"{ "input":"x",  "input":"y", "n":12345678901234567890 }"#;
    raw(address, "POST", "/some/prefix/v1/responses?a=1", "", odd).await;
    raw(address, "HEAD", "/v1/models", "", "").await;
    raw(address, "DELETE", "/v1/unknown", "", "").await;
    let journal = body(&raw(address, "GET", "/_double/requests", "", "").await);
    assert_eq!(journal[0]["path"], "/some/prefix/v1/responses?a=1");
    assert_eq!(journal[0]["body_base64"], base64_of(odd));
    assert_eq!(journal[1]["method"], "HEAD");
    assert_eq!(journal[2]["path"], "/v1/unknown");
    let none = raw(address, "GET", "/_double/requests?header=host&value=other", "", "").await;
    assert_eq!(body(&none), json!([]));
    raw(address, "DELETE", "/_double/requests", "", "").await;
    let journal = body(&raw(address, "GET", "/_double/requests", "", "").await);
    assert_eq!(journal, json!([]));
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
