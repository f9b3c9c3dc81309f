//! The memories of one haystack as a search needs them: what decides whether they are searched, and
//! their words. Stores that read them from a database share this.

mod fair_share;

use std::{collections::HashSet, sync::Arc};

use sha2::{Digest, Sha256};

pub(crate) use self::fair_share::{MAX_SHARED, fair_share, fair_share_sql, space_keys};
use memgate_core::memory::{self, Owner, ScopeQuery, Search, SharedScope};
use memgate_text::index::{Lexical, Postings, QueryTerms, Terms};

/// A haystack's memories in use, including expired ones, newest first.
#[derive(Default)]
pub(crate) struct Documents {
    all: Vec<Document>,
    /// The words, numbered like `all`.
    postings: Postings,
    /// Memory used by the names in `all`, in bytes.
    names: usize,
}

/// The properties that decide whether a memory is searched.
pub(crate) struct Document {
    /// The memory's number in the database.
    pub(crate) row: i64,
    expires_at: Option<i64>,
    memory_type: Arc<str>,
    project: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    session: Option<Arc<str>>,
}

impl Document {
    /// Whether the memory has expired at `now`, in microseconds.
    pub(crate) fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it lies in the haystack that it was read for.
    pub(crate) fn is_in(&self, haystack: &Haystack<'_>) -> bool {
        let [project, agent, session] =
            [&self.project, &self.agent, &self.session].map(|name| name.as_deref());
        match haystack {
            Haystack::Owner(_, scopes) => {
                scopes.iter().any(|scope| scope.reaches(&self.memory_type, project, agent, session))
                    && haystack.searches(&self.memory_type)
            }
            Haystack::Shared(scope) => scope.covers(&self.memory_type, project),
        }
    }
}

impl Documents {
    /// All of them, newest first.
    pub(crate) fn all(&self) -> &[Document] {
        &self.all
    }

    /// The lexical evidence of each, with the statistics of those that have not expired at `now`,
    /// in microseconds, and are searched.
    pub(crate) fn score(
        &self,
        query: &QueryTerms,
        haystack: &Haystack<'_>,
        now: i64,
    ) -> Vec<Lexical> {
        self.postings.score(query, |document| {
            let document = &self.all[document as usize];
            !document.is_expired(now) && haystack.searches(&document.memory_type)
        })
    }

    /// Memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Document>() + self.postings.bytes() + self.names
    }
}

/// The names in a row of a memory.
pub(crate) struct Columns<'a> {
    pub(crate) memory_type: &'a str,
    pub(crate) project: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

/// Takes rows, newest first.
#[derive(Default)]
pub(crate) struct Reader {
    all: Vec<Document>,
    terms: Vec<Terms>,
    names: Names,
}

impl Reader {
    /// Adds a memory.
    pub(crate) fn push(
        &mut self,
        row: i64,
        expires_at: Option<i64>,
        columns: Columns<'_>,
        terms: Terms,
    ) {
        let names = &mut self.names;
        self.all.push(Document {
            row,
            expires_at,
            memory_type: names.one(columns.memory_type),
            project: columns.project.map(|name| names.one(name)),
            agent: columns.agent.map(|name| names.one(name)),
            session: columns.session.map(|name| names.one(name)),
        });
        self.terms.push(terms);
    }

    /// Indexes the words.
    pub(crate) fn finish(self) -> Documents {
        // Turns are neighbours of turns, statements of statements.
        let sessions = self
            .all
            .iter()
            .map(|document| Some((document.session.as_deref()?, &*document.memory_type)));
        let postings = Postings::of(&self.terms).said_in(sessions);
        Documents { postings, names: self.names.bytes, all: self.all }
    }
}

/// Interned names, which many memories share.
#[derive(Default)]
struct Names {
    known: HashSet<Arc<str>>,
    bytes: usize,
}

impl Names {
    fn one(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        // The text and the two reference counts before it.
        self.bytes += name.len() + 2 * size_of::<usize>();
        let name: Arc<str> = name.into();
        self.known.insert(name.clone());
        name
    }
}

/// A haystack of a search, with statistics of its own.
pub(crate) enum Haystack<'s> {
    /// The memories of an owner, in these scopes.
    Owner(&'s Owner, Vec<&'s ScopeQuery>),
    /// The memories that others share with a reader.
    Shared(&'s SharedScope),
}

impl Haystack<'_> {
    /// Whether it is what others share.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// Whether memories of a type are looked at.
    pub(crate) fn searches(&self, memory_type: &str) -> bool {
        match self {
            Self::Owner(_, scopes) => scopes.iter().any(|scope| scope.searches(memory_type)),
            Self::Shared(_) => true,
        }
    }

    /// The key of an owner, or of a reader: two readers have one only if both may read the same, because ids hold no line
    /// break.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Owner(owner, _) => owner.key(),
            Self::Shared(SharedScope { reader, .. }) => {
                let agent = reader.agent.as_deref().unwrap_or_default();
                format!("{}/%shared\n{agent}\n{}", reader.owner.key(), reader.roles.join("\n"))
            }
        }
    }
}

/// The key of the index of these memories, which others share: no owner's key.
pub(crate) fn shared_key(reader: &memory::Reader, rows: &[i64]) -> String {
    let mut digest = Sha256::new();
    rows.iter().for_each(|row| digest.update(row.to_be_bytes()));
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}/%shared {digest}", reader.owner.tenant_key())
}

/// The haystacks of a search: its scopes grouped by owner, in order, and what others share.
pub(crate) fn haystacks(search: &Search) -> Vec<Haystack<'_>> {
    let mut haystacks: Vec<Haystack<'_>> = Vec::new();
    for scope in &search.scopes {
        let of_owner = haystacks.iter_mut().find_map(|haystack| match haystack {
            Haystack::Owner(owner, scopes) if **owner == scope.owner => Some(scopes),
            _ => None,
        });
        match of_owner {
            Some(scopes) => scopes.push(scope),
            None => haystacks.push(Haystack::Owner(&scope.owner, vec![scope])),
        }
    }
    haystacks.extend(search.shared.as_ref().map(Haystack::Shared));
    haystacks
}
