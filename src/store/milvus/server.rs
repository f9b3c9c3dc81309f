//! The few calls that the store makes of a server that is there.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use milvus::v2::{
    ClientV2,
    request::{
        dml::{DeleteRequest, InsertRequest},
        dql::{QueryRequest, SearchRequest},
    },
    types::{ConsistencyLevel, FieldData, MetricType, ResultRow, SearchVectors},
};

use super::{
    fault::Fault,
    fields::{KEY, VECTOR},
};

/// The most rows that one call answers: what Milvus allows (`offset + limit` of 16,384).
pub(super) const WINDOW: usize = 16_384;

/// Rows asked for in one call when all are wanted.
const PAGE: usize = 10_000;

/// Rows written in one call.
const BATCH: usize = 1_000;

/// A client and what must be read with more care for a while.
pub(super) struct Server {
    pub(super) client: ClientV2,
    /// Reads before this moment wait for every write before them: what was written is known to
    /// nobody here, because the process has just begun or an answer was lost.
    strong_until: Mutex<Option<Instant>>,
}

/// A vector found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Near {
    /// Its row's key.
    pub(super) key: String,
    pub(super) cosine: f32,
}

impl Server {
    /// Reads are strong for as long as `unknown`.
    pub(super) fn new(client: ClientV2, unknown: Duration) -> Self {
        let server = Self { client, strong_until: Mutex::new(None) };
        server.read_strongly_for(unknown);
        server
    }

    /// From now on, for so long, reads see whatever was written before them.
    pub(super) fn read_strongly_for(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut strong = self.strong_until.lock().unwrap_or_else(PoisonError::into_inner);
        *strong = (*strong).max(Some(until));
    }

    /// How reads are to be done now.
    pub(super) fn consistency(&self) -> ConsistencyLevel {
        let strong = *self.strong_until.lock().unwrap_or_else(PoisonError::into_inner);
        match strong.filter(|until| *until > Instant::now()) {
            Some(_) => ConsistencyLevel::Strong,
            None => ConsistencyLevel::Bounded,
        }
    }

    /// All rows that meet `filter`, with their keys and in the order of these, each once.
    pub(super) async fn query<T>(
        &self,
        collection: &str,
        filter: &str,
        fields: &[&str],
        consistency: ConsistencyLevel,
        read: impl Fn(&ResultRow<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<(String, T)>, Fault> {
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = match &after {
                None => filter.to_owned(),
                Some(key) => format!("({filter}) and {KEY} > {}", super::expression::literal(key)),
            };
            let rows = self.rows(collection, &page, fields, PAGE, consistency, &read).await?;
            let full = rows.len() == PAGE;
            after = rows.last().map(|(key, _)| key.clone());
            found.extend(rows);
            if !full {
                return Ok(found);
            }
        }
    }

    /// At most `limit` rows that meet `filter`, with their keys and in the order of these.
    pub(super) async fn rows<T>(
        &self,
        collection: &str,
        filter: &str,
        fields: &[&str],
        limit: usize,
        consistency: ConsistencyLevel,
        read: impl Fn(&ResultRow<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<(String, T)>, Fault> {
        let request = QueryRequest::builder()
            .collection_name(collection)
            .filter(filter)
            .output_fields(std::iter::once(KEY).chain(fields.iter().copied()))
            .limit(whole(limit.min(WINDOW)))
            .consistency_level(consistency)
            .build()?;
        let answer = self.client.query(request).await?;
        let rows = answer.results().rows()?;
        let mut rows = rows
            .map(|row| Ok((row.get_str(KEY)?.to_owned(), read(&row)?)))
            .collect::<Result<Vec<_>, Fault>>()?;
        // Milvus answers in this order; that another server might not must lose no page.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(rows)
    }

    /// The nearest `limit` vectors that meet `filter`, nearest first.
    pub(super) async fn nearest(
        &self,
        collection: &str,
        filter: &str,
        vector: &[f32],
        limit: usize,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<Near>, Fault> {
        let limit = limit.clamp(1, WINDOW);
        let request = SearchRequest::builder()
            .collection_name(collection)
            .vector_field(VECTOR)
            .vectors(SearchVectors::Float(vec![vector.to_vec()]))
            .filter(filter)
            .limit(whole(limit))
            .metric_type(MetricType::Cosine)
            // A graph is searched at least this wide; Milvus refuses less than the limit.
            .extra_params(HashMap::from([("ef".to_owned(), limit.max(64).to_string())]))
            .consistency_level(consistency)
            .build()?;
        let answer = self.client.search(request).await?;
        let mut found = Vec::new();
        for result in answer.results() {
            // Not `rows()`: Milvus 2.3 does not say how it calls the key, and `rows()` wants to know.
            let milvus::v2::types::Ids::VarChar(keys) = result.get_ids() else {
                // Without hits the ids are integers, none of them.
                continue;
            };
            let hits = keys.iter().zip(result.get_scores());
            found.extend(
                hits.map(|(key, score)| Near { key: key.clone(), cosine: score.clamp(-1.0, 1.0) }),
            );
        }
        Ok(found)
    }

    /// Writes rows, given column by column.
    pub(super) async fn insert(
        &self,
        collection: &str,
        columns: Vec<FieldData>,
    ) -> Result<(), Fault> {
        let request =
            InsertRequest::builder().collection_name(collection).columns(columns).build()?;
        self.client.insert(request).await?;
        Ok(())
    }

    /// Removes the rows of these keys. Nothing else can be meant, so it waits for nobody.
    pub(super) async fn delete_keys(&self, collection: &str, keys: &[String]) -> Result<(), Fault> {
        for keys in keys.chunks(BATCH) {
            self.delete(collection, &super::expression::one_of(KEY, keys)).await?;
        }
        Ok(())
    }

    /// Removes the rows that meet `filter`, those included that were written just before.
    pub(super) async fn delete(&self, collection: &str, filter: &str) -> Result<(), Fault> {
        let request = DeleteRequest::builder()
            .collection_name(collection)
            .filter(filter)
            .consistency_level(ConsistencyLevel::Strong)
            .build()?;
        self.client.delete(request).await?;
        Ok(())
    }
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
