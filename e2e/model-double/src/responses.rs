//! A reply in the shape of the Responses API: one object, or the typed events of a stream.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::reply::{End, Reply, Said};
use crate::wire::Event;

/// A fixed time, as in Chat.
const CREATED: u64 = 1_760_000_000;

/// The whole reply as one object. A background request is only taken into the queue, as the real API does.
pub(crate) fn object(id: &str, ask: &Ask, reply: &Reply) -> Value {
    if ask.body["background"] == true {
        return response(id, ask, "queued", Vec::new(), reply);
    }
    response(id, ask, status(reply.end), output(id, reply), reply)
}

/// The reply as the events of a stream, numbered.
pub(crate) fn events(id: &str, ask: &Ask, reply: &Reply) -> Vec<Event> {
    let begun = || response(id, ask, "in_progress", Vec::new(), reply);
    let mut events = vec![
        ("response.created", json!({"response": begun()})),
        ("response.in_progress", json!({"response": begun()})),
    ];
    for (index, item) in output(id, reply).into_iter().enumerate() {
        if item["type"] == "message" {
            message_events(&mut events, index, item, &reply.said, reply.end);
        } else {
            call_events(&mut events, index, item);
        }
    }
    let end = match reply.end {
        End::Stop => "response.completed",
        End::Length => "response.incomplete",
        End::Failed => "response.failed",
    };
    let whole = response(id, ask, status(reply.end), output(id, reply), reply);
    events.push((end, json!({"response": whole})));

    events
        .into_iter()
        .enumerate()
        .map(|(number, (name, mut data))| {
            data["type"] = name.into();
            data["sequence_number"] = number.into();
            Event::named(name, data)
        })
        .collect()
}

type Events = Vec<(&'static str, Value)>;

fn message_events(events: &mut Events, index: usize, item: Value, said: &Said, end: End) {
    let id = item["id"].clone();
    let part = item["content"][0].clone();
    let mut opening = item.clone();
    opening["status"] = "in_progress".into();
    opening["content"] = json!([]);
    let at = |mut data: Value| {
        data["item_id"] = id.clone();
        data["output_index"] = index.into();
        data["content_index"] = 0.into();
        data
    };
    events.push(("response.output_item.added", json!({"output_index": index, "item": opening})));
    let empty = match said {
        Said::Refusal(_) => json!({"type": "refusal", "refusal": ""}),
        _ => json!({"type": "output_text", "text": "", "annotations": []}),
    };
    events.push(("response.content_part.added", at(json!({ "part": empty }))));
    match said {
        Said::Text(pieces) => {
            for piece in pieces {
                events.push((
                    "response.output_text.delta",
                    at(json!({"delta": piece, "logprobs": []})),
                ));
            }
            if end != End::Failed {
                let text = pieces.concat();
                events
                    .push(("response.output_text.done", at(json!({"text": text, "logprobs": []}))));
            }
        }
        Said::Refusal(text) => {
            events.push(("response.refusal.delta", at(json!({ "delta": text }))));
            events.push(("response.refusal.done", at(json!({ "refusal": text }))));
        }
        Said::ToolCalls(_) => {}
    }
    if end != End::Failed {
        events.push(("response.content_part.done", at(json!({ "part": part }))));
        events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    }
}

fn call_events(events: &mut Events, index: usize, item: Value) {
    let id = item["id"].clone();
    let arguments = item["arguments"].clone();
    let mut opening = item.clone();
    opening["status"] = "in_progress".into();
    opening["arguments"] = "".into();
    let at =
        |field: &str, value: &Value| json!({"item_id": id, "output_index": index, field: value});
    events.push(("response.output_item.added", json!({"output_index": index, "item": opening})));
    events.push(("response.function_call_arguments.delta", at("delta", &arguments)));
    events.push(("response.function_call_arguments.done", at("arguments", &arguments)));
    events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
}

fn output(id: &str, reply: &Reply) -> Vec<Value> {
    let item_status = match reply.end {
        End::Stop => "completed",
        End::Length | End::Failed => "incomplete",
    };
    let message = |part: Value| {
        vec![json!({
            "id": format!("msg_{id}"),
            "type": "message",
            "status": item_status,
            "role": "assistant",
            "content": [part],
        })]
    };
    match &reply.said {
        Said::Text(pieces) => {
            message(json!({"type": "output_text", "text": pieces.concat(), "annotations": []}))
        }
        Said::Refusal(text) => message(json!({"type": "refusal", "refusal": text})),
        Said::ToolCalls(calls) => calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                json!({
                    "id": format!("fc_{id}_{index}"),
                    "type": "function_call",
                    "status": "completed",
                    "call_id": format!("call_{id}_{index}"),
                    "name": call.name,
                    "arguments": call.arguments_text(),
                })
            })
            .collect(),
    }
}

fn status(end: End) -> &'static str {
    match end {
        End::Stop => "completed",
        End::Length => "incomplete",
        End::Failed => "failed",
    }
}

fn response(id: &str, ask: &Ask, status: &str, output: Vec<Value>, reply: &Reply) -> Value {
    let asked = |field: &str, default: Value| match &ask.body[field] {
        Value::Null => default,
        value => value.clone(),
    };
    let ended = matches!(status, "completed" | "incomplete");
    json!({
        "id": id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": asked("background", false.into()),
        "error": (status == "failed").then(|| json!({"code": "server_error", "message": "the model server gave up"})),
        "incomplete_details": (status == "incomplete").then(|| json!({"reason": "max_output_tokens"})),
        "instructions": asked("instructions", Value::Null),
        "max_output_tokens": asked("max_output_tokens", Value::Null),
        "metadata": asked("metadata", json!({})),
        "model": ask.model(),
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": asked("previous_response_id", Value::Null),
        "store": asked("store", true.into()),
        "temperature": asked("temperature", 1.0.into()),
        "text": {"format": {"type": "text"}},
        "tool_choice": asked("tool_choice", "auto".into()),
        "tools": asked("tools", json!([])),
        "top_p": asked("top_p", 1.0.into()),
        "truncation": "disabled",
        "usage": ended.then(|| usage(ask, reply)),
    })
}

fn usage(ask: &Ask, reply: &Reply) -> Value {
    let input = ask.dump().split_whitespace().count() as u64;
    let output = reply.tokens();
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    })
}
