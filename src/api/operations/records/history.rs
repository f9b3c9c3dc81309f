//! The versions of a memory and their differences.

use serde_json::{Map, Value};

use crate::api::{
    ApiError, Caller, ChangeView, HistoryView, MemoryView, VersionView, Whose, WithId,
    operations::Operations,
};
use memgate_core::memory::MemoryId;

/// The most versions of an answer.
const MAX_VERSIONS: usize = 100;
/// Members that say nothing about what a version changed.
const UNCOMPARED: [&str; 4] = ["version", "updated_at", "access_count", "last_accessed_at"];

impl Operations {
    /// The versions of a memory, the newest first, each with its differences from the one before; of very many the newest.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id.
    pub async fn history(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<HistoryView, ApiError> {
        let id = MemoryId::from_outside(&id);
        let mut versions = self.store.history(&caller.owner(&whose)?, &id).await?;
        // One more, for the differences of the last one that is shown.
        versions.truncate(MAX_VERSIONS + 1);
        let views: Vec<MemoryView> = versions.into_iter().map(MemoryView::from).collect();
        let members = views.iter().map(members).collect::<Result<Vec<_>, ApiError>>()?;
        let mut before = members.iter().skip(1);
        let changes: Vec<_> = members
            .iter()
            .map(|new| before.next().map(|old| changes(old, new)).unwrap_or_default())
            .collect();
        let versions = views.into_iter().zip(changes).take(MAX_VERSIONS);
        let versions = versions.map(|(memory, changes)| VersionView { memory, changes });
        Ok(HistoryView { versions: versions.collect() })
    }
}

/// The members of a version.
fn members(memory: &MemoryView) -> Result<Map<String, Value>, ApiError> {
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
