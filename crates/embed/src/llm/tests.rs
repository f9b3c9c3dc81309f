use std::{net::SocketAddr, sync::Arc};

use axum::{Router, extract::State, http::StatusCode, response::IntoResponse, routing::post};
use tokio::sync::Mutex;

use crate::{client::RemoteError, llm::*};

/// Key and body of a request.
type Asked = (Option<String>, serde_json::Value);

/// A test double of a server: its answers and the requests it received.
#[derive(Clone)]
struct Double {
    answer: (StatusCode, String),
    delay: Duration,
    /// Whether it rejects structured output.
    formless: bool,
    asked: Arc<Mutex<Vec<Asked>>>,
}

async fn serve(
    State(double): State<Double>,
    headers: axum::http::HeaderMap,
    body: String,
) -> impl IntoResponse {
    let key = headers.get("authorization").map(|key| key.to_str().unwrap().to_owned());
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let refused = double.formless && !body["response_format"].is_null();
    double.asked.lock().await.push((key, body));
    if refused {
        return (StatusCode::BAD_REQUEST, String::new());
    }
    tokio::time::sleep(double.delay).await;
    double.answer
}

async fn start(answer: (StatusCode, &str), delay: Duration) -> (Helper, Double, SocketAddr) {
    let answer = (answer.0, answer.1.to_owned());
    serve_as(Double { answer, delay, formless: false, asked: Arc::default() }).await
}

async fn serve_as(double: Double) -> (Helper, Double, SocketAddr) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let app = Router::new().route("/v1/chat/completions", post(serve)).with_state(double.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (helper(at), double, at)
}

fn helper(at: SocketAddr) -> Helper {
    helper_within(Duration::from_secs(10), at)
}

fn helper_within(deadline: Duration, at: SocketAddr) -> Helper {
    Helper::new(Settings {
        role: "test",
        address: Address {
            url: format!("http://{at}/v1/chat/completions"),
            api_key: Some("k".into()),
        },
        model: "m".into(),
        limit_name: LimitName::MaxTokens,
        max_tokens: 7,
        temperature: 0.25,
        deadline,
    })
    .unwrap()
}

fn status(code: u16) -> LlmError {
    RemoteError::Status { code, retry_after: None }.into()
}

fn completion(content: &str) -> String {
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})
        .to_string()
}

async fn ask(answer: (StatusCode, &str), delay: Duration) -> Result<String, LlmError> {
    let (helper, _double, _) = start(answer, delay).await;
    helper.ask("be brief", "hello").await
}

#[tokio::test]
async fn sends_the_configured_request_and_returns_the_text() {
    let (helper, double, _) = start((StatusCode::OK, &completion("hi")), Duration::ZERO).await;
    assert_eq!(helper.ask("be brief", "hello").await.unwrap(), "hi");
    let (key, asked) = double.asked.lock().await.remove(0);
    assert_eq!(key.as_deref(), Some("Bearer k"));
    assert_eq!(
        asked,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "hello"},
            ],
            "temperature": 0.25,
            "stream": false,
            "max_tokens": 7,
        })
    );
}

#[tokio::test]
async fn reads_answers_in_parts() {
    let body = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}"#;
    assert_eq!(ask((StatusCode::OK, body), Duration::ZERO).await.unwrap(), "ab");
}

#[tokio::test]
async fn invalid_responses_are_distinguished() {
    let half = &completion("hi")[..20];
    for (answer, error) in [
        ((StatusCode::INTERNAL_SERVER_ERROR, "x"), status(500)),
        ((StatusCode::BAD_REQUEST, "x"), status(400)),
        ((StatusCode::FOUND, ""), status(302)),
        ((StatusCode::OK, half), LlmError::Unreadable("not a chat completion")),
        ((StatusCode::OK, r#"{"choices":[]}"#), LlmError::Unreadable("no choices")),
        (
            (StatusCode::OK, r#"{"choices":[{"message":{"content":null}}]}"#),
            LlmError::Unreadable("no content"),
        ),
        (
            (StatusCode::OK, &completion(&"x".repeat(MAX_ANSWER_BYTES))),
            RemoteError::TooLarge { most_bytes: MAX_ANSWER_BYTES }.into(),
        ),
    ] {
        assert_eq!(ask(answer, Duration::ZERO).await.unwrap_err(), error);
    }
}

#[tokio::test]
async fn a_slow_server_takes_at_most_the_deadline() {
    let deadline = Duration::from_millis(500);
    let (_, _double, at) = start((StatusCode::OK, ""), Duration::from_secs(60)).await;
    let error = helper_within(deadline, at).ask("be brief", "hello").await.unwrap_err();
    assert_eq!(error, RemoteError::Timeout { after: deadline }.into());
}

#[tokio::test]
async fn an_unreachable_server_gets_a_cooldown() {
    // Bound and dropped, so that nothing listens there.
    let at = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let helper = helper(at);
    for _ in 0..3 {
        assert_eq!(
            helper.ask("", "").await,
            Err(RemoteError::Unreachable("cannot connect").into())
        );
    }
    assert!(matches!(
        helper.ask("", "").await,
        Err(LlmError::Server(RemoteError::CoolingDown { .. }))
    ));
}

#[tokio::test]
async fn a_rejected_request_is_not_a_failure_of_the_server() {
    let (helper, double, _) = start((StatusCode::BAD_REQUEST, ""), Duration::ZERO).await;
    for _ in 0..5 {
        assert_eq!(helper.ask("", "").await, Err(status(400)));
    }
    assert_eq!(double.asked.lock().await.len(), 5);
}

const PLEASE: [Message<'_>; 1] = [Message { role: Role::User, content: "hello" }];

#[tokio::test]
async fn requests_structured_output_and_reports_truncation() {
    let body = json!({"choices": [{"message": {"content": "[1, "}, "finish_reason": "length"}]});
    let (helper, double, _) = start((StatusCode::OK, &body.to_string()), Duration::ZERO).await;
    let form = Form::new("facts", json!({"type": "object"}));
    let answer = helper.converse(&PLEASE, Some(&form)).await.unwrap();
    assert_eq!(answer, Answer { text: "[1, ".into(), cut_off: true });
    let (_, asked) = double.asked.lock().await.remove(0);
    assert_eq!(
        asked["response_format"],
        json!({"type": "json_schema", "json_schema": {
            "name": "facts", "strict": true, "schema": {"type": "object"},
        }})
    );
}

#[tokio::test]
async fn falls_back_to_plain_output_and_remembers_it() {
    let double = Double {
        answer: (StatusCode::OK, completion("hi")),
        delay: Duration::ZERO,
        formless: true,
        asked: Arc::default(),
    };
    let (helper, double, _) = serve_as(double).await;
    let form = Form::new("facts", json!({"type": "object"}));
    for _ in 0..3 {
        assert_eq!(helper.converse(&PLEASE, Some(&form)).await.unwrap().text, "hi");
    }
    let with_form: Vec<bool> = double
        .asked
        .lock()
        .await
        .iter()
        .map(|(_, body)| !body["response_format"].is_null())
        .collect();
    assert_eq!(with_form, [true, false, false, false]);
}

#[tokio::test]
async fn a_rejected_plain_request_is_not_remembered() {
    let (helper, double, _) = start((StatusCode::BAD_REQUEST, ""), Duration::ZERO).await;
    let form = Form::new("facts", json!({"type": "object"}));
    for _ in 0..2 {
        assert_eq!(helper.converse(&PLEASE, Some(&form)).await, Err(status(400)));
    }
    assert_eq!(double.asked.lock().await.len(), 4);
}

#[test]
fn settings_do_not_print_the_key() {
    let settings = helper("127.0.0.1:1".parse().unwrap()).settings;
    let printed = format!("{settings:?}");
    assert!(printed.contains("/v1/chat") && !printed.contains("\"k\""), "{printed}");
}
