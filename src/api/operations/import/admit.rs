//! Admission of an imported memory: its owner, the checks of every other path, and the screening.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use crate::api::{
    ApiError, Caller,
    operations::{
        entities,
        write::{source, visibility},
    },
};
use memgate_capture::{OrdersToModel, admit_members, admit_memory, admit_name, admit_value};
use memgate_config::Config;
use memgate_core::memory::{Memory, Owner, Space, Status, Visibility, Whole};
use memgate_screening::Screener;
use memgate_store::{MAX_CONTENT_BYTES, transfer::LineError};

/// Tolerance for the length of a vector, for rounding errors.
const ROUNDING: f32 = 1e-3;

/// Tolerance for the clock of the machine that wrote an export.
const CLOCKS: SignedDuration = SignedDuration::from_mins(5);

/// What an importer is believed, beside the words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    /// Whether shared memories are taken.
    pub(super) publishes: bool,
    /// Whether memories come from where they say.
    pub(super) sources: bool,
    /// Whether vectors of memories that others may read are taken. They could be those of other words, so that others
    /// are shown the memory for a question that has nothing to do with it.
    pub(super) shared_vectors: bool,
}

impl Trust {
    pub(super) fn of(caller: &Caller, config: &Config) -> Self {
        Self {
            publishes: visibility::may_publish(caller, config),
            sources: source::may_say(caller),
            shared_vectors: caller.bound().owner().is_none(),
        }
    }
}

/// Why a line was refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) field: Option<String>,
    pub(super) cause: String,
}

impl Refused {
    pub(super) fn new(field: &str, cause: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), cause: cause.into() }
    }

    /// Whether the line should have been the header.
    pub(super) fn is_of_header(&self) -> bool {
        self.field.as_deref().is_some_and(|field| field.starts_with("export"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.cause),
            None => f.write_str(&self.cause),
        }
    }
}

impl From<LineError> for Refused {
    fn from(LineError { field, cause }: LineError) -> Self {
        Self { field, cause }
    }
}

/// Checks a memory and removes secrets from the texts of it and its earlier versions. If that changes the
/// content, or the importer is not believed, its vectors are dropped and computed again.
pub(super) fn admit(
    whole: &mut Whole,
    owner: Option<&Owner>,
    config: &Config,
    orders: OrdersToModel,
    trust: Trust,
    now: Timestamp,
) -> Result<(), Refused> {
    if owner.is_some_and(|owner| *owner != whole.memory.owner) {
        return Err(Refused::new("memory.owner", "is a different user"));
    }
    let memory = &whole.memory;
    if !config.memory.knows_type(memory.memory_type.as_str()) {
        let cause = format!("must be one of {}", config.memory.types.join(", "));
        return Err(Refused::new("memory.type", cause));
    }
    // This memgate would never erase it.
    if memory.status == Status::Forgotten {
        return Err(Refused::new(
            "memory.status",
            "is forgotten; forgotten memories are not imported",
        ));
    }
    if matches!(memory.owner.space(), Space::Session(_)) {
        return Err(Refused::new("memory.owner", "is a session without a user, which is not kept"));
    }
    visibility::checked(Some(memory.visibility.clone()), &memory.owner)
        .map_err(|error| Refused::new("memory.visibility", error.message))?;
    if !trust.publishes && memory.visibility != Visibility::Private {
        return Err(Refused::new("memory.visibility", visibility::ONLY_KEYS));
    }
    dated(whole, now)?;
    for (n, vector) in whole.vectors.iter().enumerate() {
        admit_name(&vector.space)
            .map_err(|cause| Refused::new(&format!("vectors[{n}].space"), cause.to_string()))?;
        let length = vector.values.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length.is_nan() || (length - 1.0).abs() > ROUNDING {
            return Err(Refused::new(&format!("vectors[{n}].values"), "must be of length 1"));
        }
    }
    let screener = Screener::new(config.memory.screening);
    let passages = memory.passages();
    keep(screener, "memory", &mut whole.memory, orders)?;
    let is_shared = whole.memory.visibility != Visibility::Private;
    if whole.memory.passages() != passages || (is_shared && !trust.shared_vectors) {
        whole.vectors.clear();
    }
    if !trust.sources {
        whole.history.iter_mut().chain([&mut whole.memory]).for_each(source::mark_imported);
    }
    for (n, version) in whole.history.iter_mut().enumerate() {
        keep(screener, &format!("history[{n}]"), version, orders)?;
    }
    Ok(())
}

/// Refuses what would have happened in the future: memories are listed, and searched up to a bound, newest first.
fn dated(whole: &Whole, now: Timestamp) -> Result<(), Refused> {
    let latest = now.saturating_add(CLOCKS).unwrap_or(now);
    let versions = whole.history.iter().enumerate();
    let versions = versions.map(|(n, version)| (format!("history[{n}]"), version));
    for (place, version) in std::iter::once(("memory".to_owned(), &whole.memory)).chain(versions) {
        if let Some(field) = version.dated_after(latest) {
            return Err(Refused::new(&format!("{place}.{field}"), "must not be in the future"));
        }
    }
    Ok(())
}

/// Screens all texts of a memory. Nothing is truncated; the store refuses texts that are too long.
fn keep(
    screener: Screener,
    place: &str,
    memory: &mut Memory,
    orders: OrdersToModel,
) -> Result<(), Refused> {
    #[cfg(test)]
    crate::injected::panic_at(&memory.content);
    let named = |field: &str, cause: &str| Refused::new(&format!("{place}.{field}"), cause);
    let scopes = [
        ("project_id", &memory.project_id),
        ("agent_id", &memory.agent_id),
        ("session_id", &memory.session_id),
    ];
    for (field, id) in scopes {
        if id.as_deref() == Some("") {
            return Err(named(field, "must not be empty"));
        }
    }
    let too_long = format!("must have at most {MAX_CONTENT_BYTES} bytes");
    let texts = [
        ("content", Some(&memory.content)),
        ("reply", memory.reply.as_ref()),
        ("raw", memory.raw.as_ref()),
    ];
    for (field, text) in texts {
        if text.is_some_and(|text| text.len() > MAX_CONTENT_BYTES) {
            return Err(named(field, &too_long));
        }
    }
    admit_memory(screener, memory, MAX_CONTENT_BYTES, orders)
        .map_err(|why| named(why.field(), why.cause()))?;
    if let Some(structured) = memory.structured.take() {
        let structured = admit_value(screener, structured, usize::MAX);
        memory.structured =
            Some(structured.map_err(|cause| named("structured", &cause.to_string()))?);
    }
    let members = std::mem::take(&mut memory.metadata);
    memory.metadata = admit_members(screener, members, usize::MAX)
        .map_err(|cause| named("metadata", &cause.to_string()))?;
    for tag in &mut memory.tags {
        *tag = screener.screen(tag, usize::MAX).text;
    }
    let told = |error: ApiError| Refused { field: Some(place.to_owned()), cause: error.message };
    memory.mentions =
        entities::mentions(screener, std::mem::take(&mut memory.mentions)).map_err(told)?;
    memory.entity_relations =
        entities::relations(screener, std::mem::take(&mut memory.entity_relations))
            .map_err(told)?;
    Ok(())
}
