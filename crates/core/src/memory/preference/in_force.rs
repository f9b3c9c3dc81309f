//! Which of a user's preferences are in force: of two values for one thing, one.

use crate::memory::{Memory, MemoryId, Preference};

/// A preference that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceInForce {
    /// The memory that states it.
    pub id: MemoryId,
    /// Its value.
    pub preference: Preference,
}

/// The preferences in force among memories, the newest first. Where two are about the same thing, that of the project
/// wins over that of no project, then the newer one.
#[must_use]
pub fn in_force(mut memories: Vec<Memory>) -> Vec<PreferenceInForce> {
    memories.sort_by_key(|memory| std::cmp::Reverse(memory.preference_said_at()));
    let (own, general): (Vec<&Memory>, Vec<&Memory>) =
        memories.iter().partition(|memory| memory.project_id.is_some());
    let mut found: Vec<PreferenceInForce> = Vec::new();
    for memory in own.into_iter().chain(general) {
        let Some(preference) = memory.preference() else { continue };
        if !found.iter().any(|known| known.preference.replaces(&preference)) {
            found.push(PreferenceInForce { id: memory.id.clone(), preference });
        }
    }
    found
}

impl Memory {
    /// When the user stated a preference: of two, the later one holds.
    #[must_use]
    pub fn preference_said_at(&self) -> jiff::Timestamp {
        self.last_said().or(self.valid_from).unwrap_or(self.created_at)
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::memory::{MemoryType, Owner, PreferenceKey, Source};

    fn memory(key: PreferenceKey, value: &str, hours: i64, project: Option<&str>) -> Memory {
        let (owner, kind) = (Owner::of_user("u").unwrap(), MemoryType::new(MemoryType::PROCEDURAL));
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours);
        let id = MemoryId::fresh();
        let mut memory = Memory::new(id, owner, kind, "x", Source::ExplicitUserInput, at);
        memory.set_preference(Some(Preference::new(key, value).unwrap()));
        memory.project_id = project.map(str::to_owned);
        memory
    }

    #[test]
    fn a_project_wins_over_none_and_then_the_newer_one() {
        use PreferenceKey::{Format, Name, Tone};
        let found = in_force(vec![
            memory(Name, "Sam", 1, None),
            memory(Name, "Max", 2, None),
            memory(Tone, "formal", 1, Some("p")),
            memory(Tone, "friendly", 3, None),
            memory(Format, "bullets", 4, None),
            memory(Format, "no_emoji", 5, None),
        ]);
        let values: Vec<&str> = found.iter().map(|it| it.preference.value()).collect();
        assert_eq!(values, ["formal", "no_emoji", "bullets", "Max"]);
    }
}
