//! The double's routes: takes a request, writes it down, decides what to answer.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ask::{Ask, Dialect};
use crate::directives::{Directives, Kind};
use crate::reply::{End, Reply, Said};
use crate::script::{Answer, Pieces, Rule};
use crate::wire::{Event, event_stream, in_pieces, whole};
use crate::{Double, MAX_BODY_BYTES, chat, embeddings, responses};

/// Which of the requests received are wanted: those whose `header` says `value`; all without it.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    header: Option<String>,
    #[serde(default)]
    value: String,
}

/// GET `/_double/requests`
pub(crate) async fn requests(
    State(double): State<Arc<Double>>,
    Query(wanted): Query<Wanted>,
) -> Json<Value> {
    Json(double.journal.to_json(|headers| match &wanted.header {
        None => true,
        Some(name) => headers.get(name).is_some_and(|found| *found == wanted.value),
    }))
}

/// DELETE `/_double/requests`
pub(crate) async fn forget_requests(State(double): State<Arc<Double>>) -> StatusCode {
    double.journal.clear();
    StatusCode::NO_CONTENT
}

/// POST `/_double/script`
pub(crate) async fn set_script(
    State(double): State<Arc<Double>>,
    Json(rules): Json<Vec<Rule>>,
) -> StatusCode {
    double.script.set(rules);
    StatusCode::NO_CONTENT
}

/// Everything else is a request to the model server, and is written down before it is answered.
pub(crate) async fn model_request(State(double): State<Arc<Double>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return error(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large or was cut off");
    };
    double.journal.add(head.method.clone(), head.uri.clone(), head.headers.clone(), body.clone());

    let directives = match directives(&head.headers) {
        Ok(directives) => directives,
        Err(message) => return error(StatusCode::BAD_REQUEST, &message),
    };
    let path = head.uri.path();
    let mut response = match Dialect::of(path) {
        Some(dialect) if head.method == Method::POST => {
            match Ask::read(dialect, &head.headers, &body) {
                Ok(ask) => answer(&double, &ask, &directives).await,
                Err(message) => error(StatusCode::BAD_REQUEST, &message),
            }
        }
        None if path.ends_with("/v1/models") => models(),
        None if path.ends_with("/v1/embeddings") && head.method == Method::POST => {
            match serde_json::from_slice(&body) {
                Ok(body) => embed(&double, &body, &directives).await,
                Err(_) => error(StatusCode::BAD_REQUEST, "the body is no JSON"),
            }
        }
        _ => error(StatusCode::NOT_FOUND, "there is nothing here"),
    };
    if directives.spoof {
        let headers = response.headers_mut();
        headers.insert("x-memgate-decision", http::HeaderValue::from_static("spoofed"));
        headers.insert("x-memgate-hits", http::HeaderValue::from_static("99"));
    }
    response
}

fn directives(headers: &HeaderMap) -> Result<Directives, String> {
    let text = headers.get("x-double").map(|value| value.to_str());
    match text {
        None => Ok(Directives::default()),
        Some(Ok(text)) => Directives::parse(text),
        Some(Err(_)) => Err("x-double: not readable".to_owned()),
    }
}

async fn answer(double: &Double, ask: &Ask, directives: &Directives) -> Response {
    if directives.hang {
        // Ends when the client leaves: the future is dropped.
        std::future::pending::<()>().await;
    }
    if let Some(status) = directives.status {
        return asked_error(status);
    }
    let scripted = double.script.answer(&ask.dump(), &ask.body);
    if let Some((delay, _)) = &scripted {
        tokio::time::sleep(*delay).await;
    }
    let reply = match scripted.map(|(_, answer)| answer) {
        Some(Answer::Hang(_)) => std::future::pending().await,
        Some(Answer::Raw(text)) => return json_body(text.into_bytes(), directives),
        Some(Answer::Pieces(Pieces { media_type, text, cut })) => {
            return body(&media_type, in_pieces(text.as_bytes(), cut), directives);
        }
        Some(Answer::Status(status)) => return asked_error(status),
        Some(Answer::Busy(seconds)) => return busy(seconds),
        Some(Answer::Body(body)) => return json_body(body.to_string().into_bytes(), directives),
        Some(Answer::Reply(text)) => Reply::text(&text, directives),
        Some(Answer::ToolCalls(calls)) => {
            Reply { said: Said::ToolCalls(calls), end: End::Stop, reason: None }
        }
        Some(Answer::Vectors(_)) | None => Reply::echo(ask, directives),
    };
    render(double, ask, &reply, directives)
}

/// Vectors for a request's texts. Rules whose answer is a reply are not for it.
async fn embed(double: &Double, body: &Value, directives: &Directives) -> Response {
    let scripted = double.script.answer(&embeddings::text(body), body);
    if let Some((delay, _)) = &scripted {
        tokio::time::sleep(*delay).await;
    }
    let oddity = match scripted.map(|(_, answer)| answer) {
        Some(Answer::Hang(_)) => std::future::pending().await,
        Some(Answer::Raw(text)) => return json_body(text.into_bytes(), directives),
        Some(Answer::Status(status)) => return asked_error(status),
        Some(Answer::Busy(seconds)) => return busy(seconds),
        Some(Answer::Body(body)) => return json_body(body.to_string().into_bytes(), directives),
        Some(Answer::Vectors(oddity)) => oddity,
        Some(Answer::Reply(_) | Answer::ToolCalls(_) | Answer::Pieces(_)) | None => {
            embeddings::Oddity::default()
        }
    };
    let cut = Directives { cut_after: oddity.cut_after, ..directives.clone() };
    json_body(embeddings::object(body, &oddity).into_bytes(), &cut)
}

/// Puts the reply into the dialect asked for, streamed or whole.
fn render(double: &Double, ask: &Ask, reply: &Reply, directives: &Directives) -> Response {
    let id = double.next_id(match ask.dialect {
        Dialect::Chat => "chatcmpl",
        Dialect::Responses => "resp",
    });
    if !ask.streamed() {
        let body = match ask.dialect {
            Dialect::Chat if directives.kind == Kind::Failed => return asked_error(500),
            Dialect::Chat => chat::object(&id, ask, reply),
            Dialect::Responses => responses::object(&id, ask, reply),
        };
        let body = if directives.garbage {
            r#"{"choices": [{"message": "#.to_owned()
        } else {
            body.to_string()
        };
        return json_body(body.into_bytes(), directives);
    }
    let mut events = match ask.dialect {
        Dialect::Chat => chat::events(&id, ask, reply),
        Dialect::Responses => responses::events(&id, ask, reply),
    };
    if directives.garbage {
        events.insert(events.len() / 2, Event::text("{this is no JSON"));
    }
    if ask.dialect == Dialect::Chat && !directives.no_done {
        events.push(Event::text("[DONE]"));
    }
    body("text/event-stream; charset=utf-8", event_stream(&events, directives), directives)
}

fn json_body(bytes: Vec<u8>, directives: &Directives) -> Response {
    body("application/json", whole(bytes, directives), directives)
}

fn body(content_type: &str, body: Body, directives: &Directives) -> Response {
    let mut response = ([(CONTENT_TYPE, content_type)], body).into_response();
    if directives.gzip {
        response.headers_mut().insert(CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
    }
    response
}

fn models() -> Response {
    let echo = json!({"id": "echo", "object": "model", "created": 1_760_000_000, "owned_by": "model-double"});
    Json(json!({"object": "list", "data": [echo]})).into_response()
}

/// An error that a test asked for by its number.
fn asked_error(status: u16) -> Response {
    match StatusCode::from_u16(status) {
        Ok(status) => error(status, "as told"),
        Err(_) => error(StatusCode::BAD_REQUEST, "there is no such HTTP status"),
    }
}

/// Too many requests, with a time to come back.
fn busy(seconds: u64) -> Response {
    let mut response = error(StatusCode::TOO_MANY_REQUESTS, "as told");
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
    response
}

/// An error in OpenAI's shape.
fn error(status: StatusCode, message: &str) -> Response {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let body = json!({"error": {"message": message, "type": kind, "param": null, "code": null}});
    (status, Json(body)).into_response()
}
