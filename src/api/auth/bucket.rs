//! Rate limits: a token bucket for each key or user.

use std::{
    hash::Hash,
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use axum::http::StatusCode;
use lru::LruCache;

use crate::api::ApiError;

/// Maximum number of buckets. Beyond it the least recently used one is dropped, and its caller
/// starts again with a full one.
const MAX_BUCKETS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
/// Seconds for which a caller can save up unused requests.
const SAVED_SECONDS: f64 = 2.0;

/// The number of requests that a caller may still send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn full(most: f64, now: Instant) -> Self {
        Self { tokens: most, at: now }
    }

    /// Adds what has come in since the last call.
    pub(super) fn fill(&mut self, per_second: f64, most: f64, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        *self = Self { tokens: (self.tokens + passed * per_second).min(most), at: now };
    }

    /// Takes a token, or tells after how many seconds there will be one.
    pub(super) fn take(&mut self, per_second: f64) -> Result<(), f64> {
        self.has_one(per_second)?;
        self.tokens -= 1.0;
        Ok(())
    }

    pub(super) fn has_one(&self, per_second: f64) -> Result<(), f64> {
        if self.tokens >= 1.0 { Ok(()) } else { Err((1.0 - self.tokens) / per_second) }
    }
}

/// The buckets of many callers.
pub(super) struct Buckets<K: Hash + Eq> {
    per_second: f64,
    of: Mutex<LruCache<K, Bucket>>,
}

impl<K: Hash + Eq> Buckets<K> {
    /// With 0 there is no limit.
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second: per_second.into(), of: Mutex::new(LruCache::new(MAX_BUCKETS)) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// 429 when there were too many.
    pub(super) fn take(&self, caller: K, now: Instant) -> Result<(), ApiError> {
        if self.per_second == 0.0 {
            return Ok(());
        }
        let most = self.per_second * SAVED_SECONDS;
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = of.get_or_insert_mut(caller, || Bucket::full(most, now));
        bucket.fill(self.per_second, most, now);
        bucket.take(self.per_second).map_err(|seconds| {
            let message = format!("at most {} requests per second are allowed", self.per_second);
            too_many("rate_limited", &message, seconds)
        })
    }
}

/// 429, to be repeated after so many seconds.
pub(super) fn too_many(code: &str, message: &str, seconds: f64) -> ApiError {
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest integer")]
    #[expect(clippy::cast_sign_loss, reason = "a negative float becomes 0")]
    let seconds = seconds.ceil() as u32;
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, message);
    ApiError { retry_after: Some(seconds.max(1)), ..error }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_caller_may_send_so_many_requests_per_second_and_others_are_not_affected() {
        let (buckets, start) = (Buckets::new(2), Instant::now());
        for _ in 0..4 {
            buckets.take("a", start).unwrap();
        }
        let refused = buckets.take("a", start).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(1)));
        buckets.take("b", start).unwrap();
        let later = start + Duration::from_millis(500);
        buckets.take("a", later).unwrap();
        assert!(buckets.take("a", later).is_err());
    }

    #[test]
    fn zero_means_no_limit() {
        let (buckets, now) = (Buckets::new(0), Instant::now());
        assert!((0..10_000).all(|_| buckets.take("a", now).is_ok()));
    }
}
