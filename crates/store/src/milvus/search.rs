//! Search: the server finds the nearest vectors; words are compared locally with the owner's own
//! statistics.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::{
    MAX_LIMIT, dense,
    milvus::{
        connection::{fault::Fault, server::WINDOW},
        expression::{of_owner, one_of},
        rows::read_vector_key,
        session::Session,
        view::{Line, Reader},
    },
    top_k::{Candidate, top_k},
};
use memgate_core::memory::{Evidence, Filter, Owner, QueryVector, ScopeQuery, Search};
use memgate_text::index::{Postings, QueryTerms, Terms};

/// Up to this many memories are listed explicitly in the request.
const NAMED: usize = 1_000;

/// Everything a search needs.
pub(super) struct Searcher<'a> {
    pub(super) session: &'a Session,
    pub(super) reader: Reader<'a>,
}

/// One owner's memories.
struct Haystack<'s> {
    owner: &'s Owner,
    /// Memories in use, newest first.
    lines: Vec<Line>,
    /// Which of them match the search's conditions.
    meant: Vec<bool>,
}

impl Searcher<'_> {
    /// The evidence for a search.
    pub(super) async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, Fault> {
        let limit = search.limit.min(MAX_LIMIT);
        let mut haystacks = Vec::new();
        let mut candidates = Vec::new();
        for owner in owners(&search.scopes) {
            let scopes: Vec<&ScopeQuery> =
                search.scopes.iter().filter(|scope| scope.owner == *owner).collect();
            let haystack = self.haystack(owner, &scopes, search).await?;
            let place = haystacks.len();
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
            haystacks.push(haystack);
        }
        if search.vector.is_none() && search.text.is_none() {
            candidates.sort_by_key(|candidate| {
                let (owner, at) = candidate.place;
                let line: &Line = &haystacks[owner].lines[at];
                std::cmp::Reverse((line.created_at, line.id.clone()))
            });
            candidates.truncate(limit);
        } else {
            candidates = top_k(candidates, limit);
        }
        self.evidence(&haystacks, candidates).await
    }

    /// An owner's memories in use, and which of them match.
    async fn haystack<'s>(
        &self,
        owner: &'s Owner,
        scopes: &[&ScopeQuery],
        search: &Search,
    ) -> Result<Haystack<'s>, Fault> {
        let mut lines = self.reader.lines(owner, self.session.server.consistency()).await?;
        lines.retain(|line| line.is_in_use(search.now));
        let in_scope = |line: &Line| scopes.iter().any(|scope| line.is_in(scope));
        let mut meant: Vec<bool> = lines.iter().map(in_scope).collect();
        if let Some(filter) = &search.filter {
            self.narrow(owner, &lines, &mut meant, filter).await?;
        }
        Ok(Haystack { owner, lines, meant })
    }

    /// Clears those that do not match the filter.
    pub(super) async fn narrow(
        &self,
        owner: &Owner,
        lines: &[Line],
        meant: &mut [bool],
        filter: &Filter,
    ) -> Result<(), Fault> {
        let asked = lines.iter().zip(meant.iter()).filter(|(_, meant)| **meant);
        let asked: Vec<&Line> = asked.map(|(line, _)| line).collect();
        let consistency = self.session.server.consistency();
        let memories = self.reader.memories(owner, asked, consistency).await?;
        for (line, meant) in lines.iter().zip(meant) {
            let met = |memory: &crate::milvus::rows::Stored| filter.matches(&memory.memory);
            *meant = *meant && memories.get(&line.memory).is_some_and(met);
        }
        Ok(())
    }

    /// The words of an owner's memories.
    async fn postings(&self, haystack: &Haystack<'_>) -> Result<Postings, Fault> {
        let without: Vec<&Line> =
            haystack.lines.iter().filter(|line| line.terms.is_none()).collect();
        let consistency = self.session.server.consistency();
        let texts = self.reader.memories(haystack.owner, without, consistency).await?;
        let terms: Vec<Terms> = haystack
            .lines
            .iter()
            .map(|line| match (&line.terms, texts.get(&line.memory)) {
                (Some(terms), _) => terms.clone(),
                (None, Some(stored)) => Terms::of(&stored.memory.text()),
                (None, None) => Terms::default(),
            })
            .collect();
        Ok(Postings::of(&terms).said_in(haystack.lines.iter().map(Line::said_in)))
    }

    /// The best cosine of the matching memories with its part, by their index.
    async fn cosines(
        &self,
        haystack: &Haystack<'_>,
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
        let everything =
            haystack.lines.iter().filter(|line| line.spaces.contains_key(&*query.space));
        let mut filter = of_owner(haystack.owner);
        if on_server.len() < everything.count() && on_server.len() <= NAMED {
            let mut named: Vec<&str> = on_server.keys().copied().collect();
            named.sort_unstable();
            filter = format!("{filter} and {}", one_of("memory", &named));
        }
        let consistency = self.session.server.consistency();
        // Several parts of one memory and obsolete rows also count towards the limit.
        let mut asked = (limit * 2 + 16).min(WINDOW);
        loop {
            let server = &self.session.server;
            let hits = server
                .nearest(&collection.name, &filter, &query.values, asked, consistency)
                .await?;
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
            let enough = found.len() >= limit.min(on_server.len());
            if enough || hits.len() < asked || asked == WINDOW {
                cosines.extend(found);
                return Ok(cosines);
            }
            asked = (asked * 4).min(WINDOW);
        }
    }

    /// Reads the selected memories.
    async fn evidence(
        &self,
        haystacks: &[Haystack<'_>],
        chosen: Vec<Candidate<(usize, usize)>>,
    ) -> Result<Vec<Evidence>, Fault> {
        let mut memories = Vec::new();
        for (place, haystack) in haystacks.iter().enumerate() {
            let lines = chosen.iter().filter(|it| it.place.0 == place);
            let lines = lines.map(|it| &haystack.lines[it.place.1]);
            let consistency = self.session.server.consistency();
            memories.push(self.reader.memories(haystack.owner, lines, consistency).await?);
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
            self.narrow(&scope.owner, &lines, &mut meant, filter).await?;
        }
        Ok(lines.into_iter().zip(meant).filter(|(_, meant)| *meant).map(|(line, _)| line).collect())
    }
}

/// The owners of the scopes, without duplicates, in order.
fn owners(scopes: &[ScopeQuery]) -> Vec<&Owner> {
    let mut seen = HashSet::new();
    scopes.iter().map(|scope| &scope.owner).filter(|owner| seen.insert(*owner)).collect()
}
