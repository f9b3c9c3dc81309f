//! A ring of the newest records of a trail, bounded by their number and their bytes. The parts that write records
//! decide on their contents.

use std::collections::VecDeque;

use memgate_core::memory::Owner;

/// A record of a trail.
pub trait Record {
    /// Whose it is.
    fn owner(&self) -> &Owner;
    /// The ids that mean it.
    fn ids(&self) -> [Option<&str>; 2];
    /// Whether an id means it.
    fn is(&self, id: &str) -> bool {
        self.ids().contains(&Some(id))
    }
    /// About how much memory it takes, in bytes.
    fn weight(&self) -> usize;
}

/// The newest records. At either bound the oldest go.
#[derive(Debug)]
pub struct Ring<T> {
    // The oldest first, each with its weight.
    records: VecDeque<(usize, T)>,
    bytes: usize,
    max_records: usize,
    max_bytes: usize,
}

impl<T: Record> Ring<T> {
    /// An empty ring.
    #[must_use]
    pub fn new(max_records: usize, max_bytes: usize) -> Self {
        Self { records: VecDeque::new(), bytes: 0, max_records, max_bytes }
    }

    /// Adds the newest record. One that is larger than the whole ring is not kept.
    pub fn push(&mut self, record: T) {
        let weight = record.weight();
        self.bytes += weight;
        self.records.push_back((weight, record));
        self.shrink();
    }

    /// The newest record of an id, of the owners within reach.
    pub fn find(&self, id: &str, reaches: impl Fn(&Owner) -> bool) -> Option<&T> {
        self.all().find(|record| record.is(id) && reaches(record.owner()))
    }

    /// All records, the newest first.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.records.iter().rev().map(|(_, record)| record)
    }

    /// The records of an owner, the newest first.
    pub fn of<'a>(&'a self, owner: &'a Owner) -> impl Iterator<Item = &'a T> {
        self.all().filter(move |it| it.owner() == owner)
    }

    /// Changes the newest record of this owner that fits; returns none where there is none.
    pub fn change<R>(
        &mut self,
        owner: &Owner,
        fits: impl Fn(&T) -> bool,
        change: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        let mut newest = self.records.iter_mut().rev();
        let (weight, record) = newest.find(|(_, it)| it.owner() == owner && fits(it))?;
        let changed = change(record);
        let now = record.weight();
        self.bytes = self.bytes - *weight + now;
        *weight = now;
        self.shrink();
        Some(changed)
    }

    /// Changes all records of an owner; they must not grow.
    pub fn change_all(&mut self, owner: &Owner, mut change: impl FnMut(&mut T)) {
        for (weight, record) in self.records.iter_mut().filter(|(_, it)| it.owner() == owner) {
            change(record);
            let now = record.weight();
            self.bytes = self.bytes - *weight + now;
            *weight = now;
        }
    }

    /// Drops all records of an owner.
    pub fn drop_all(&mut self, owner: &Owner) {
        self.records.retain(|(_, it)| it.owner() != owner);
        self.bytes = self.records.iter().map(|(weight, _)| weight).sum();
    }

    fn shrink(&mut self) {
        while self.records.len() > self.max_records || self.bytes > self.max_bytes {
            let Some((weight, _)) = self.records.pop_front() else { return };
            self.bytes -= weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Note(Owner, &'static str, usize);

    impl Record for Note {
        fn owner(&self) -> &Owner {
            &self.0
        }

        fn ids(&self) -> [Option<&str>; 2] {
            [Some(self.1), None]
        }

        fn weight(&self) -> usize {
            self.2
        }
    }

    fn note(user: &str, id: &'static str, weight: usize) -> Note {
        Note(Owner::of_user(user).unwrap(), id, weight)
    }

    #[test]
    fn the_oldest_records_go_when_there_are_too_many_or_they_are_too_large() {
        let mut ring = Ring::new(2, 100);
        for id in ["a", "b", "c"] {
            ring.push(note("u", id, 10));
        }
        let has = |ring: &Ring<Note>, id: &str| ring.find(id, |_| true).is_some();
        assert_eq!(["a", "b", "c"].map(|id| has(&ring, id)), [false, true, true]);
        ring.push(note("u", "d", 95));
        assert_eq!(["b", "c", "d"].map(|id| has(&ring, id)), [false, false, true]);
        ring.push(note("u", "larger than all", 101));
        assert!(!has(&ring, "larger than all") && ring.records.is_empty() && ring.bytes == 0);
    }

    #[test]
    fn a_record_that_grows_counts_as_what_it_is_now() {
        let mut ring = Ring::new(9, 100);
        ring.push(note("u", "a", 10));
        ring.push(note("u", "b", 10));
        let owner = Owner::of_user("u").unwrap();
        ring.change(&owner, |it| it.is("b"), |it| it.2 = 95);
        assert!(ring.find("a", |_| true).is_none() && ring.bytes == 95);
        ring.change_all(&owner, |it| it.2 = 5);
        assert_eq!(ring.bytes, 5);
    }

    #[test]
    fn an_id_that_two_owners_use_means_each_ones_own_newest() {
        let mut ring = Ring::new(9, 100);
        for (user, weight) in [("ann", 1), ("ann", 2), ("bob", 3)] {
            ring.push(note(user, "same", weight));
        }
        let ann = Owner::of_user("ann").unwrap();
        assert_eq!(ring.find("same", |owner| *owner == ann).map(|it| it.2), Some(2));
        assert_eq!(ring.of(&ann).map(|it| it.2).collect::<Vec<_>>(), [2, 1]);
    }
}
