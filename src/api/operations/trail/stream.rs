//! Streams of decisions as server-sent events.

use std::{convert::Infallible, pin::Pin, sync::Arc, time::Duration};

use axum::{
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures_util::{Stream, StreamExt, stream};
use tokio::{
    sync::broadcast,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use utoipa::openapi;

use crate::api::{
    ApiError, DecisionView, Output,
    operations::trail::places::{Place, Places},
    read::description::Description,
};
use memgate_core::memory::Owner;
use memgate_recall::{RecallRecord, RecallTrail};

/// Maximum duration of a stream, after which a reader connects again and is judged anew.
const LIFETIME: Duration = Duration::from_secs(15 * 60);
/// A stream without an event for so long sends a comment, so that nobody between takes it for dead.
const QUIET: Duration = Duration::from_secs(15);

/// Says whether the reader of a stream may still read.
pub(super) type Permit = Box<dyn Fn() -> bool + Send>;

/// The open streams of decisions; clones share them.
#[derive(Clone, Debug)]
pub struct Streams {
    places: Places,
    shutdown: CancellationToken,
}

impl Streams {
    /// No streams yet; all of them end at `shutdown`.
    #[must_use]
    pub fn new(shutdown: CancellationToken) -> Self {
        Self { places: Places::new(), shutdown }
    }

    /// Ends all streams.
    #[cfg(test)]
    pub fn end(&self) {
        self.shutdown.cancel();
    }

    /// Opens a stream of an owner's decisions, or of everybody's. `reader` is the user who reads it, or none for an
    /// operator. It ends at the first event, or comment, that the reader may not read any more.
    pub(super) fn open(
        &self,
        trail: &RecallTrail,
        owner: Option<Owner>,
        reader: Option<&Owner>,
        is_permitted: Permit,
    ) -> Result<DecisionStream, ApiError> {
        let Some(news) = trail.watch() else {
            let message = "no trail is kept; set memory.trail.requests";
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", message));
        };
        let _place = self.places.take(reader)?;
        let reader = Reader { news, owner, is_permitted, quiet: QUIET, _place };
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
    is_permitted: Permit,
    /// How long it waits for an event.
    quiet: Duration,
    _place: Place,
}

impl Reader {
    /// The next event; `None` once no more records are made, or the reader may not read them.
    async fn next(&mut self) -> Option<Told> {
        let quiet_until = Instant::now() + self.quiet;
        loop {
            let news = timeout_at(quiet_until, self.news.recv()).await;
            // The key may have been revoked, or have expired, while the reader waited.
            if !(self.is_permitted)() {
                return None;
            }
            let Ok(news) = news else { return Some(Told::Nothing) };
            match news {
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
    /// Nothing has happened.
    Nothing,
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
            Told::Nothing => Ok(Event::default().comment("")),
        };
        let events = self.0.filter_map(move |told| std::future::ready(event(told).ok()));
        Sse::new(events.map(Ok::<_, Infallible>)).into_response()
    }

    fn view(_: &[u8]) -> serde_json::Result<()> {
        Ok(())
    }

    fn describe(description: &mut Description, _: StatusCode) -> openapi::Response {
        description.events::<DecisionView>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_quiet_stream_sends_comments_until_its_reader_may_not_read() {
        let (_sender, news) = broadcast::channel(1);
        let permitted = Arc::new(AtomicBool::new(true));
        let of_reader = permitted.clone();
        let is_permitted: Permit = Box::new(move || of_reader.load(Ordering::SeqCst));
        let _place = Places::new().take(None).unwrap();
        let mut reader = Reader { news, owner: None, is_permitted, quiet: Duration::ZERO, _place };
        assert!(matches!(reader.next().await, Some(Told::Nothing)));
        permitted.store(false, Ordering::SeqCst);
        assert!(reader.next().await.is_none());
    }
}
