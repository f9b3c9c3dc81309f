//! A reply in the shape of Chat Completions: one object, or the chunks of a stream.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::reply::{End, Reply, Said};
use crate::script::ToolCall;
use crate::wire::Event;

/// A fixed `created`: the time of a reply says nothing here, and equal requests give equal bytes.
const CREATED: u64 = 1_760_000_000;

/// The whole reply as one object.
pub(crate) fn object(id: &str, ask: &Ask, reply: &Reply) -> Value {
    let choices: Vec<Value> = (0..ask.choices())
        .map(|index| {
            let said = reply.for_choice(index);
            let message = match &said {
                Said::Text(pieces) => json!({"role": "assistant", "content": pieces.concat(), "refusal": null}),
                Said::Refusal(text) => json!({"role": "assistant", "content": null, "refusal": text}),
                Said::ToolCalls(calls) => {
                    json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": tool_calls(id, calls)})
                }
            };
            let finish_reason = finish_reason(&said, reply);
            json!({"index": index, "message": message, "logprobs": null, "finish_reason": finish_reason})
        })
        .collect();
    json!({
        "id": id,
        "object": "chat.completion",
        "created": CREATED,
        "model": ask.model(),
        "choices": choices,
        "usage": usage(ask, reply),
    })
}

/// The reply as the events of a stream, without `[DONE]`; the choices take turns, as they do in real streams.
pub(crate) fn events(id: &str, ask: &Ask, reply: &Reply) -> Vec<Event> {
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": ask.model(),
            "choices": choices,
        });
        if ask.include_usage() {
            chunk["usage"] = usage;
        }
        Event::data(chunk)
    };
    let one = |index: u64, delta: Value, finish: Value| {
        let choice =
            json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": finish});
        chunk(json!([choice]), Value::Null)
    };

    let choices: Vec<(u64, Said)> =
        (0..ask.choices()).map(|index| (index, reply.for_choice(index))).collect();
    let mut events: Vec<Event> = choices
        .iter()
        .map(|(index, _)| one(*index, json!({"role": "assistant", "content": ""}), Value::Null))
        .collect();
    let deltas: Vec<(u64, Vec<Value>)> =
        choices.iter().map(|(index, said)| (*index, deltas(id, said))).collect();
    let longest = deltas.iter().map(|(_, deltas)| deltas.len()).max().unwrap_or(0);
    for round in 0..longest {
        for (index, deltas) in &deltas {
            if let Some(delta) = deltas.get(round) {
                events.push(one(*index, delta.clone(), Value::Null));
            }
        }
    }
    if reply.end == End::Failed {
        let error = json!({"message": "the model server gave up", "type": "server_error", "param": null, "code": null});
        events.push(Event::data(json!({ "error": error })));
        return events;
    }
    for (index, said) in &choices {
        events.push(one(*index, json!({}), finish_reason(said, reply)));
    }
    if ask.include_usage() {
        events.push(chunk(json!([]), usage(ask, reply)));
    }
    events
}

fn deltas(id: &str, said: &Said) -> Vec<Value> {
    match said {
        Said::Text(pieces) => pieces.iter().map(|piece| json!({"content": piece})).collect(),
        Said::Refusal(text) => vec![json!({"refusal": text})],
        Said::ToolCalls(calls) => calls
            .iter()
            .enumerate()
            .flat_map(|(index, call)| {
                let arguments = call.arguments_text();
                let (first, second) =
                    arguments.split_at(arguments.ceil_char_boundary(arguments.len() / 2));
                let opening = json!({
                    "index": index,
                    "id": call_id(id, index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                });
                let more = |part: &str| json!({"index": index, "function": {"arguments": part}});
                [opening, more(first), more(second)]
            })
            .map(|call| json!({"tool_calls": [call]}))
            .collect(),
    }
}

fn tool_calls(id: &str, calls: &[ToolCall]) -> Vec<Value> {
    calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments_text()});
            json!({"id": call_id(id, index), "type": "function", "function": function})
        })
        .collect()
}

fn call_id(id: &str, index: usize) -> String {
    format!("call_{id}_{index}")
}

fn finish_reason(said: &Said, reply: &Reply) -> Value {
    let reason = match (said, reply.end) {
        (Said::ToolCalls(_), _) => "tool_calls",
        (_, End::Length) => "length",
        _ => "stop",
    };
    reply.reason.clone().unwrap_or_else(|| reason.into())
}

fn usage(ask: &Ask, reply: &Reply) -> Value {
    let prompt = ask.dump().split_whitespace().count() as u64;
    let completion = reply.tokens() * ask.choices();
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}
