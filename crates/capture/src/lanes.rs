//! Lanes: jobs of one lane (one user) never run at the same time, and nothing
//! runs in a lane that is held.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The lanes in which something runs, or that are held.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    // Held for a look-up only, never over an await.
    busy: Mutex<HashMap<String, Lane>>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Lane {
    /// Cancels the job that runs.
    running: Option<CancellationToken>,
    holds: usize,
}

impl Lanes {
    /// The busy lanes as a JSON array.
    pub(crate) fn busy(&self) -> String {
        let lanes: Vec<String> = self.lock().keys().cloned().collect();
        serde_json::Value::from(lanes).to_string()
    }

    /// Takes a lane for a job; `None` when it is busy.
    pub(crate) fn enter(self: &Arc<Self>, lane: &str) -> Option<Running> {
        let mut busy = self.lock();
        if busy.contains_key(lane) {
            return None;
        }
        let stop = CancellationToken::new();
        busy.insert(lane.to_owned(), Lane { running: Some(stop.clone()), holds: 0 });
        Some(Running { lanes: self.clone(), lane: lane.to_owned(), stop })
    }

    /// Stops the job that runs in a lane, waits for its end, and keeps others out.
    pub(crate) async fn hold(self: &Arc<Self>, lane: &str) -> Held {
        {
            let mut busy = self.lock();
            let entry = busy.entry(lane.to_owned()).or_default();
            entry.holds += 1;
            if let Some(stop) = &entry.running {
                stop.cancel();
            }
        }
        let held = Held { lanes: self.clone(), lane: lane.to_owned() };
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before looking, or a change in between would be missed.
            changed.as_mut().enable();
            if self.lock().get(lane).is_none_or(|lane| lane.running.is_none()) {
                return held;
            }
            changed.await;
        }
    }

    fn leave(&self, lane: &str, change: impl FnOnce(&mut Lane)) {
        let mut busy = self.lock();
        if let Some(entry) = busy.get_mut(lane) {
            change(entry);
            if entry.running.is_none() && entry.holds == 0 {
                busy.remove(lane);
            }
        }
        drop(busy);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job has the lane; dropped when it ended.
#[derive(Debug)]
pub(crate) struct Running {
    lanes: Arc<Lanes>,
    lane: String,
    stop: CancellationToken,
}

impl Running {
    /// Completes when the job is to stop.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.lanes.leave(&self.lane, |lane| lane.running = None);
    }
}

/// Nothing runs in the lane while this is there.
#[derive(Debug)]
#[must_use = "dropping it lets jobs run again"]
pub(crate) struct Held {
    lanes: Arc<Lanes>,
    lane: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lanes.leave(&self.lane, |lane| lane.holds -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_takes_one_job_and_a_hold_stops_it_and_keeps_others_out() {
        let lanes = Arc::new(Lanes::default());
        let running = lanes.enter("a").unwrap();
        assert!(lanes.enter("a").is_none() && lanes.enter("b").is_some());
        assert_eq!(lanes.busy(), r#"["a"]"#);
        let job = tokio::spawn(async move { running.stopped().await });
        let held = lanes.hold("a").await;
        job.await.unwrap();
        assert!(lanes.enter("a").is_none());
        drop(held);
        assert!(lanes.enter("a").is_some());
        assert_eq!(lanes.busy(), "[]");
    }
}
