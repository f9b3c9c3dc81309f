//! The calls that the store makes to the server.

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

use crate::milvus::{
    connection::fault::Fault,
    fields::{KEY, VECTOR},
};

/// Maximum number of rows per call: a limit of Milvus (`offset + limit` of 16,384).
pub(crate) const WINDOW: usize = 16_384;

/// Page size when reading all rows.
const PAGE: usize = 10_000;

/// Number of rows written per call.
const BATCH: usize = 1_000;

/// The client, and the period during which reads must be strong.
pub(crate) struct Server {
    pub(crate) client: ClientV2,
    /// Until then reads are strong, because recent writes are unknown: the process has just
    /// started, or a response was lost.
    strong_until: Mutex<Option<Instant>>,
}

/// A found vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Near {
    /// Key of its row.
    pub(crate) key: String,
    pub(crate) cosine: f32,
}

impl Server {
    /// Creates a server whose reads are strong for `unknown`.
    pub(crate) fn new(client: ClientV2, unknown: Duration) -> Self {
        let server = Self { client, strong_until: Mutex::new(None) };
        server.read_strongly_for(unknown);
        server
    }

    /// For this time, reads see all earlier writes.
    pub(crate) fn read_strongly_for(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut strong = self.strong_until.lock().unwrap_or_else(PoisonError::into_inner);
        *strong = (*strong).max(Some(until));
    }

    /// The consistency level of reads now.
    pub(crate) fn consistency(&self) -> ConsistencyLevel {
        let strong = *self.strong_until.lock().unwrap_or_else(PoisonError::into_inner);
        match strong.filter(|until| *until > Instant::now()) {
            Some(_) => ConsistencyLevel::Strong,
            None => ConsistencyLevel::Bounded,
        }
    }

    /// All rows that match `filter`, with their keys and sorted by them, without duplicates.
    pub(crate) async fn query<T>(
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
                Some(key) => {
                    format!("({filter}) and {KEY} > {}", crate::milvus::expression::literal(key))
                }
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

    /// At most `limit` rows that match `filter`, with their keys and sorted by them.
    pub(crate) async fn rows<T>(
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
        // Milvus returns this order; if another server does not, no page may be lost.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(rows)
    }

    /// The `limit` nearest vectors that match `filter`, nearest first.
    pub(crate) async fn nearest(
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
            // Minimum width of a graph search; Milvus refuses less than the limit.
            .extra_params(HashMap::from([("ef".to_owned(), limit.max(64).to_string())]))
            .consistency_level(consistency)
            .build()?;
        let answer = self.client.search(request).await?;
        let mut found = Vec::new();
        for result in answer.results() {
            // Not `rows()`: Milvus 2.3 does not return the key's name, which `rows()` needs.
            let milvus::v2::types::Ids::VarChar(keys) = result.get_ids() else {
                // Without hits the ids are an empty list of integers.
                continue;
            };
            let hits = keys.iter().zip(result.get_scores());
            found.extend(
                hits.map(|(key, score)| Near { key: key.clone(), cosine: score.clamp(-1.0, 1.0) }),
            );
        }
        Ok(found)
    }

    /// Writes rows, given as columns.
    pub(crate) async fn insert(
        &self,
        collection: &str,
        columns: Vec<FieldData>,
    ) -> Result<(), Fault> {
        let request =
            InsertRequest::builder().collection_name(collection).columns(columns).build()?;
        self.client.insert(request).await?;
        Ok(())
    }

    /// Removes the rows with these keys. No other rows can match, so it need not be strong.
    pub(crate) async fn delete_keys(&self, collection: &str, keys: &[String]) -> Result<(), Fault> {
        for keys in keys.chunks(BATCH) {
            self.delete(collection, &crate::milvus::expression::one_of(KEY, keys)).await?;
        }
        Ok(())
    }

    /// Removes the rows that match `filter`, including those just written.
    pub(crate) async fn delete(&self, collection: &str, filter: &str) -> Result<(), Fault> {
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
