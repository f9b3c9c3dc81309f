//! A helper model on a free port that answers as an evaluation wants: as a model that was fooled would, or as a good one.

mod labels;

pub(super) use labels::{Labels, Taught};

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use axum::{Json, Router, routing::post};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use memgate_embed::{
    client::Address,
    llm::{Helper, LimitName, Settings},
};

/// The facts that it answers a request with, given as the content of its last message.
type Answer = Box<dyn Fn(&str) -> Vec<Value> + Send>;

/// The server. It ends when this is dropped.
pub(crate) struct ScriptedHelper {
    answer: Arc<Mutex<Answer>>,
    /// The client of the server.
    pub(crate) client: Arc<Helper>,
    serving: JoinHandle<()>,
}

impl ScriptedHelper {
    /// Starts it.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) async fn start() -> Result<Self> {
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(|_| Vec::new())));
        let said = answer.clone();
        let reply = move |Json(body): Json<Value>| {
            let asked = body["messages"].as_array().and_then(|all| all.last()).cloned();
            let asked = asked.unwrap_or_default();
            let asked = asked["content"].as_str().unwrap_or_default();
            let mut facts = said.lock().unwrap_or_else(PoisonError::into_inner)(asked);
            for fact in &mut facts {
                fact["type"] = "semantic".into();
                fact["confidence"] = "explicit".into();
            }
            let content = json!({"facts": facts}).to_string();
            let message = json!({"role": "assistant", "content": content});
            async move { Json(json!({"choices": [{"message": message, "finish_reason": "stop"}]})) }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for the helper")?;
        let url = format!("http://{}/v1/chat/completions", listener.local_addr()?);
        let router = Router::new().route("/v1/chat/completions", post(reply));
        let serving = tokio::spawn(async move {
            // It fails only with its listener; then the jobs say so.
            let _ = axum::serve(listener, router).await;
        });
        let client = Helper::new(Settings {
            role: "memory_extraction",
            address: Address { url, api_key: None },
            model: "scripted".to_owned(),
            limit_name: LimitName::MaxTokens,
            max_tokens: 1_000,
            temperature: 0.0,
            deadline: Duration::from_secs(10),
        })?;
        Ok(Self { answer, client: Arc::new(client), serving })
    }

    /// Sets what it answers a request with: facts, which name their content and the words they were found in.
    pub(crate) fn answer(&self, answer: impl Fn(&str) -> Vec<Value> + Send + 'static) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(answer);
    }
}

impl Drop for ScriptedHelper {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
