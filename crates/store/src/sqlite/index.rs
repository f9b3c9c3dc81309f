//! The search index of one owner: scopes, words and vectors.

use std::{collections::HashSet, sync::Arc};

use rusqlite::{Connection, OptionalExtension};

use crate::{dense, sqlite::filter::IN_USE};
use memgate_core::memory::{QueryVector, ScopeQuery};
use memgate_text::index::{Postings, Terms};

/// The index of an owner's memories in use, including expired ones.
#[derive(Default)]
pub(super) struct OwnerIndex {
    /// The owner's generation when it was read.
    pub(super) generation: i64,
    /// Newest first.
    pub(super) documents: Vec<Document>,
    /// The words, numbered like `documents`.
    pub(super) postings: Postings,
    vectors: Vectors,
    /// Memory used by the names in `documents`, in bytes.
    names: usize,
}

/// The properties that decide whether a memory is searched.
pub(super) struct Document {
    /// The key in `memories`.
    pub(super) row: i64,
    expires_at: Option<i64>,
    memory_type: Arc<str>,
    project: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    session: Option<Arc<str>>,
}

impl Document {
    /// Whether the memory has expired at `now`, in microseconds.
    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it belongs to a scope of its owner.
    pub(super) fn is_in(&self, scope: &ScopeQuery) -> bool {
        let [project, agent, session] =
            [&self.project, &self.agent, &self.session].map(|name| name.as_deref());
        scope.reaches(&self.memory_type, project, agent, session)
    }
}

/// The vectors of one space.
#[derive(Default)]
enum Vectors {
    /// Not requested yet.
    #[default]
    NotRead,
    /// All of them.
    Held(Matrix),
    /// Too large to hold: read from the file each time.
    TooMany,
}

struct Matrix {
    space: Arc<str>,
    /// Document and part of each vector.
    places: Vec<(u32, u16)>,
    /// The vectors, concatenated.
    values: Vec<f32>,
    dimension: usize,
}

impl Matrix {
    fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<f32>() + self.places.capacity() * size_of::<(u32, u16)>()
    }
}

impl OwnerIndex {
    /// Memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let vectors = match &self.vectors {
            Vectors::Held(matrix) => matrix.bytes(),
            Vectors::NotRead | Vectors::TooMany => 0,
        };
        size_of::<Self>()
            + self.documents.capacity() * size_of::<Document>()
            + self.postings.bytes()
            + self.names
            + vectors
    }

    /// Whether the index covers this space.
    pub(super) fn answers(&self, space: Option<&str>) -> bool {
        match (space, &self.vectors) {
            (None, _) | (Some(_), Vectors::TooMany) => true,
            (Some(space), Vectors::Held(matrix)) => &*matrix.space == space,
            (Some(_), Vectors::NotRead) => false,
        }
    }

    /// Reads an owner's index; only vectors of `space`, and only while the size stays within
    /// `bound` bytes.
    pub(super) fn read(
        connection: &Connection,
        owner: &str,
        generation: i64,
        space: Option<&Arc<str>>,
        bound: usize,
    ) -> rusqlite::Result<Self> {
        let mut index = Self { generation, ..Self::default() };
        index.read_documents(connection, owner)?;
        if let Some(space) = space {
            index.vectors = index.read_vectors(connection, space, bound)?;
        }
        Ok(index)
    }

    fn read_documents(&mut self, connection: &Connection, owner: &str) -> rusqlite::Result<()> {
        let sql = format!(
            "SELECT row, expires_at, type, project, agent, session, terms FROM memories \
             WHERE owner = ?1 AND {IN_USE} ORDER BY created_at DESC, id DESC"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([owner])?;
        let mut names = Names::default();
        let mut terms = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            self.documents.push(Document {
                row: id,
                expires_at: row.get(1)?,
                memory_type: names.one(row.get_ref(2)?.as_str()?),
                project: row.get_ref(3)?.as_str_or_null()?.map(|name| names.one(name)),
                agent: row.get_ref(4)?.as_str_or_null()?.map(|name| names.one(name)),
                session: row.get_ref(5)?.as_str_or_null()?.map(|name| names.one(name)),
            });
            terms.push(match Terms::from_bytes(row.get_ref(6)?.as_blob()?) {
                Some(stored) => stored,
                None => terms_of_content(connection, id)?,
            });
        }
        // Turns are neighbours of turns, statements of statements.
        let sessions = self
            .documents
            .iter()
            .map(|document| Some((document.session.as_deref()?, &*document.memory_type)));
        self.postings = Postings::of(&terms).said_in(sessions);
        self.names = names.bytes;
        Ok(())
    }

    fn read_vectors(
        &self,
        connection: &Connection,
        space: &Arc<str>,
        bound: usize,
    ) -> rusqlite::Result<Vectors> {
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut dimension = 0;
        let mut fits = true;
        let used = self.bytes();
        self.each_vector(connection, space, |place, bytes| {
            if dimension == 0 {
                dimension = bytes.len() / size_of::<f32>();
            }
            if bytes.len() == dimension * size_of::<f32>() {
                places.push(place);
                dense::from_bytes(bytes, &mut values);
            }
            fits = used + values.len() * size_of::<f32>() <= bound;
            fits
        })?;
        if !fits {
            return Ok(Vectors::TooMany);
        }
        places.shrink_to_fit();
        values.shrink_to_fit();
        Ok(Vectors::Held(Matrix { space: space.clone(), places, values, dimension }))
    }

    /// Passes every stored vector of a space to `take`, until it returns false.
    fn each_vector(
        &self,
        connection: &Connection,
        space: &str,
        mut take: impl FnMut((u32, u16), &[u8]) -> bool,
    ) -> rusqlite::Result<()> {
        let Some(space) = space_number(connection, space)? else { return Ok(()) };
        let mut statement = connection.prepare_cached(
            "SELECT part, coordinates FROM vectors WHERE memory = ?1 AND space = ?2 ORDER BY part",
        )?;
        for (place, document) in (0_u32..).zip(&self.documents) {
            let mut rows = statement.query((document.row, space))?;
            while let Some(row) = rows.next()? {
                if !take((place, row.get(0)?), row.get_ref(1)?.as_blob()?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The best cosine of each document, and the part that has it.
    pub(super) fn cosines(
        &self,
        connection: &Connection,
        query: &QueryVector,
    ) -> rusqlite::Result<Vec<Option<(f32, u16)>>> {
        let mut nearest = vec![None; self.documents.len()];
        let mut score = |(document, part): (u32, u16), vector: &[f32]| {
            if let Some(best) = nearest.get_mut(document as usize) {
                dense::keep_best(best, (dense::cosine(vector, &query.values), part));
            }
        };
        match &self.vectors {
            Vectors::Held(matrix) if matrix.dimension == query.values.len() => {
                let vectors = matrix.values.chunks_exact(matrix.dimension.max(1));
                matrix.places.iter().zip(vectors).for_each(|(place, vector)| score(*place, vector));
            }
            Vectors::Held(_) | Vectors::NotRead => {}
            Vectors::TooMany => {
                let mut vector = Vec::with_capacity(query.values.len());
                self.each_vector(connection, &query.space, |place, bytes| {
                    vector.clear();
                    dense::from_bytes(bytes, &mut vector);
                    if vector.len() == query.values.len() {
                        score(place, &vector);
                    }
                    true
                })?;
            }
        }
        Ok(nearest)
    }
}

/// The number of a space; `None` if nothing was ever embedded in it.
pub(super) fn space_number(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT space FROM spaces WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// For terms stored by another tokeniser version.
fn terms_of_content(connection: &Connection, row: i64) -> rusqlite::Result<Terms> {
    connection
        .prepare_cached("SELECT content FROM memories WHERE row = ?1")?
        .query_row([row], |row| Ok(Terms::of(row.get_ref(0)?.as_str()?)))
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
