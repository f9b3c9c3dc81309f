//! Streams of decisions as server-sent events.

use std::{convert::Infallible, pin::Pin, sync::Arc, time::Duration};

use axum::{
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use utoipa::openapi;

use crate::api::{ApiError, DecisionView, Output, read::description::Description};
use memgate_core::memory::Owner;
use memgate_recall::{RecallRecord, RecallTrail};

/// Maximum number of open streams. One more is refused with 503.
const STREAMS: usize = 32;
/// Maximum duration of a stream, after which a reader connects again: a revoked key reads no longer.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The open streams of decisions; clones share them.
#[derive(Clone, Debug)]
pub struct Streams {
    places: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl Streams {
    /// No streams yet; all of them end at `shutdown`.
    #[must_use]
    pub fn new(shutdown: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(STREAMS)), shutdown }
    }

    /// Ends all streams.
    #[cfg(test)]
    pub fn end(&self) {
        self.shutdown.cancel();
    }

    /// Opens a stream of an owner's decisions, or of everybody's.
    pub(super) fn open(
        &self,
        trail: &RecallTrail,
        owner: Option<Owner>,
    ) -> Result<DecisionStream, ApiError> {
        let Some(news) = trail.watch() else {
            let message = "no trail is kept; set memory.trail.requests";
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", message));
        };
        let place = self.places.clone().try_acquire_owned();
        let _place = place.map_err(|_| {
            let message = format!("{STREAMS} streams are open");
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
        })?;
        let reader = Reader { news, owner, _place };
        let events = stream::unfold(reader, |mut reader| async move {
            let told = reader.next().await?;
            Some((told, reader))
        });
        let shutdown = self.shutdown.clone();
        let end = async move {
            let _ = tokio::time::timeout(LIFETIME, shutdown.cancelled()).await;
        };
        Ok(DecisionStream(Box::pin(events.take_until(Box::pin(end)))))
    }
}

/// A reader of decisions.
struct Reader {
    news: broadcast::Receiver<Arc<RecallRecord>>,
    owner: Option<Owner>,
    _place: OwnedSemaphorePermit,
}

impl Reader {
    /// The next event; `None` once no more records are made.
    async fn next(&mut self) -> Option<Told> {
        loop {
            match self.news.recv().await {
                Ok(record) if self.owner.as_ref().is_none_or(|owner| record.owner == *owner) => {
                    return Some(Told::Decision(record.as_ref().into()));
                }
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    return Some(Told::Missed(missed));
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// An event of a stream.
#[derive(Debug)]
enum Told {
    /// A decision.
    Decision(DecisionView),
    /// The reader was too slow for this many decisions, of any user.
    Missed(u64),
}

/// Decisions as they are made.
pub struct DecisionStream(Pin<Box<dyn Stream<Item = Told> + Send>>);

impl Output for DecisionStream {
    /// A client takes the body as it is.
    type View = ();

    fn respond(self, _: StatusCode) -> Response {
        let event = |told| match told {
            Told::Decision(view) => Event::default().event("decision").json_data(view),
            Told::Missed(missed) => Ok(Event::default().event("missed").data(missed.to_string())),
        };
        let events = self.0.filter_map(move |told| std::future::ready(event(told).ok()));
        Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::default()).into_response()
    }

    fn view(_: &[u8]) -> serde_json::Result<()> {
        Ok(())
    }

    fn describe(description: &mut Description, _: StatusCode) -> openapi::Response {
        description.events::<DecisionView>()
    }
}
