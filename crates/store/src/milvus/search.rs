//! Search: the server finds the nearest vectors; words are compared locally with the owner's own
//! statistics.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{
    MAX_LIMIT, dense,
    milvus::{
        connection::{fault::Fault, server::WINDOW},
        expression::{of_owner, one_of},
        rows::{Stored, read_vector_key},
        schema::VectorCollection,
        session::Session,
        view::{Line, Reader},
    },
    owner_documents::{Haystack, haystacks},
    top_k::{Candidate, top_k_apart},
};
use memgate_core::memory::{Evidence, Filter, QueryVector, ScopeQuery, Search, SharedScope};
use memgate_text::index::{Postings, QueryTerms, Terms};

/// Up to this many memories are listed explicitly in the request.
const NAMED: usize = 1_000;

/// Everything a search needs.
pub(super) struct Searcher<'a> {
    pub(super) session: &'a Session,
    pub(super) reader: Reader<'a>,
}

/// The memories of a haystack.
struct Searched<'s> {
    haystack: Haystack<'s>,
    /// Memories in use, newest first.
    lines: Vec<Line>,
    /// Which of them match the search's conditions.
    meant: Vec<bool>,
}

impl Searcher<'_> {
    /// The evidence for a search.
    pub(super) async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, Fault> {
        let limit = search.limit.min(MAX_LIMIT);
        let mut searched = Vec::new();
        let mut candidates = Vec::new();
        for haystack in haystacks(search) {
            let haystack = self.searched(haystack, search).await?;
            let place = searched.len();
            let cosines = match &search.vector {
                Some(vector) => self.cosines(&haystack, vector, limit).await?,
                None => HashMap::new(),
            };
            let words = match search.text.as_deref().and_then(QueryTerms::of) {
                Some(query) => Some(self.postings(&haystack).await?.score(&query, |_| true)),
                None => None,
            };
            for (at, _) in haystack.meant.iter().enumerate().filter(|(_, meant)| **meant) {
                candidates.push(Candidate {
                    place: (place, at),
                    cosine: cosines.get(&at).copied(),
                    lexical: words.as_ref().map(|scores| scores[at]),
                });
            }
            searched.push(haystack);
        }
        if search.vector.is_none() && search.text.is_none() {
            candidates.sort_by_key(|candidate| {
                let (owner, at) = candidate.place;
                let line: &Line = &searched[owner].lines[at];
                std::cmp::Reverse((line.created_at, line.id.clone()))
            });
            candidates.truncate(limit);
        } else {
            candidates = top_k_apart(candidates, limit, |candidate| {
                searched[candidate.place.0].haystack.is_shared()
            });
        }
        self.evidence(&searched, candidates).await
    }

    /// A haystack's memories in use, and which of them match.
    async fn searched<'s>(
        &self,
        haystack: Haystack<'s>,
        search: &Search,
    ) -> Result<Searched<'s>, Fault> {
        let consistency = self.session.server.consistency();
        let mut lines = match &haystack {
            Haystack::Owner(owner, _) => self.reader.lines(owner, consistency).await?,
            Haystack::Shared(scope) => self.reader.shared_lines(&scope.reader, consistency).await?,
        };
        lines.retain(|line| line.is_in_use(search.now) && line.is_searched_by(&haystack));
        let in_scope = |line: &Line| match &haystack {
            Haystack::Owner(_, scopes) => scopes.iter().any(|scope| line.is_in(scope)),
            Haystack::Shared(scope) => line.is_covered_by(scope),
        };
        let mut meant: Vec<bool> = lines.iter().map(in_scope).collect();
        if let Some(filter) = &search.filter {
            self.narrow(&lines, &mut meant, filter).await?;
        }
        Ok(Searched { haystack, lines, meant })
    }

    /// Clears those that do not match the filter.
    pub(super) async fn narrow(
        &self,
        lines: &[Line],
        meant: &mut [bool],
        filter: &Filter,
    ) -> Result<(), Fault> {
        let asked = lines.iter().zip(meant.iter()).filter(|(_, meant)| **meant);
        let consistency = self.session.server.consistency();
        let memories = self.reader.memories(asked.map(|(line, _)| line), consistency).await?;
        for (line, meant) in lines.iter().zip(meant) {
            let met = |memory: &Stored| filter.matches(&memory.memory);
            *meant = *meant && memories.get(&line.memory).is_some_and(met);
        }
        Ok(())
    }

    /// The words of a haystack's memories.
    async fn postings(&self, haystack: &Searched<'_>) -> Result<Postings, Fault> {
        let without: Vec<&Line> =
            haystack.lines.iter().filter(|line| line.terms.is_none()).collect();
        let texts = self.reader.memories(without, self.session.server.consistency()).await?;
        let terms: Vec<Terms> = haystack
            .lines
            .iter()
            .map(|line| match (&line.terms, texts.get(&line.memory)) {
                (Some(terms), _) => terms.clone(),
                (None, Some(stored)) => stored.memory.terms(),
                (None, None) => Terms::default(),
            })
            .collect();
        Ok(Postings::of(&terms).said_in(haystack.lines.iter().map(Line::said_in)))
    }

    /// The best cosine of the matching memories with its part, by their index.
    async fn cosines(
        &self,
        haystack: &Searched<'_>,
        query: &QueryVector,
        limit: usize,
    ) -> Result<HashMap<usize, (f32, u16)>, Fault> {
        let mut cosines = HashMap::new();
        let mut on_server = HashMap::new();
        for (at, line) in haystack.lines.iter().enumerate().filter(|(at, _)| haystack.meant[*at]) {
            let Some(placed) = line.spaces.get(&*query.space) else { continue };
            let fresh = line.fresh.iter().flat_map(|fresh| &fresh.vectors);
            match dense::nearest(fresh, query) {
                Some(nearest) => {
                    cosines.insert(at, nearest);
                }
                None => {
                    on_server.insert(line.memory.as_str(), (at, placed.revision));
                }
            }
        }
        if on_server.is_empty() {
            return Ok(cosines);
        }
        let Some(collection) = self.session.space(&query.space).await? else { return Ok(cosines) };
        if collection.dimension != query.values.len() {
            return Ok(cosines);
        }
        let mut named: Vec<&str> = on_server.keys().copied().collect();
        named.sort_unstable();
        let filters = match &haystack.haystack {
            Haystack::Owner(owner, _) => {
                let mut everything =
                    haystack.lines.iter().filter(|line| line.spaces.contains_key(&*query.space));
                let is_part = everything.nth(on_server.len()).is_some();
                let filter = of_owner(owner);
                if is_part && named.len() <= NAMED {
                    vec![(format!("{filter} and {}", one_of("memory", &named)), named.len())]
                } else {
                    vec![(filter, named.len())]
                }
            }
            Haystack::Shared(_) => {
                let filters = named.chunks(NAMED);
                filters.map(|named| (one_of("memory", named), named.len())).collect()
            }
        };
        for (filter, count) in filters {
            let most = limit.min(count);
            let found = self.nearest(&collection, &filter, &on_server, query, most, limit);
            cosines.extend(found.await?);
        }
        Ok(cosines)
    }

    /// The best cosines that the server finds by a filter, until there are `most`.
    async fn nearest(
        &self,
        collection: &VectorCollection,
        filter: &str,
        on_server: &HashMap<&str, (usize, i64)>,
        query: &QueryVector,
        most: usize,
        limit: usize,
    ) -> Result<HashMap<usize, (f32, u16)>, Fault> {
        let consistency = self.session.server.consistency();
        // Several parts of one memory and obsolete rows also count towards the limit.
        let mut asked = (limit * 2 + 16).min(WINDOW);
        loop {
            let server = &self.session.server;
            let hits =
                server.nearest(&collection.name, filter, &query.values, asked, consistency).await?;
            let mut found: HashMap<usize, (f32, u16)> = HashMap::new();
            for hit in &hits {
                let Some((memory, revision, part)) = read_vector_key(&hit.key) else { continue };
                if let Some((at, expected)) = on_server.get(memory)
                    && *expected == revision
                {
                    let mut nearest = found.get(at).copied();
                    dense::keep_best(&mut nearest, (hit.cosine, part));
                    found.extend(nearest.map(|nearest| (*at, nearest)));
                }
            }
            if found.len() >= most || hits.len() < asked || asked == WINDOW {
                return Ok(found);
            }
            asked = (asked * 4).min(WINDOW);
        }
    }

    /// Reads the selected memories.
    async fn evidence(
        &self,
        haystacks: &[Searched<'_>],
        chosen: Vec<Candidate<(usize, usize)>>,
    ) -> Result<Vec<Evidence>, Fault> {
        let consistency = self.session.server.consistency();
        let mut memories = Vec::new();
        for (place, haystack) in haystacks.iter().enumerate() {
            let lines = chosen.iter().filter(|it| it.place.0 == place);
            let lines = lines.map(|it| &haystack.lines[it.place.1]);
            memories.push(match &haystack.haystack {
                Haystack::Owner(..) => self.reader.memories(lines, consistency).await?,
                Haystack::Shared(scope) => self.current(scope, lines).await?,
            });
        }
        let evidence = chosen.into_iter().filter_map(|candidate| {
            let (owner, at) = candidate.place;
            // A memory that was removed meanwhile is skipped.
            let stored = memories[owner].get(&haystacks[owner].lines[at].memory)?;
            Some(Evidence {
                memory: stored.memory.clone(),
                cosine: candidate.cosine.map(|(cosine, _)| cosine),
                part: candidate.cosine.map(|(_, part)| part),
                lexical: candidate.lexical,
            })
        });
        Ok(evidence.collect())
    }

    /// The memories of these lines that are shared in their current state. A state that was replaced may have been shared
    /// and not be removed yet.
    async fn current<'l>(
        &self,
        scope: &SharedScope,
        lines: impl IntoIterator<Item = &'l Line>,
    ) -> Result<HashMap<String, Stored>, Fault> {
        let keys: Vec<_> = lines.into_iter().map(|line| (&line.owner, &*line.memory)).collect();
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let known = self.reader.currents_of(&keys, self.session.server.consistency()).await?;
        let states = known.known.into_iter().map(|(key, known)| (key, known.stored));
        Ok(states.filter(|(_, stored)| scope.holds(&stored.memory)).collect())
    }

    /// The lines of a scope for a list or count, newest first.
    pub(super) async fn listed(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        any_status: bool,
        now: Timestamp,
    ) -> Result<Vec<Line>, Fault> {
        let lines = self.reader.lines(&scope.owner, self.session.server.consistency()).await?;
        let mut meant: Vec<bool> = lines
            .iter()
            .map(|line| {
                line.is_in(scope) && !line.is_expired(now) && (any_status || line.is_in_use(now))
            })
            .collect();
        if let Some(filter) = filter {
            self.narrow(&lines, &mut meant, filter).await?;
        }
        Ok(lines.into_iter().zip(meant).filter(|(_, meant)| *meant).map(|(line, _)| line).collect())
    }
}
