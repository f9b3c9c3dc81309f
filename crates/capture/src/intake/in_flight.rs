//! Exchanges that have begun and are not yet in the journal, so that a flush
//! can wait for those of its user, and for those whose user is not known yet.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, futures::Notified};

use crate::{
    journal::{Entry, Forget, Forgotten},
    session::SessionKey,
};
use memgate_core::memory::Owner;

/// The most forgotten turns that are kept in mind while an older exchange goes on.
const MOST_TURNS: usize = 4096;

/// All exchanges in flight. The gateway's bound on streams bounds them.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    // Held for a look-up only, never over an await.
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next one.
    next: u64,
    begun: HashMap<u64, Begun>,
    /// Scopes that were forgotten while exchanges that began before are still in flight: one entry
    /// an owner and project.
    forgotten: Vec<ForgottenScope>,
    /// Single turns that were, each with the number of the next exchange; the last of them.
    turns: VecDeque<(Forgotten, u64)>,
}

/// An exchange in flight, as far as it is known.
#[derive(Debug, Default)]
struct Begun {
    owner: Option<Owner>,
    session: Option<SessionKey>,
    request_id: Option<String>,
}

impl Begun {
    /// Whether it is this owner's, or may turn out to be.
    fn may_be_of(&self, owner: &Owner) -> bool {
        self.owner.as_ref().is_none_or(|known| known == owner)
    }
}

/// Exchanges of this scope that began before this number are not learnt from.
#[derive(Debug)]
struct ForgottenScope {
    owner: Owner,
    /// `None` is everything of the owner.
    project: Option<String>,
    before: u64,
}

impl State {
    /// Drops what no exchange in flight can need.
    fn tidy(&mut self) {
        if !self.forgotten.is_empty() || !self.turns.is_empty() {
            let oldest = self.begun.keys().min().copied();
            let needed = |before| oldest.is_some_and(|oldest| oldest < before);
            self.forgotten.retain(|it| needed(it.before));
            self.turns.retain(|(_, before)| needed(*before));
        }
    }
}

impl Exchanges {
    pub(crate) fn begin(self: &Arc<Self>) -> InFlight {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.begun.insert(number, Begun::default());
        InFlight { exchanges: self.clone(), number }
    }

    /// Notes that exchanges which have begun by now are not to be learnt from.
    pub(crate) fn forget(&self, owner: &Owner, what: &Forget) {
        let project = match what {
            Forget::Everything => None,
            Forget::Project(project) => Some(project.clone()),
            // These are in the journal already: `forget_turns`.
            Forget::Turn(_) | Forget::Found { .. } => return,
        };
        let mut state = self.lock();
        state.forgotten.retain(|it| it.owner != *owner || it.project != project);
        let before = state.next;
        state.forgotten.push(ForgottenScope { owner: owner.clone(), project, before });
        state.tidy();
    }

    /// Notes that exchanges which have begun by now are not to bring these turns back: one may be
    /// answered anew, or its tools may be running.
    pub(crate) fn forget_turns(&self, turns: Vec<Forgotten>) {
        let mut state = self.lock();
        let before = state.next;
        for turn in turns {
            state.turns.retain(|(known, _)| *known != turn);
            state.turns.push_back((turn, before));
            if state.turns.len() > MOST_TURNS {
                state.turns.pop_front();
            }
        }
        state.tidy();
    }

    /// Waits until every exchange that has begun by now, and is or turns out to
    /// be this owner's, has ended.
    pub(crate) async fn settled(&self, owner: &Owner) {
        let before = self.lock().next;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before looking, or a change in between would be missed.
            changed.as_mut().enable();
            let waits = self
                .lock()
                .begun
                .iter()
                .any(|(number, it)| *number < before && it.may_be_of(owner));
            if !waits {
                return;
            }
            changed.await;
        }
    }

    /// Exchanges that are, or may be, this owner's.
    pub(crate) fn count(&self, owner: &Owner) -> u64 {
        self.lock().begun.values().filter(|it| it.may_be_of(owner)).count() as u64
    }

    /// Whether any but the exchange of this request is, or may be, this owner's.
    pub(crate) fn any_other(&self, owner: &Owner, request_id: Option<&str>) -> bool {
        let other = |it: &Begun| request_id.is_none() || it.request_id.as_deref() != request_id;
        self.lock().begun.values().any(|it| it.may_be_of(owner) && other(it))
    }

    /// The sessions of an owner's exchanges, as far as they are known. Those whose
    /// owner is not known yet are passed over: on a busy gateway there are always some.
    pub(crate) fn sessions_of(&self, owner: &Owner) -> Vec<Option<SessionKey>> {
        let of_owner = |it: &&Begun| it.owner.as_ref() == Some(owner);
        self.lock().begun.values().filter(of_owner).map(|it| it.session.clone()).collect()
    }

    /// Told when an exchange has ended, or its owner has become known.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An exchange in flight; dropping it ends that, however the exchange ended.
#[derive(Debug)]
#[must_use = "dropping it at once would end the exchange"]
pub struct InFlight {
    exchanges: Arc<Exchanges>,
    number: u64,
}

impl InFlight {
    /// Says whose exchange it is, so that nobody else's flush waits for it.
    pub fn known(&self, owner: &Owner) {
        self.exchanges.lock().begun.entry(self.number).or_default().owner = Some(owner.clone());
        self.exchanges.changed.notify_waiters();
    }

    /// Says which session it is in, so that this one does not end meanwhile.
    pub fn talks_in(&self, session: SessionKey) {
        self.exchanges.lock().begun.entry(self.number).or_default().session = Some(session);
    }

    /// Says which request it is, so that this request does not wait for itself.
    pub fn named(&self, request_id: &str) {
        let mut state = self.exchanges.lock();
        state.begun.entry(self.number).or_default().request_id = Some(request_id.to_owned());
    }

    /// Whether the owner had everything of this scope forgotten since it began.
    pub(crate) fn is_forgotten(&self, owner: &Owner, project: Option<&str>) -> bool {
        self.exchanges.lock().forgotten.iter().any(|it| {
            self.number < it.before
                && it.owner == *owner
                && (it.project.is_none() || it.project.as_deref() == project)
        })
    }
}

impl InFlight {
    /// Whether what it says is of a turn that was forgotten since it began.
    pub(crate) fn brings_back(&self, entry: &Entry) -> bool {
        let state = self.exchanges.lock();
        state.turns.iter().any(|(turn, before)| self.number < *before && entry.is_of(turn))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.exchanges.lock();
        state.begun.remove(&self.number);
        state.tidy();
        drop(state);
        self.exchanges.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_own_and_unknown_exchanges_are_waited_for_and_not_those_begun_later() {
        let exchanges = Arc::new(Exchanges::default());
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let (first, second, third) = (exchanges.begin(), exchanges.begin(), exchanges.begin());
        first.known(&alice);
        second.known(&bob);
        let waiting = tokio::spawn({
            let (exchanges, alice) = (exchanges.clone(), alice.clone());
            async move { exchanges.settled(&alice).await }
        });
        tokio::task::yield_now().await;
        let _later = exchanges.begin();
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the third may still be alice's");
        third.known(&bob);
        waiting.await.unwrap();
    }

    #[test]
    fn the_sessions_of_an_owners_exchanges_are_told_as_far_as_they_are_known() {
        let exchanges = Arc::new(Exchanges::default());
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let begun: Vec<InFlight> = (0..4).map(|_| exchanges.begin()).collect();
        begun[0].known(&alice);
        begun[0].talks_in(SessionKey::Named("s".into()));
        begun[1].known(&alice);
        begun[2].known(&bob);
        let sessions = exchanges.sessions_of(&alice);
        assert_eq!(sessions.len(), 2, "bob's and nobody's are none of alice's");
        assert!(
            sessions.contains(&Some(SessionKey::Named("s".into()))) && sessions.contains(&None)
        );
        drop(begun);
        assert!(exchanges.sessions_of(&alice).is_empty());
    }

    #[test]
    fn a_request_is_not_another_to_itself() {
        let exchanges = Arc::new(Exchanges::default());
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let (own, other) = (exchanges.begin(), exchanges.begin());
        own.named("r1");
        assert!(exchanges.any_other(&alice, Some("r1")), "the second may be alice's");
        other.known(&bob);
        assert!(!exchanges.any_other(&alice, Some("r1")));
        assert!(exchanges.any_other(&alice, Some("r2")) && exchanges.any_other(&alice, None));
    }

    #[test]
    fn what_was_forgotten_is_kept_in_mind_while_older_exchanges_are_in_flight() {
        let exchanges = Arc::new(Exchanges::default());
        let alice = Owner::of_user("alice").unwrap();
        exchanges.forget(&alice, &Forget::Everything);
        assert!(exchanges.lock().forgotten.is_empty());
        let (first, second) = (exchanges.begin(), exchanges.begin());
        for _ in 0..3 {
            exchanges.forget(&alice, &Forget::Everything);
            exchanges.forget(&alice, &Forget::Project("p".into()));
        }
        assert_eq!(exchanges.lock().forgotten.len(), 2);
        assert!(first.is_forgotten(&alice, None));
        assert!(!exchanges.begin().is_forgotten(&alice, None));
        drop((first, second));
        assert!(exchanges.lock().forgotten.is_empty());
    }
}
