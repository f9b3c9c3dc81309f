//! A working connection: the server, the names of the collections, and the known spaces.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::milvus::{
    connection::{fault::Fault, server::Server, settings::MilvusSettings},
    schema::{Maker, Names, VectorCollection},
};

/// Everything operations need while the server is available.
pub(crate) struct Session {
    pub(crate) server: Server,
    pub(crate) names: Names,
    pub(crate) settings: Arc<MilvusSettings>,
    /// How long a write may be invisible to reads.
    pub(crate) horizon: Duration,
    spaces: Mutex<HashMap<String, VectorCollection>>,
    /// Serialises the creation of collections.
    making: tokio::sync::Mutex<()>,
}

impl Session {
    pub(crate) fn new(server: Server, settings: Arc<MilvusSettings>, horizon: Duration) -> Self {
        let names = Names::new(&settings.collection);
        Self {
            server,
            names,
            settings,
            horizon,
            spaces: Mutex::default(),
            making: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn maker(&self) -> Maker<'_> {
        Maker { server: &self.server, settings: &self.settings, names: &self.names }
    }

    /// The collection of a space; `None` if nothing was ever embedded in it.
    pub(crate) async fn space(&self, space: &str) -> Result<Option<VectorCollection>, Fault> {
        if let Some(known) = self.known(space) {
            return Ok(Some(known));
        }
        let found = self.maker().find_vectors(space).await?;
        if let Some(collection) = &found {
            // Another process created it; it may not be loaded.
            self.maker().vectors(space, collection.dimension).await?;
            self.remember(space, collection);
        }
        Ok(found)
    }

    /// The collection of a space, created if it is missing.
    pub(crate) async fn ensure_space(
        &self,
        space: &str,
        dimension: usize,
    ) -> Result<VectorCollection, Fault> {
        if let Some(known) = self.known(space) {
            return Ok(known);
        }
        let _making = self.making.lock().await;
        if let Some(known) = self.space(space).await? {
            return Ok(known);
        }
        let collection = self.maker().vectors(space, dimension).await?;
        self.remember(space, &collection);
        Ok(collection)
    }

    /// The names of all vector collections.
    pub(crate) async fn all_vectors(&self) -> Result<Vec<String>, Fault> {
        match self.maker().all_vectors().await {
            // Milvus Lite cannot list collections. Only one process uses it, so it knows them.
            Err(Fault::Unreadable) => {
                let spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(spaces.values().map(|collection| collection.name.clone()).collect())
            }
            outcome => outcome,
        }
    }

    fn known(&self, space: &str) -> Option<VectorCollection> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner).get(space).cloned()
    }

    fn remember(&self, space: &str, collection: &VectorCollection) {
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        spaces.insert(space.to_owned(), collection.clone());
    }
}
