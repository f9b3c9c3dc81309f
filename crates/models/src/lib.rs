//! The trained models and their features. One file a model; weights and manifest are in `models/<embedder>/`.
//!
//! The models are loaded once at start-up and passed down. This module must not depend on what is done with a
//! prediction, on who embeds, or on a store. docs/models.md describes the models and how they are trained.

mod error;
mod features;
mod linear;
mod manifest;
mod memorable;
mod message;
mod pairs;
mod query_adapter;
pub mod reader;
mod relevance;
mod tensors;

use std::sync::Arc;

use manifest::Manifest;
use memgate_embed::Space;
use tensors::Tensors;

pub use error::ModelsError;
use error::Unreadable;
pub use features::Features;
pub use memorable::{Clause, MemorableModel};
pub use message::{AnswersModel, HousekeepingModel, Need, NeedModel, Opinion, ResumingModel};
pub use pairs::{ForgettingModel, Outdated, Pair, Standing, UpdateFeatures, UpdateModel};
pub use query_adapter::QueryAdapter;
pub use reader::Reader;
pub use relevance::{Form, Nearness, Relevance, Wording, log_odds};

/// The files of one folder below `models/`, compiled in so that the program needs no other file.
struct Folder {
    name: &'static str,
    manifest: &'static str,
    weights: &'static [u8],
}

impl Folder {
    /// Whether its models were trained with this embedder, or with one of several that a space joins.
    fn is_of(&self, space: &Space) -> bool {
        let manifest = Manifest::read(self.manifest);
        manifest.is_ok_and(|it| space.place_of(|space| it.embedder.is(space)).is_some())
    }
}

/// A folder for each embedder that models were trained with.
const FOLDERS: &[Folder] = include!(concat!(env!("OUT_DIR"), "/folders.rs"));

/// The folder of the default embedder. Its models that need no vectors serve every other embedder, too.
const DEFAULT: &str = "multilingual-e5-small-memgate-1";

/// All trained models, for one embedding space.
#[derive(Debug)]
pub struct Models {
    /// Decides whether a message needs memory.
    pub need: NeedModel,
    /// Tells a client's own prompts from what people type.
    pub housekeeping: HousekeepingModel,
    /// Tells messages that ask for the assistant's earlier words.
    pub answers: AnswersModel,
    /// Tells messages that take up the last conversation as a whole.
    pub resuming: ResumingModel,
    /// Decides which statements are worth keeping.
    pub memorable: MemorableModel,
    /// Reads messages piece by piece. Only for inner layers of an embedder that [`Models::are_trained_with`].
    pub reader: Reader,
    /// Decides whether a message makes an older sentence outdated. Only for vectors that
    /// [`Models::are_trained_with`].
    pub update: UpdateModel,
    /// Notices requests to forget in free words, and finds what they mean. Only for vectors and inner layers of an embedder that
    /// [`Models::are_trained_with`].
    pub forgetting: ForgettingModel,
    /// Turns questions towards the memories that answer them; `None` where the space has no vectors of the embedder
    /// that the models were trained with.
    pub query_adapter: Option<QueryAdapter>,
    /// Calibrates evidence to a relevance.
    pub relevance: Relevance,
    manifest: Manifest,
}

impl Models {
    /// The models for an embedder's space. Where none were trained with it, or with one of several models that it
    /// joins, the default embedder's; see [`Models::missing`].
    ///
    /// # Errors
    /// [`ModelsError`] when the files that this program was built with do not belong to it.
    pub fn for_embedder(space: &Space) -> Result<Arc<Self>, ModelsError> {
        let absent = || ModelsError { folder: DEFAULT, cause: Unreadable::Absent };
        let default = FOLDERS.iter().find(|folder| folder.name == DEFAULT);
        let default = default.ok_or_else(absent)?;
        // The default comes first where a space joins several embedders, and another folder is read only for its own.
        let mut folders = std::iter::once(default).chain(FOLDERS);
        let own = folders.find(|folder| folder.is_of(space));
        Self::load(own.unwrap_or(default), space).map(Arc::new)
    }

    fn load(folder: &Folder, space: &Space) -> Result<Self, ModelsError> {
        let models = Self::read(folder.manifest, folder.weights, space);
        models.map_err(|cause| ModelsError { folder: folder.name, cause })
    }

    fn read(manifest: &str, weights: &'static [u8], space: &Space) -> Result<Self, Unreadable> {
        let manifest = Manifest::read(manifest)?;
        let tensors = Tensors::read(weights)?;
        let place = space.place_of(|space| manifest.embedder.is(space));
        Ok(Self {
            need: NeedModel::read(&tensors)?,
            housekeeping: HousekeepingModel::read(&tensors)?,
            answers: AnswersModel::read(&tensors)?,
            resuming: ResumingModel::read(&tensors)?,
            memorable: MemorableModel::read(&tensors)?,
            reader: Reader::read(&tensors)?,
            update: UpdateModel::read(&tensors)?,
            forgetting: ForgettingModel::read(&tensors)?,
            query_adapter: place.map(|place| QueryAdapter::read(&tensors, place)).transpose()?,
            relevance: Relevance::read(&tensors)?,
            manifest,
        })
    }

    /// Whether an embedder's vectors are those that the models know. The two precisions of a model differ by less
    /// than matters here.
    #[must_use]
    pub fn are_trained_with(&self, space: &Space) -> bool {
        self.manifest.embedder.is(space)
    }

    /// The models that were not trained with this embedder, each with what is done instead; empty
    /// for an embedder that has a folder.
    #[must_use]
    pub fn missing(&self) -> &'static [&'static str] {
        match &self.query_adapter {
            Some(_) => &[],
            None => &[
                "need: decided by the message's words",
                "memorable: decided by the statement's words",
                "update: whole messages supersede nothing, rules go on",
                "forgetting: requests in set words only",
                "query_adapter: questions are compared as they are embedded",
                "relevance: calibrated for the default embedder",
            ],
        }
    }

    /// SHA-256 of the weights, lower-case hexadecimal.
    #[must_use]
    pub fn weights_sha256(&self) -> &str {
        &self.manifest.weights_sha256
    }
}

#[cfg(test)]
mod tests;
