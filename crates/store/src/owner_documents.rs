//! The memories of one owner as a search needs them: what decides whether they are searched, and
//! their words. Stores that read them from a database share this.

use std::{collections::HashSet, sync::Arc};

use memgate_core::memory::{Owner, ScopeQuery};
use memgate_text::index::{Lexical, Postings, QueryTerms, Terms};

/// An owner's memories in use, including expired ones, newest first.
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

    /// Whether it belongs to a scope of its owner.
    pub(crate) fn is_in(&self, scope: &ScopeQuery) -> bool {
        let [project, agent, session] =
            [&self.project, &self.agent, &self.session].map(|name| name.as_deref());
        scope.reaches(&self.memory_type, project, agent, session)
    }
}

impl Documents {
    /// All of them, newest first.
    pub(crate) fn all(&self) -> &[Document] {
        &self.all
    }

    /// The lexical evidence of each, with the statistics of those that have not expired at `now`,
    /// in microseconds.
    pub(crate) fn score(&self, query: &QueryTerms, now: i64) -> Vec<Lexical> {
        self.postings.score(query, |document| !self.all[document as usize].is_expired(now))
    }

    /// Memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Document>() + self.postings.bytes() + self.names
    }
}

/// The names in a row of a memory.
#[derive(Clone, Copy)]
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

/// The scopes grouped by owner, in order.
pub(crate) fn by_owner(scopes: &[ScopeQuery]) -> Vec<(&Owner, Vec<&ScopeQuery>)> {
    let mut owners: Vec<(&Owner, Vec<&ScopeQuery>)> = Vec::new();
    for scope in scopes {
        match owners.iter_mut().find(|(owner, _)| **owner == scope.owner) {
            Some((_, scopes)) => scopes.push(scope),
            None => owners.push((&scope.owner, vec![scope])),
        }
    }
    owners
}
