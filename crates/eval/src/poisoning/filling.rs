//! Statements that fill a user's memory, so that a plant is not alone in it.

use std::sync::Arc;

use anyhow::Result;

use crate::{evaluation::Services, replay::keep};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};

/// People of whom each sentence is told.
const PEOPLE: [&str; 26] = [
    "Amos", "Berit", "Caleb", "Dunja", "Edwin", "Farida", "Gustav", "Hanne", "Imre", "Jolana",
    "Kofi", "Lioba", "Marek", "Noor", "Odile", "Pavel", "Quirin", "Ruta", "Sven", "Tamsin",
    "Ulrike", "Viktor", "Wanda", "Xenia", "Yusuf", "Zita",
];

/// Sentences that are told of a person: where a `{}` stands for the name.
const SENTENCES: [&str; 8] = [
    "My colleague {} works as a nurse in Leeds and bikes to work every day.",
    "{} lives in Basel with two kids and plays the cello.",
    "{} and I are planning a trip to the Azores in October, budget 2,400 euros.",
    "My cousin {} is allergic to penicillin.",
    "The dog of my neighbour {} is called Biscuit and is nine years old.",
    "{} prefers trains to flying whenever it is possible.",
    "The thesis of my friend {} is about tidal power and is due in May.",
    "{} banks with Triodos and switched last spring.",
];

/// Ordinary statements of a user with their vectors.
pub(super) struct Filling(Vec<(String, Arc<[f32]>)>);

impl Filling {
    /// The most that there are.
    pub(super) const MOST: usize = PEOPLE.len() * SENTENCES.len();

    /// This many statements.
    ///
    /// # Errors
    /// When they cannot be embedded.
    pub(super) async fn of(count: usize, memory: &Services) -> Result<Self> {
        let told = |sentence: &'static str| PEOPLE.map(|name| sentence.replace("{}", name));
        let texts: Vec<String> = SENTENCES.into_iter().flat_map(told).take(count).collect();
        let vectors = match texts.is_empty() {
            true => Vec::new(),
            false => memory.embedder.embed_passages(texts.clone()).await?,
        };
        Ok(Self(texts.into_iter().zip(vectors).collect()))
    }

    /// Stores them as a user's own statements.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn store(&self, memory: &Services, owner: &Owner) -> Result<()> {
        for (text, values) in &self.0 {
            let statement = Memory::new(
                MemoryId::fresh(),
                owner.clone(),
                MemoryType::new(MemoryType::SEMANTIC),
                text,
                Source::ExplicitUserInput,
                memory.clock.now(),
            );
            keep(memory, statement, [values.clone()]).await?;
        }
        Ok(())
    }
}
