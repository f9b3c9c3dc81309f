//! The brake on wrong keys: an address that sends many of them is refused for a while, before its
//! next key is looked at.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use lru::LruCache;

use crate::api::{
    ApiError,
    auth::bucket::{Bucket, too_many},
};

/// Maximum number of remembered addresses. Beyond it the one whose last wrong key is longest ago is
/// forgotten.
const MAX_PEERS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
/// Number of wrong keys that an address may send at once.
const AT_ONCE: f64 = 20.0;
/// Number of wrong keys per second after that.
const PER_SECOND: f64 = 1.0;

/// The addresses that sent wrong keys.
pub(super) struct Brake(Mutex<LruCache<IpAddr, Bucket>>);

impl Default for Brake {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_PEERS)))
    }
}

impl Brake {
    /// Refuses an address with too many wrong keys; a correct key does not help it, or guessing
    /// would not be slowed down.
    ///
    /// # Errors
    /// 429.
    pub(super) fn check(&self, peer: IpAddr, now: Instant) -> Result<(), ApiError> {
        let mut of = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bucket) = of.peek_mut(&network(peer)) else { return Ok(()) };
        bucket.fill(PER_SECOND, AT_ONCE, now);
        bucket.has_one(PER_SECOND).map_err(|seconds| {
            let message = "too many incorrect API keys from this address";
            too_many("too_many_wrong_keys", message, seconds)
        })
    }

    /// Counts a wrong key.
    pub(super) fn wrong_key(&self, peer: IpAddr, now: Instant) {
        let mut of = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = of.get_or_insert_mut(network(peer), || Bucket::full(AT_ONCE, now));
        bucket.fill(PER_SECOND, AT_ONCE, now);
        // Requests that were checked at the same time may find it empty.
        let _ = bucket.take(PER_SECOND);
    }
}

/// An IPv6 host has a whole /64.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_address_with_too_many_wrong_keys_is_refused_until_it_pauses() {
        let (brake, start) = (Brake::default(), Instant::now());
        let (guesser, other): (IpAddr, IpAddr) =
            ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        for _ in 0..20 {
            brake.check(guesser, start).unwrap();
            brake.wrong_key(guesser, start);
        }
        let refused = brake.check(guesser, start).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(1)));
        brake.check(other, start).unwrap();
        brake.check(guesser, start + Duration::from_secs(1)).unwrap();
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_together() {
        let (brake, now) = (Brake::default(), Instant::now());
        for host in 0..20 {
            brake.wrong_key(format!("2001:db8::{host:x}").parse().unwrap(), now);
        }
        assert!(brake.check("2001:db8::ffff".parse().unwrap(), now).is_err());
        assert!(brake.check("2001:db8:1::1".parse().unwrap(), now).is_ok());
    }

    #[test]
    fn the_number_of_remembered_addresses_is_bounded() {
        let (brake, now) = (Brake::default(), Instant::now());
        for number in 0..20_000_u32 {
            brake.wrong_key(IpAddr::V4(number.into()), now);
        }
        assert_eq!(brake.0.lock().unwrap().len(), MAX_PEERS.get());
    }
}
