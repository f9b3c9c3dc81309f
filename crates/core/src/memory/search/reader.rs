//! The reader of what others share. Stores compare it in their queries, and recall compares it again with what they return.

use crate::memory::{Memory, Owner, Space, Visibility, Within};

/// Somebody who asks for what others of the tenant share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The user who asks.
    pub owner: Owner,
    /// The user's verified roles.
    pub roles: Vec<String>,
    /// The agent that asks for the user.
    pub agent: Option<String>,
}

impl Reader {
    /// Whether a memory of another owner is shared with the reader, who may ask for it with this agent.
    #[must_use]
    pub fn is_shared_with(&self, memory: &Memory) -> bool {
        self.reaches(&memory.owner, memory.agent_id.as_deref()) && self.is_among(&memory.visibility)
    }

    /// Whether anything of an owner and an agent can be shared with the reader: an agent's is for those who use the agent,
    /// a session's for nobody else. The reader's own memories are not shared.
    #[must_use]
    pub fn reaches(&self, owner: &Owner, agent: Option<&str>) -> bool {
        let uses = |agent: &str| self.agent.as_deref() == Some(agent);
        let is_here = match owner.space() {
            Space::User(_) | Space::Organisation => true,
            Space::Agent(agent) => uses(agent),
            Space::Session(_) => false,
        };
        *owner != self.owner
            && owner.tenant() == self.owner.tenant()
            && is_here
            && agent.is_none_or(uses)
    }

    fn is_among(&self, readers: &Visibility) -> bool {
        match readers {
            Visibility::Private => false,
            Visibility::Public => true,
            Visibility::Shared { users, roles } => {
                let user = self.owner.user();
                users.iter().any(|allowed| user == Some(allowed.as_str()))
                    || roles.iter().any(|allowed| self.roles.contains(allowed))
            }
        }
    }
}

/// The haystack of what others share with a reader. The reader's own memories are not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedScope {
    /// The reader.
    pub reader: Reader,
    /// The projects that are searched.
    pub projects: Within,
    /// Only these types; empty means all.
    pub types: Vec<String>,
}

impl SharedScope {
    /// Whether a memory lies in this haystack.
    #[must_use]
    pub fn holds(&self, memory: &Memory) -> bool {
        self.reader.is_shared_with(memory)
            && self.covers(memory.memory_type.as_str(), memory.project_id.as_deref())
    }

    /// Whether it covers this type and project.
    #[must_use]
    pub fn covers(&self, memory_type: &str, project: Option<&str>) -> bool {
        self.projects.holds(project)
            && (self.types.is_empty() || self.types.iter().any(|name| name == memory_type))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::memory::{MemoryId, MemoryType, Source};

    fn reads(reader: &Reader, owner: &Owner, visibility: &Visibility) -> bool {
        let (id, kind) = (MemoryId::fresh(), MemoryType::new(MemoryType::SEMANTIC));
        let (source, at) = (Source::ExternalData, Timestamp::UNIX_EPOCH);
        let mut memory = Memory::new(id, owner.clone(), kind, "x", source, at);
        memory.visibility = visibility.clone();
        let of_none = reader.is_shared_with(&memory);
        memory.agent_id = reader.agent.clone();
        assert_eq!(reader.is_shared_with(&memory), of_none, "the reader's agent may ask for it");
        memory.agent_id = Some("another".into());
        assert!(!reader.is_shared_with(&memory), "another agent may not");
        of_none
    }

    #[test]
    fn only_the_allowed_of_the_same_tenant_read_what_is_shared() {
        let owner = |tenant, user| Owner::new(tenant, user).unwrap();
        let reader = |tenant, user, roles: &[&str]| Reader {
            owner: owner(tenant, user),
            roles: roles.iter().map(|&role| role.to_owned()).collect(),
            agent: Some("bot".into()),
        };
        let to_bob_and_hr =
            Visibility::Shared { users: vec!["bob".into()], roles: vec!["hr".into()] };
        let bob = reader("t", "bob", &[]);
        let hr = reader("t", "carol", &["dev", "hr"]);
        let dave = reader("t", "dave", &["Hr", "bob"]);
        let strangers = [reader("u", "bob", &["hr"]), reader("t/%organisation", "bob", &["hr"])];
        let spaces = [
            owner("t", "alice"),
            Owner::organisation("t").unwrap(),
            Owner::agent("t", "bot").unwrap(),
        ];
        for space in &spaces {
            for (reader, shared) in [(&bob, true), (&hr, true), (&dave, false)] {
                assert_eq!(reads(reader, space, &to_bob_and_hr), shared);
                assert!(reads(reader, space, &Visibility::Public));
                assert!(!reads(reader, space, &Visibility::Private));
            }
            for stranger in &strangers {
                assert!(!reads(stranger, space, &Visibility::Public));
                assert!(!reads(stranger, space, &to_bob_and_hr));
            }
        }
        for nobodys in [Owner::agent("t", "other").unwrap(), Owner::session("t", "bob").unwrap()] {
            assert!(!reads(&bob, &nobodys, &Visibility::Public));
        }
        let session = Reader { owner: Owner::session("t", "bob").unwrap(), ..bob };
        assert!(
            !reads(&session, &spaces[0], &to_bob_and_hr),
            "a session is not the user of its name"
        );
    }
}
