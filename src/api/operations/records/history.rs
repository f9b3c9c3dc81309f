//! The versions of a memory and their differences.

use serde_json::{Map, Value};

use crate::api::{
    ApiError, Caller, ChangeView, HistoryView, MemoryView, VersionView, Whose, WithId,
    operations::Operations,
};
use memgate_core::memory::{Memory, MemoryId};

/// Members that say nothing about what a version changed: its name, and counts that make no version.
const UNCOMPARED: [&str; 6] =
    ["owner", "version", "updated_at", "access_count", "last_accessed_at", "decay_score"];

impl Operations {
    /// The versions of a memory, the newest first, each with its differences from the one before.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id.
    pub async fn history(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<HistoryView, ApiError> {
        let id = MemoryId::from_outside(&id);
        let versions = self.store.history(&caller.owner(&whose)?, &id).await?;
        let members = versions.iter().map(members).collect::<Result<Vec<_>, ApiError>>()?;
        let mut before = members.iter().skip(1);
        let changes: Vec<_> = members
            .iter()
            .map(|new| before.next().map(|old| changes(old, new)).unwrap_or_default())
            .collect();
        let versions = versions
            .into_iter()
            .zip(changes)
            .map(|(memory, changes)| VersionView { memory: MemoryView::from(memory), changes });
        Ok(HistoryView { versions: versions.collect() })
    }
}

/// The members of a memory as JSON.
fn members(memory: &Memory) -> Result<Map<String, Value>, ApiError> {
    match serde_json::to_value(memory) {
        Ok(Value::Object(mut members)) => {
            members.retain(|name, _| !UNCOMPARED.contains(&&**name));
            Ok(members)
        }
        _ => Err(ApiError::interrupted()),
    }
}

fn changes(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<ChangeView> {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let value = |members: &Map<String, Value>, name: &str| {
        members.get(name).cloned().unwrap_or(Value::Null)
    };
    let change = |name: &String| {
        let (from, to) = (value(old, name), value(new, name));
        (from != to).then(|| ChangeView { member: name.clone(), from, to })
    };
    names.into_iter().filter_map(change).collect()
}
