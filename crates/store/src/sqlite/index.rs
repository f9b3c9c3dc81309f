//! The search index of one haystack: scopes, words and vectors.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::{
    UnreadableRows, dense,
    owner_cache::Cached,
    owner_documents::{Columns, Documents, Haystack, Reader},
    sqlite::{
        filter::{Condition, IN_USE},
        rows::{COLUMNS, anyones_memory, readable},
    },
};
use memgate_core::memory::QueryVector;
use memgate_text::index::Terms;

/// The index of a haystack's memories in use, including expired ones.
#[derive(Default)]
pub(super) struct OwnerIndex {
    /// The haystack's generation when it was read.
    pub(super) generation: i64,
    pub(super) documents: Documents,
    vectors: Vectors,
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

impl Cached for OwnerIndex {
    fn generation(&self) -> i64 {
        self.generation
    }

    fn bytes(&self) -> usize {
        let vectors = match &self.vectors {
            Vectors::Held(matrix) => matrix.bytes(),
            Vectors::NotRead | Vectors::TooMany => 0,
        };
        size_of::<Self>() + self.documents.bytes() + vectors
    }
}

impl OwnerIndex {
    /// Whether the index covers this space.
    pub(super) fn answers(&self, space: Option<&str>) -> bool {
        match (space, &self.vectors) {
            (None, _) | (Some(_), Vectors::TooMany) => true,
            (Some(space), Vectors::Held(matrix)) => &*matrix.space == space,
            (Some(_), Vectors::NotRead) => false,
        }
    }

    /// Reads a haystack's index; only vectors of `space`, and only while the size stays within
    /// `bound` bytes.
    pub(super) fn read(
        connection: &Connection,
        unreadable: &UnreadableRows,
        haystack: &Haystack<'_>,
        generation: i64,
        space: Option<&Arc<str>>,
        bound: usize,
    ) -> rusqlite::Result<Self> {
        let mut index = Self { generation, ..Self::default() };
        index.read_documents(connection, unreadable, haystack)?;
        if let Some(space) = space {
            index.vectors = index.read_vectors(connection, space, bound)?;
        }
        Ok(index)
    }

    fn read_documents(
        &mut self,
        connection: &Connection,
        unreadable: &UnreadableRows,
        haystack: &Haystack<'_>,
    ) -> rusqlite::Result<()> {
        const DOCUMENTS: &str =
            "SELECT row, expires_at, type, project, agent, session, terms, id FROM memories";
        let (sql, values) = match haystack {
            Haystack::Owner(owner, _) => (
                format!(
                    "{DOCUMENTS} WHERE owner = ?1 AND {IN_USE} ORDER BY created_at DESC, id DESC"
                ),
                vec![owner.key().into()],
            ),
            Haystack::Shared(scope) => {
                let condition = Condition::fair_share(&scope.reader);
                (format!("{DOCUMENTS} WHERE {}", condition.sql), condition.values)
            }
        };
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut reader = Reader::default();
        while let Some(row) = rows.next()? {
            let id = row.get_ref(7)?.as_str().unwrap_or_default();
            readable(unreadable, id, push(connection, &mut reader, row))?;
        }
        self.documents = reader.finish();
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
        for (place, document) in (0_u32..).zip(self.documents.all()) {
            let mut rows = statement.query((document.row, space))?;
            while let Some(row) = rows.next()? {
                // No part that can be presented has another number.
                let Ok(part) = row.get(0) else { continue };
                if !take((place, part), row.get_ref(1)?.as_blob()?) {
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
        let mut nearest = vec![None; self.documents.all().len()];
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

/// Adds the document of a row.
fn push(connection: &Connection, reader: &mut Reader, row: &Row<'_>) -> rusqlite::Result<()> {
    let number: i64 = row.get(0)?;
    let columns = Columns {
        memory_type: row.get_ref(2)?.as_str()?,
        project: row.get_ref(3)?.as_str_or_null()?,
        agent: row.get_ref(4)?.as_str_or_null()?,
        session: row.get_ref(5)?.as_str_or_null()?,
    };
    let terms = match Terms::from_bytes(row.get_ref(6)?.as_blob()?) {
        Some(stored) => stored,
        None => terms_of_memory(connection, number)?,
    };
    reader.push(number, row.get(1)?, columns, terms);
    Ok(())
}

/// For terms stored by another tokeniser version.
fn terms_of_memory(connection: &Connection, row: i64) -> rusqlite::Result<Terms> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE row = ?1"))?
        .query_row([row], |row| Ok(anyones_memory(row)?.terms()))
}
