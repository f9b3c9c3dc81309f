//! The collections in Milvus and their creation.
//!
//! Both kinds of collections have the owner as partition key:
//!
//! * `<collection>`: the records. One row is one state of a memory. A new state is written before
//!   the old one is removed, so that it is never lost, and the higher `revision` wins. Its vector
//!   field exists because Milvus requires one.
//!
//! * `<collection>_vectors_<digest of the space>`: the vectors of one embedding space, one row per
//!   part, searched with HNSW. The alias `<collection>_vectors` points to the one in use.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use milvus::v2::{
    request::{
        alias::{AlterAliasRequest, CreateAliasRequest, DescribeAliasRequest},
        collection::{
            CreateCollectionRequest, DescribeCollectionRequest, HasCollectionRequest,
            ListCollectionsRequest, LoadCollectionRequest,
        },
        index::CreateIndexRequest,
        utility::GetServerVersionRequest,
    },
    types::{
        CollectionSchema, ConsistencyLevel, DataType, FieldSchema, IndexParam, IndexType,
        MetricType,
    },
};
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use crate::milvus::{
    connection::{fault::Fault, server::Server, settings::MilvusSettings},
    fields::{KEY, READERS, VECTOR},
};

/// Maximum size of a text field, in bytes: a limit of Milvus.
pub(super) const MAX_TEXT: usize = 65_535;
/// Error code for an alias that points to another collection.
const ALIAS_TAKEN: i32 = 1602;
/// Maximum length of a partition key: two ids of [`memgate_core::memory::MAX_ID_BYTES`], each byte
/// escaped.
const MAX_OWNER: u32 = 2_048;
/// Maximum length of other names.
const MAX_NAME: u32 = 1_024;
/// Dimension of a record's unused vector.
pub(super) const RECORD_DIMENSION: usize = 2;

/// Maximum time to wait for a collection to be loaded.
const LOAD: Duration = Duration::from_secs(20);
/// Pause between two checks.
const LOAD_PAUSE: Duration = Duration::from_millis(100);

/// Names of the collections.
#[derive(Clone, Debug)]
pub(super) struct Names {
    records: String,
}

impl Names {
    pub(super) fn new(collection: &str) -> Self {
        Self { records: collection.to_owned() }
    }

    pub(super) fn records(&self) -> &str {
        &self.records
    }

    /// The alias of the vectors in use.
    pub(super) fn alias(&self) -> String {
        format!("{}_vectors", self.records)
    }

    /// The collection of a space's vectors.
    pub(super) fn vectors(&self, space: &str) -> String {
        let digest = Sha256::digest(space.as_bytes());
        let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        format!("{}_{short}", self.alias())
    }

    /// Whether this is a vector collection of memgate.
    fn is_of_vectors(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.alias()).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
    }
}

/// The collection of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VectorCollection {
    pub(super) name: String,
    pub(super) dimension: usize,
}

/// A collection as the server describes it.
struct Described {
    about: String,
    /// Dimension of its vectors.
    dimension: usize,
    /// Names of its fields.
    fields: Vec<String>,
}

/// The vectors in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InUse {
    pub(super) collection: String,
    /// The space, in readable form for operators.
    pub(super) space: String,
    pub(super) dimension: usize,
}

/// Creates collections.
pub(super) struct Maker<'a> {
    pub(super) server: &'a Server,
    pub(super) settings: &'a MilvusSettings,
    pub(super) names: &'a Names,
}

impl Maker<'_> {
    /// Creates and loads the record collection if it is missing.
    pub(super) async fn records(&self) -> Result<(), Fault> {
        let text = |name: &str, length| {
            FieldSchema::new().name(name).data_type(DataType::VarChar).max_length(length)
        };
        let number = |name: &str, kind| FieldSchema::new().name(name).data_type(kind);
        let longest = u32::try_from(MAX_TEXT).unwrap_or(u32::MAX);
        let mut schema = CollectionSchema::new()
            .add_field(text(KEY, 64).primary_key(true))
            .add_field(text("owner", MAX_OWNER).partition_key(true))
            .add_field(text("memory", 32))
            .add_field(number("kind", DataType::Int8))
            .add_field(number("revision", DataType::Int64))
            .add_field(number("pieces", DataType::Int64));
        for name in ["id", "tenant_id", "user_id", "type", "project_id", "agent_id", "session_id"] {
            schema = schema.add_field(text(name, MAX_NAME));
        }
        for name in ["memory_kind", "status", "source"] {
            schema = schema.add_field(text(name, 32));
        }
        for name in ["version", "created_at", "updated_at", "event_time", "expires_at"] {
            schema = schema.add_field(number(name, DataType::Int64));
        }
        schema = schema
            .add_field(number("importance", DataType::Float))
            .add_field(number("metadata", DataType::Json))
            .add_field(number("spaces", DataType::Json))
            .add_field(number(READERS, DataType::Json))
            .add_field(text("terms", longest))
            .add_field(text("content", longest))
            .add_field(text("record", longest))
            .add_field(vector(RECORD_DIMENSION));
        let index = IndexParam::new()
            .field_name(VECTOR)
            .index_type(IndexType::Flat)
            .metric_type(MetricType::Cosine);
        let about = "Memories of memgate: their records.";
        self.make(self.names.records(), about, schema, vec![index, self.by_owner().await?]).await
    }

    /// Creates and loads the collection of a space's vectors if it is missing.
    pub(super) async fn vectors(
        &self,
        space: &str,
        dimension: usize,
    ) -> Result<VectorCollection, Fault> {
        let text = |name: &str, length| {
            FieldSchema::new().name(name).data_type(DataType::VarChar).max_length(length)
        };
        let schema = CollectionSchema::new()
            .add_field(text(KEY, 64).primary_key(true))
            .add_field(text("owner", MAX_OWNER).partition_key(true))
            .add_field(text("memory", 32))
            .add_field(vector(dimension));
        let index = IndexParam::new()
            .field_name(VECTOR)
            .index_type(IndexType::Hnsw)
            .metric_type(MetricType::Cosine)
            .extra_params(HashMap::from([
                ("M".to_owned(), self.settings.hnsw_m.to_string()),
                ("efConstruction".to_owned(), self.settings.ef_construction.to_string()),
            ]));
        let name = self.names.vectors(space);
        // The space is in the description, because the digest cannot be reversed.
        self.make(&name, space, schema, vec![index, self.by_owner().await?]).await?;
        Ok(VectorCollection { name, dimension })
    }

    /// The index on the owner that this server supports.
    async fn by_owner(&self) -> Result<IndexParam, Fault> {
        let request = GetServerVersionRequest::builder().build()?;
        let version = self.server.client.server_version(request).await?;
        let old = version.version().starts_with("v2.3");
        let kind = if old { IndexType::Trie } else { IndexType::Inverted };
        Ok(IndexParam::new().field_name("owner").index_type(kind))
    }

    async fn make(
        &self,
        name: &str,
        about: &str,
        schema: CollectionSchema,
        indexes: Vec<IndexParam>,
    ) -> Result<(), Fault> {
        if self.exists(name).await? {
            // Its creator may have been killed before creating the indexes; repeating is harmless.
            let request = CreateIndexRequest::builder()
                .collection_name(name)
                .index_params(indexes)
                .sync(false)
                .build()?;
            match self.server.client.create_index(request).await.map_err(Fault::from) {
                Ok(()) | Err(Fault::Server(_)) => {}
                Err(error) => return Err(error),
            }
            let load =
                LoadCollectionRequest::builder().collection_name(name).sync(false).build()?;
            self.server.client.load_collection(load).await?;
            return self.loaded(name).await;
        }
        let request = CreateCollectionRequest::builder()
            .collection_name(name)
            .description(about)
            .schema(schema)
            .num_partitions(self.settings.partitions.into())
            .num_shards(1)
            // The consistency of deletes by condition; reads set their own.
            .consistency_level(ConsistencyLevel::Strong)
            .index_params(indexes)
            .build()?;
        match self.server.client.create_collection(request).await.map_err(Fault::from) {
            // Another process may have created it first.
            Err(error) if !self.exists(name).await? => Err(error),
            _ => self.loaded(name).await,
        }
    }

    /// Waits until a new collection can be read, which takes a few seconds.
    async fn loaded(&self, name: &str) -> Result<(), Fault> {
        let end = Instant::now() + LOAD;
        loop {
            match self.answers(name).await {
                Err(Fault::NotLoaded) if Instant::now() < end => sleep(LOAD_PAUSE).await,
                outcome => return outcome,
            }
        }
    }

    /// Checks that a collection can be read; a server that reports healthy may still be loading it.
    pub(super) async fn answers(&self, name: &str) -> Result<(), Fault> {
        let nothing = format!("{KEY} == \"\"");
        let bounded = ConsistencyLevel::Bounded;
        self.server.rows(name, &nothing, &[], 1, bounded, |_| Ok(())).await.map(drop)
    }

    async fn exists(&self, name: &str) -> Result<bool, Fault> {
        let request = HasCollectionRequest::builder().collection_name(name).build()?;
        match self.server.client.has_collection(request).await.map_err(Fault::from) {
            Ok(answer) => Ok(answer.exists()),
            Err(Fault::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The collection of a space's vectors, if it exists.
    pub(super) async fn find_vectors(
        &self,
        space: &str,
    ) -> Result<Option<VectorCollection>, Fault> {
        let name = self.names.vectors(space);
        let described = self.describe(&name).await?;
        Ok(described.map(|it| VectorCollection { name, dimension: it.dimension }))
    }

    /// Whether the record collection is one that lacks what this memgate writes.
    pub(super) async fn is_earlier(&self) -> Result<bool, Fault> {
        let described = self.describe(self.names.records()).await?;
        Ok(described.is_some_and(|it| !it.fields.iter().any(|field| field == READERS)))
    }

    /// The collections of all spaces.
    pub(super) async fn all_vectors(&self) -> Result<Vec<String>, Fault> {
        let request = ListCollectionsRequest::builder().build()?;
        let answer = self.server.client.list_collections(request).await?;
        let names = answer.collection_names().iter().map(|name| name.as_ref());
        Ok(names.filter(|name: &&str| self.names.is_of_vectors(name)).map(str::to_owned).collect())
    }

    /// The space in use.
    pub(super) async fn in_use(&self) -> Result<Option<InUse>, Fault> {
        let request = DescribeAliasRequest::builder().alias(self.names.alias()).build()?;
        match self.server.client.describe_alias(request).await.map_err(Fault::from) {
            Ok(answer) => {
                let name = answer.collection_name();
                let described = self.describe(name).await?;
                Ok(described.map(|Described { about, dimension, .. }| {
                    // Milvus Lite does not store descriptions.
                    let space = if about.is_empty() { name.to_owned() } else { about };
                    InUse { collection: name.to_owned(), space, dimension }
                }))
            }
            // Servers report a missing alias in different ways.
            Err(Fault::Missing | Fault::Server(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves the alias to a space's vectors, in one step.
    pub(super) async fn put_in_use(&self, collection: &str) -> Result<(), Fault> {
        let alias = self.names.alias();
        let create =
            CreateAliasRequest::builder().alias(&alias).collection_name(collection).build()?;
        let alter =
            AlterAliasRequest::builder().alias(&alias).collection_name(collection).build()?;
        let client = &self.server.client;
        if self.in_use().await?.is_some() {
            return Ok(client.alter_alias(alter).await?);
        }
        match client.create_alias(create).await.map_err(Fault::from) {
            // Its collection was dropped: 2.3.5 does not describe such an alias, although it
            // exists.
            Err(Fault::Server(ALIAS_TAKEN)) => Ok(client.alter_alias(alter).await?),
            outcome => outcome,
        }
    }

    async fn describe(&self, name: &str) -> Result<Option<Described>, Fault> {
        if !self.exists(name).await? {
            return Ok(None);
        }
        let request = DescribeCollectionRequest::builder().collection_name(name).build()?;
        let answer = self.server.client.describe_collection(request).await?;
        let description = answer.description();
        let fields = description.get_schema().get_fields();
        let vector = fields.iter().find(|field| field.get_name() == VECTOR);
        let dimension = vector.map_or(0, |field| field.get_dimension() as usize);
        let about = description.get_description().to_owned();
        let fields = fields.iter().map(|field| field.get_name().to_owned()).collect();
        Ok(Some(Described { about, dimension, fields }))
    }
}

fn vector(dimension: usize) -> FieldSchema {
    FieldSchema::new()
        .name(VECTOR)
        .data_type(DataType::FloatVector)
        .dimension(u32::try_from(dimension).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_collections_are_recognised_by_name() {
        let names = Names::new("agentic_memory");
        let one = names.vectors("all-MiniLM-L6-v2:384:mean:int8");
        assert_ne!(one, names.vectors("all-MiniLM-L6-v2:384:mean:fp32"));
        assert!(names.is_of_vectors(&one), "{one}");
        for other in ["agentic_memory", "agentic_memory_vectors", "agentic_memory_vectors_old"] {
            assert!(!names.is_of_vectors(other), "{other}");
        }
        assert!(!Names::new("agentic").is_of_vectors(&one));
    }
}
