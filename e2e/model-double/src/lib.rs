//! A model server for tests and demos: it speaks Chat Completions, Responses and Embeddings, answers with what it was sent,
//! remembers every request byte for byte, and misbehaves when the request's `x-double` header tells it to.
//!
//! It must never know memgate: what it does would be the same without a gateway before it.
//!
//! | route | what it does |
//! |---|---|
//! | POST `*/v1/chat/completions`, `*/v1/responses` | a scripted reply, or an echo; see [`directives`] for faults |
//! | POST `*/v1/embeddings` | vectors that are near when texts share words, or as scripted; see [`embeddings`] |
//! | GET `*/v1/models` | one model, `echo` |
//! | GET, DELETE `/_double/requests` | the requests received, oldest first (`?header=x-test&value=1`: only some); forget them |
//! | POST `/_double/script` | sets the scripted replies; see [`script`] |

mod ask;
mod chat;
mod directives;
mod embeddings;
mod handler;
mod journal;
mod reply;
mod responses;
mod script;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tokio::net::TcpListener;

/// The largest request body taken, in bytes; a larger one is answered with 413.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// The state that all requests share.
#[derive(Default)]
struct Double {
    journal: journal::Journal,
    script: script::Script,
    /// Makes ids that no other reply of this process has.
    replies: AtomicU64,
}

impl Double {
    /// An id such as `resp_double_17`, unique in this process.
    fn next_id(&self, prefix: &str) -> String {
        let n = self.replies.fetch_add(1, Ordering::Relaxed);
        // The process id keeps ids apart over a restart: a memory service may remember response ids.
        format!("{prefix}_double_{}_{n}", std::process::id())
    }
}

/// Serves on `listener` until the future is dropped.
///
/// # Errors
/// Those of accepting connections.
pub async fn serve(listener: TcpListener) -> std::io::Result<()> {
    axum::serve(tcp_nodelay(listener), router()).await
}

/// Small chunks must leave at once, or their timing means nothing.
fn tcp_nodelay(listener: TcpListener) -> impl axum::serve::Listener<Addr = std::net::SocketAddr> {
    use axum::serve::ListenerExt as _;
    listener.tap_io(|stream| {
        // Only the timing suffers if it fails.
        drop(stream.set_nodelay(true));
    })
}

fn router() -> Router {
    Router::new()
        .route("/_double/requests", get(handler::requests).delete(handler::forget_requests))
        .route("/_double/script", post(handler::set_script))
        .fallback(handler::model_request)
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::new(Double::default()))
}
