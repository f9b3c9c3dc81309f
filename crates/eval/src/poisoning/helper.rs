//! A helper model on a free port that answers with what an evaluation has set: as a model that was fooled would.

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

/// The server. It ends when this is dropped.
pub(super) struct ScriptedHelper {
    answer: Arc<Mutex<String>>,
    /// The client of the server.
    pub(super) client: Arc<Helper>,
    serving: JoinHandle<()>,
}

impl ScriptedHelper {
    /// Starts it.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) async fn start() -> Result<Self> {
        let answer = Arc::<Mutex<String>>::default();
        let said = answer.clone();
        let reply = move || {
            let content = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
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

    /// Sets its answer: the facts of a row, which name their content and the words they were found in.
    pub(super) fn answer(&self, facts: &[Value]) {
        let typed = facts.iter().map(|fact| {
            let mut fact = fact.clone();
            fact["type"] = "semantic".into();
            fact["confidence"] = "explicit".into();
            fact
        });
        let answer = json!({"facts": typed.collect::<Vec<_>>()}).to_string();
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }
}

impl Drop for ScriptedHelper {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
