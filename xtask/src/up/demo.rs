//! The demo: two sessions of one user and one of another with the real stack. It succeeds only if
//! the fact reaches the model server for the user who stated it, and not for the other.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::ports::Ports;
use super::stack::{Plan, Stack};
use super::store::Store;
use super::supervisor::Output;
use crate::assets::Assets;
use crate::build::Binaries;

const FACT: &str = "$10,000";
const STATEMENT: &str = "My budget for the Hawaii trip is $10,000";
const QUESTION: &str = "What's my budget for the trip?";
/// The reply of the echo server to the statement; it must not repeat the fact.
const ACKNOWLEDGEMENT: &str = "Sounds like a lovely trip. Tell me if I can help to plan it.";

/// Starts a separate stack, plays the conversation, and stops the stack.
///
/// # Errors
/// When a part fails, or the fact did not reach exactly the right user.
pub(super) async fn run(
    binaries: Binaries,
    assets: Assets,
    ports: Ports,
    config: std::path::PathBuf,
    store: Option<Store>,
) -> Result<()> {
    let folder =
        TempDir::with_prefix("memgate-demo-").context("cannot create a temporary folder")?;
    let stack = Stack::start(Plan {
        binaries,
        assets,
        ports,
        config,
        production: false,
        store,
        data: folder.path().join("data"),
        upstream: None,
        helper_model: None,
        output: Output::Folder(folder.path().to_owned()),
    })
    .await;
    let outcome = match stack {
        Ok(stack) => {
            let outcome = Demo::new(ports).play().await;
            stack.end().await;
            outcome
        }
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        show_log(&folder);
    }
    outcome
}

/// Shown now, because the folder is about to be removed.
fn show_log(folder: &TempDir) {
    const LINES: usize = 30;
    let log = std::fs::read_to_string(folder.path().join("memgate.log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        crate::assets::progress::say(&format!(" memgate | {line}"));
    }
}

struct Demo {
    client: Client,
    ports: Ports,
}

impl Demo {
    fn new(ports: Ports) -> Self {
        Self { client: Client::new(), ports }
    }

    async fn play(&self) -> Result<()> {
        self.script().await?;

        title("Session A: alice says something worth remembering");
        self.chat("alice", "planning", STATEMENT).await?;
        let flushed =
            self.api("/v1/memory/flush", json!({"user_id": "alice", "timeout_ms": 30_000})).await?;
        if flushed["jobs_pending"] != 0 || flushed["jobs_dead"] != 0 {
            bail!("alice's message was not learned from: {flushed}");
        }

        title("Stored for alice");
        let stored = self.get("/v1/memory?user_id=alice").await?;
        for memory in stored["memories"].as_array().into_iter().flatten() {
            let kind = memory["type"].as_str().unwrap_or("?");
            line(&format!("  {kind}: {}", one_line(&memory["content"])));
        }

        title("Recalled for her question, with scores");
        let found =
            self.api("/v1/memory/search", json!({"user_id": "alice", "query": QUESTION})).await?;
        for hit in found["hits"].as_array().into_iter().flatten() {
            let score = hit["score"].as_f64().unwrap_or_default();
            line(&format!("  {score:.3}  {}", one_line(&hit["memory"]["content"])));
        }

        title("Session B, another day: alice asks, without a word of the sum");
        let sent = self.chat("alice", "back-again", QUESTION).await?;
        let received = self.received("what the model server received for alice").await?;
        title("Bob asks the same");
        self.chat("bob", "bobs-own", QUESTION).await?;
        let received_for_bob = self.received("what the model server received for bob").await?;

        title("So");
        check(!sent.contains(FACT), &format!("{FACT} was not in alice's request of session B"))?;
        check(
            received.contains(FACT),
            &format!("{FACT} was in what the model server received for alice"),
        )?;
        check(
            !received_for_bob.contains(FACT),
            &format!("{FACT} was not in what it received for bob"),
        )
    }

    /// Makes the double acknowledge the statement; it echoes everything else.
    async fn script(&self) -> Result<()> {
        let url = format!("http://127.0.0.1:{}/_double/script", self.ports.double);
        let rules = json!([{"contains": STATEMENT, "times": 1, "reply": ACKNOWLEDGEMENT}]);
        self.client.post(url).json(&rules).send().await?.error_for_status()?;
        Ok(())
    }

    /// Sends one user message through Envoy; returns the body as sent.
    async fn chat(&self, user: &str, session: &str, message: &str) -> Result<String> {
        let body = json!({"model": "echo", "messages": [{"role": "user", "content": message}]})
            .to_string();
        let url = format!("http://127.0.0.1:{}/v1/chat/completions", self.ports.envoy);
        let answer = self
            .client
            .post(url)
            .header("x-authz-user-id", user)
            .header("x-session-id", session)
            .header("content-type", "application/json")
            .timeout(Duration::from_secs(30))
            .body(body.clone())
            .send()
            .await?;
        let status = answer.status();
        let decision = answer
            .headers()
            .get("x-memgate-decision")
            .and_then(|value| value.to_str().ok())
            .unwrap_or("none")
            .to_owned();
        let answer: Value = answer.json().await.context("the response is not JSON")?;
        let content = &answer["choices"][0]["message"]["content"];
        line(&format!("  {user}: {message}"));
        line(&format!("  (memgate: {decision})"));
        if !status.is_success() || !content.is_string() {
            bail!("the model server's answer through Envoy was {status}: {answer}");
        }
        Ok(body)
    }

    /// Prints and returns the body of the last request that reached the model server.
    async fn received(&self, what: &str) -> Result<String> {
        let url = format!("http://127.0.0.1:{}/_double/requests", self.ports.double);
        let requests: Value = self.client.get(url).send().await?.json().await?;
        let last = requests.as_array().and_then(|all| all.last());
        let text = last
            .and_then(|request| request["body_text"].as_str())
            .context("the model server received nothing")?;
        title(&format!("And {what}"));
        let body: Value =
            serde_json::from_str(text).context("the model server did not receive JSON")?;
        for message in body["messages"].as_array().into_iter().flatten() {
            let role = message["role"].as_str().unwrap_or("?");
            for (number, text) in
                message["content"].as_str().unwrap_or_default().lines().enumerate()
            {
                let role = if number == 0 { role } else { "" };
                line(&format!("  {role:>9}  {text}"));
            }
        }
        Ok(text.to_owned())
    }

    async fn api(&self, path: &str, body: Value) -> Result<Value> {
        let url = format!("http://127.0.0.1:{}{path}", self.ports.http);
        let request = self.client.post(url).json(&body).timeout(Duration::from_secs(60));
        answer(path, request).await
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let url = format!("http://127.0.0.1:{}{path}", self.ports.http);
        answer(path, self.client.get(url)).await
    }
}

async fn answer(path: &str, request: reqwest::RequestBuilder) -> Result<Value> {
    let answer = request.send().await?;
    let status = answer.status();
    let body = answer.text().await?;
    if !status.is_success() {
        bail!("memgate answered {path} with {status}: {body}");
    }
    serde_json::from_str(&body).with_context(|| format!("memgate answered {path} with {body}"))
}

fn check(holds: bool, sentence: &str) -> Result<()> {
    line(&format!("  {} {sentence}", if holds { "yes:" } else { "NO: " }));
    if holds {
        Ok(())
    } else {
        bail!("the demo failed; not true: {sentence}");
    }
}

fn title(text: &str) {
    line("");
    line(text);
}

#[expect(clippy::print_stdout, reason = "output of the demo")]
fn line(text: &str) {
    println!("{text}");
}

/// A memory's text on one line.
fn one_line(text: &Value) -> String {
    let text = text.as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
