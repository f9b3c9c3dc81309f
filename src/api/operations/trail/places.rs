//! The places of open streams: so many for users, of which none has many, and others for operators.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api::ApiError;
use memgate_core::memory::Owner;

/// Maximum number of open streams of operators, and as many of all users together. One more is refused with 503.
const STREAMS: usize = 32;
/// Maximum number of open streams of one user: two pages. One more is refused with 429.
const OF_USER: usize = 2;

/// The places; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Places {
    operators: Arc<Semaphore>,
    users: Arc<Mutex<HashMap<Owner, usize>>>,
}

/// A place, which is free again when this is dropped.
#[derive(Debug)]
pub(super) enum Place {
    Operator { _permit: OwnedSemaphorePermit },
    User { of: Places, user: Owner },
}

impl Places {
    pub(super) fn new() -> Self {
        Self { operators: Arc::new(Semaphore::new(STREAMS)), users: Arc::default() }
    }

    /// Takes a place for a user, or for an operator.
    ///
    /// # Errors
    /// 429 when the user has too many, 503 when all places are taken.
    pub(super) fn take(&self, user: Option<&Owner>) -> Result<Place, ApiError> {
        let Some(user) = user else {
            let permit = self.operators.clone().try_acquire_owned().map_err(|_| full())?;
            return Ok(Place::Operator { _permit: permit });
        };
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.get(user).is_some_and(|open| *open >= OF_USER) {
            let message = format!("a user may have {OF_USER} open streams");
            let status = StatusCode::TOO_MANY_REQUESTS;
            let refused = ApiError::new(status, "too_many_streams", message);
            return Err(ApiError { retry_after: Some(1), ..refused });
        }
        if users.values().sum::<usize>() >= STREAMS {
            return Err(full());
        }
        *users.entry(user.clone()).or_default() += 1;
        Ok(Place::User { of: self.clone(), user: user.clone() })
    }
}

fn full() -> ApiError {
    let message = format!("{STREAMS} streams are open");
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self::User { of, user } = self else { return };
        let mut users = of.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = users.get_mut(user) {
            *open -= 1;
            if *open == 0 {
                users.remove(user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(taken: Result<Place, ApiError>) -> u16 {
        taken.unwrap_err().status.as_u16()
    }

    #[test]
    fn a_user_has_two_places_and_gets_one_back_that_is_dropped() {
        let (places, ann) = (Places::new(), Owner::of_user("ann").unwrap());
        let first = places.take(Some(&ann)).unwrap();
        let _second = places.take(Some(&ann)).unwrap();
        assert_eq!(refused(places.take(Some(&ann))), 429);
        let _bobs = places.take(Some(&Owner::of_user("bob").unwrap())).unwrap();
        drop(first);
        let _again = places.take(Some(&ann)).unwrap();
        assert_eq!(refused(places.take(Some(&ann))), 429);
    }

    #[test]
    fn users_who_take_all_their_places_leave_those_of_operators() {
        let places = Places::new();
        let owner = |number: usize| Owner::of_user(&format!("user {number}")).unwrap();
        let mut taken: Vec<Place> =
            (0..STREAMS).map(|number| places.take(Some(&owner(number))).unwrap()).collect();
        assert_eq!(refused(places.take(Some(&owner(STREAMS)))), 503);
        taken.extend((0..STREAMS).map(|_| places.take(None).unwrap()));
        assert_eq!(refused(places.take(None)), 503);
        drop(taken);
        assert!(places.take(Some(&owner(STREAMS))).is_ok() && places.take(None).is_ok());
        assert!(places.users.lock().unwrap().is_empty());
    }
}
