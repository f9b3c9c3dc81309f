//! An in-memory store for tests and trials: the simplest implementation, with which the others are
//! compared.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    MAX_LIMIT, dense,
    owner_documents::fair_share,
    scan_cursor::ScanCursor,
    top_k::{Candidate, top_k_apart},
    validate::{self, MAX_SCAN_BYTES, to_microsecond, validate},
};
use memgate_core::memory::{
    Counts, Cursor, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId,
    MemoryStore, Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
};
use memgate_text::index::{Postings, QueryTerms, Terms};

type Kept = HashMap<Owner, HashMap<MemoryId, Whole>>;

/// Memories held in the process's memory only.
#[derive(Default)]
pub struct InMemoryStore {
    kept: RwLock<Kept>,
    closed: AtomicBool,
}

impl InMemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, Kept>, StoreError> {
        self.open()?;
        Ok(self.kept.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, Kept>, StoreError> {
        self.open()?;
        Ok(self.kept.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn open(&self) -> Result<(), StoreError> {
        if self.is_enabled() { Ok(()) } else { Err(StoreError::Unavailable("is closed".into())) }
    }
}

/// Newest first: the order of lists, and of hits with equal scores.
fn newest_first(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    (b.created_at, &b.id).cmp(&(a.created_at, &a.id))
}

/// The evidence of a haystack's memories for a search; `holds` says which of them are meant, `is_shared` whether they are what
/// others share.
fn evidence<'e>(
    entries: impl Iterator<Item = &'e Whole>,
    search: &Search,
    holds: impl Fn(&Memory) -> bool,
    is_shared: bool,
) -> Vec<Evidence> {
    let mut entries: Vec<&Whole> =
        entries.filter(|entry| entry.memory.is_in_use(search.now)).collect();
    entries.sort_by(|a, b| {
        let by_owner = || a.memory.owner.key().cmp(&b.memory.owner.key());
        newest_first(&a.memory, &b.memory).then_with(by_owner)
    });
    if is_shared {
        entries = fair_share(entries, |entry| &entry.memory.owner);
    }
    let query = search.text.as_deref().and_then(QueryTerms::of);
    let scores = query.map(|query| {
        let terms: Vec<Terms> = entries.iter().map(|e| e.memory.terms()).collect();
        let session =
            |memory: &Memory| Some((memory.session_id.clone()?, memory.memory_type.clone()));
        let sessions = entries.iter().map(|entry| session(&entry.memory));
        Postings::of(&terms).said_in(sessions).score(&query, |_| true)
    });
    let found = entries.into_iter().enumerate().filter(|(_, entry)| {
        holds(&entry.memory)
            && search.filter.as_ref().is_none_or(|filter| filter.matches(&entry.memory))
    });
    found
        .map(|(place, entry)| {
            let query = search.vector.as_ref();
            let cosine = query.and_then(|query| dense::nearest(&entry.vectors, query));
            Evidence {
                memory: entry.memory.clone(),
                cosine: cosine.map(|(cosine, _)| cosine),
                part: cosine.map(|(_, part)| part),
                lexical: scores.as_ref().map(|scores| scores[place]),
            }
        })
        .collect()
}

#[async_trait]
impl MemoryStore for InMemoryStore {
    async fn store(
        &self,
        mut memory: Memory,
        vectors: Vec<Embedding>,
        _write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, &vectors)?;
        let mut kept = self.write()?;
        let entries = kept.entry(memory.owner.clone()).or_default();
        if entries.contains_key(&memory.id) {
            return Err(StoreError::Exists);
        }
        let entry = Whole { memory: memory.clone(), history: Vec::new(), vectors };
        entries.insert(memory.id.clone(), entry);
        Ok(memory)
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        validate::filter(search.filter.as_ref())?;
        let kept = self.read()?;
        let limit = search.limit.min(MAX_LIMIT);
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for scope in &search.scopes {
            if let Some(entries) = kept.get(&scope.owner)
                && seen.insert(&scope.owner)
            {
                let holds = |memory: &Memory| search.scopes.iter().any(|scope| scope.holds(memory));
                let searches = |entry: &&Whole| {
                    let memory_type = entry.memory.memory_type.as_str();
                    let mut of_owner = search.scopes.iter().filter(|it| it.owner == scope.owner);
                    of_owner.any(|scope| scope.searches(memory_type))
                };
                let entries = entries.values().filter(searches);
                found.extend(evidence(entries, search, holds, false));
            }
        }
        let first_shared = found.len();
        if let Some(shared) = &search.shared {
            let is_shared = |entry: &&Whole| shared.reader.is_shared_with(&entry.memory);
            let entries = kept.values().flat_map(HashMap::values).filter(is_shared);
            found.extend(evidence(entries, search, |memory| shared.holds(memory), true));
        }
        if search.vector.is_none() && search.text.is_none() {
            found.sort_by(|a, b| newest_first(&a.memory, &b.memory));
            found.truncate(limit);
            return Ok(found);
        }
        let candidates = found.iter().enumerate().map(|(place, evidence)| Candidate {
            place,
            cosine: evidence.cosine.zip(evidence.part),
            lexical: evidence.lexical,
        });
        let chosen =
            top_k_apart(candidates.collect(), limit, |candidate| candidate.place >= first_shared);
        Ok(chosen.into_iter().map(|candidate| found[candidate.place].clone()).collect())
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        let kept = self.read()?;
        let entry = kept.get(owner).and_then(|entries| entries.get(id));
        let memory = entry.map(|entry| &entry.memory).filter(|memory| !memory.is_expired(now));
        memory.cloned().ok_or(StoreError::NotFound)
    }

    async fn get_all(
        &self,
        asked: &[(Owner, MemoryId)],
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let kept = self.read()?;
        let entries = asked.iter().filter_map(|(owner, id)| kept.get(owner)?.get(id));
        let memories = entries.map(|entry| &entry.memory).filter(|memory| !memory.is_expired(now));
        Ok(memories.cloned().collect())
    }

    async fn update(
        &self,
        mut memory: Memory,
        vectors: Option<Vec<Embedding>>,
        _write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, vectors.as_deref().unwrap_or_default())?;
        let mut kept = self.write()?;
        let entries = kept.get_mut(&memory.owner).ok_or(StoreError::NotFound)?;
        let entry = entries.get_mut(&memory.id).ok_or(StoreError::NotFound)?;
        validate::succeed(&mut memory, &entry.memory)?;
        match vectors {
            Some(vectors) => entry.vectors = vectors,
            None if entry.memory.passages() != memory.passages() => entry.vectors.clear(),
            None => {}
        }
        entry.history.push(std::mem::replace(&mut entry.memory, memory.clone()));
        Ok(memory)
    }

    async fn amend(&self, mut memory: Memory) -> Result<(), StoreError> {
        validate(&mut memory, &[])?;
        let mut kept = self.write()?;
        let entries = kept.get_mut(&memory.owner).ok_or(StoreError::NotFound)?;
        let stored = &mut entries.get_mut(&memory.id).ok_or(StoreError::NotFound)?.memory;
        validate::same_version(memory.version, stored.version)?;
        validate::amend(stored, memory);
        Ok(())
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        let kept = self.read()?;
        let entry =
            kept.get(owner).and_then(|entries| entries.get(id)).ok_or(StoreError::NotFound)?;
        Ok(std::iter::once(&entry.memory).chain(entry.history.iter().rev()).cloned().collect())
    }

    async fn spaces(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<String>, StoreError> {
        let kept = self.read()?;
        let entry =
            kept.get(owner).and_then(|entries| entries.get(id)).ok_or(StoreError::NotFound)?;
        let spaces: BTreeSet<&str> = entry.vectors.iter().map(|vector| &*vector.space).collect();
        Ok(spaces.into_iter().map(str::to_owned).collect())
    }

    async fn forget(
        &self,
        owner: &Owner,
        id: &MemoryId,
        _write: &Write,
    ) -> Result<u64, StoreError> {
        let mut kept = self.write()?;
        Ok(kept.get_mut(owner).and_then(|entries| entries.remove(id)).map_or(0, |_| 1))
    }

    async fn forget_all(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        _write: &Write,
    ) -> Result<u64, StoreError> {
        let mut kept = self.write()?;
        let Some(entries) = kept.get_mut(owner) else { return Ok(0) };
        Ok(ids.iter().filter_map(|id| entries.remove(id)).count() as u64)
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        _write: &Write,
    ) -> Result<u64, StoreError> {
        let mut kept = self.write()?;
        let entry = kept.get_mut(owner).and_then(|entries| entries.get_mut(id));
        Ok(entry.map_or(0, |entry| entry.history.drain(..).count() as u64))
    }

    async fn forget_by_scope(
        &self,
        scope: &ForgetScope,
        _write: &Write,
    ) -> Result<u64, StoreError> {
        let mut kept = self.write()?;
        let Some(entries) = kept.get_mut(&scope.owner) else { return Ok(0) };
        let before = entries.len();
        entries.retain(|_, entry| {
            scope.project_id.is_some() && scope.project_id != entry.memory.project_id
        });
        Ok((before - entries.len()) as u64)
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        validate::filter(query.filter.as_ref())?;
        let kept = self.read()?;
        let any_status = query.filter.as_ref().is_some_and(Filter::mentions_status);
        let cursor =
            query.cursor.as_ref().map(|cursor| (to_microsecond(cursor.created_at), &cursor.id));
        let mut memories: Vec<&Memory> = kept
            .get(&query.scope.owner)
            .into_iter()
            .flat_map(|entries| entries.values())
            .map(|entry| &entry.memory)
            .filter(|memory| {
                query.scope.holds(memory)
                    && !memory.is_expired(query.now)
                    && (any_status || memory.status.is_in_use())
                    && query.filter.as_ref().is_none_or(|filter| filter.matches(memory))
                    && cursor.is_none_or(|cursor| (memory.created_at, &memory.id) < cursor)
            })
            .collect();
        memories.sort_by(|a, b| newest_first(a, b));
        let limit = query.limit.min(MAX_LIMIT);
        let more = memories.len() > limit;
        memories.truncate(limit);
        let last = memories.last().filter(|_| more);
        let next = last.map(|last| Cursor { created_at: last.created_at, id: last.id.clone() });
        Ok(Page { memories: memories.into_iter().cloned().collect(), next })
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        validate::filter(filter)?;
        let kept = self.read()?;
        let any_status = filter.is_some_and(Filter::mentions_status);
        let mut counts = Counts::default();
        for entry in kept.get(&scope.owner).into_iter().flat_map(|entries| entries.values()) {
            if !entry.memory.is_expired(now)
                && (any_status || entry.memory.status.is_in_use())
                && scope.holds(&entry.memory)
                && filter.is_none_or(|filter| filter.matches(&entry.memory))
            {
                counts.total += 1;
                counts.embedded += u64::from(!entry.lacks(space));
            }
        }
        Ok(counts)
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        let mut kept = self.write()?;
        for touch in touches {
            if let Some(entry) = kept.get_mut(&touch.owner).and_then(|e| e.get_mut(&touch.id)) {
                validate::touch(&mut entry.memory, touch.at);
            }
        }
        Ok(())
    }

    async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let until = to_microsecond(until);
        let mut kept = self.write()?;
        for entry in kept.get_mut(owner).into_iter().flat_map(HashMap::values_mut) {
            if !entry.memory.is_expired(now)
                && let Some(end) = &mut entry.memory.expires_at
            {
                *end = until.max(*end);
            }
        }
        Ok(())
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        let kept = self.read()?;
        let entries = kept.values().flat_map(|entries| entries.values());
        let mut missing: Vec<&Memory> = entries
            .filter(|entry| entry.memory.status.is_in_use() && entry.lacks(space))
            .map(|entry| &entry.memory)
            .collect();
        missing.sort_by_key(|memory| memory.created_at);
        missing.truncate(limit.min(MAX_LIMIT));
        Ok(missing.into_iter().cloned().collect())
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        validate::coordinates(&vectors)?;
        let mut kept = self.write()?;
        let entry = kept.get_mut(owner).and_then(|entries| entries.get_mut(id));
        if let Some(entry) = entry.filter(|entry| entry.memory.version == version) {
            let new: HashSet<&str> = vectors.iter().map(|vector| &*vector.space).collect();
            entry.vectors.retain(|vector| !new.contains(&*vector.space));
            entry.vectors.extend(vectors);
        }
        Ok(())
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        let after = ScanCursor::parse(after, owner)?;
        let kept = self.read()?;
        let of = kept.iter().filter(|(has, _)| owner.is_none_or(|owner| owner == *has));
        let entries = of.flat_map(|(_, entries)| entries.values());
        let mut entries: Vec<(ScanCursor, &Whole)> =
            entries.map(|entry| (ScanCursor::of(&entry.memory), entry)).collect();
        entries.retain(|(place, _)| *place > after);
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut scan = Scan { found: Vec::new(), next: None };
        let (mut last, mut bytes) = (None, 0);
        for (place, entry) in entries {
            if scan.found.len() >= limit.clamp(1, MAX_LIMIT) || bytes >= MAX_SCAN_BYTES {
                scan.next = last;
                break;
            }
            let mut whole = entry.clone();
            validate::order(&mut whole.vectors);
            bytes += whole.bytes();
            scan.found.push(whole);
            last = Some(place.to_string());
        }
        Ok(scan)
    }

    async fn restore(&self, mut whole: Whole, _write: &Write) -> Result<Restored, StoreError> {
        validate::whole(&mut whole)?;
        let mut kept = self.write()?;
        let entries = kept.entry(whole.memory.owner.clone()).or_default();
        if let Some(stored) = entries.get(&whole.memory.id) {
            let same = whole.is_kept_by(stored);
            return Ok(if same { Restored::Same } else { Restored::Differs });
        }
        entries.insert(whole.memory.id.clone(), whole);
        Ok(Restored::Written)
    }

    async fn clear(&self, _write: &Write) -> Result<(), StoreError> {
        self.write()?.clear();
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.open()
    }

    fn is_enabled(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        InMemoryStore,
        conformance::{SEQUENCES, conforms},
    };

    conforms!(async { (InMemoryStore::new(), ()) }, SEQUENCES);
}
