//! The owners that are no users: an agent, the organisation, and a session without a user.

/// Begins the name of an owner that is no user: no id holds a control character.
pub(super) const MARK: char = '\u{1}';

/// The kinds of owner within a tenant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space<'a> {
    /// A user's own.
    User(&'a str),
    /// The memories of an agent, for all who use it.
    Agent(&'a str),
    /// The memories of the organisation, which is the tenant.
    Organisation,
    /// The memories of a session without a user, by the session's id.
    Session(&'a str),
}

const AGENT: &str = "agent:";
const ORGANISATION: &str = "organisation";
const SESSION: &str = "session:";

impl<'a> Space<'a> {
    /// The space that is called so within a tenant; `None` where a mark is followed by nothing known.
    pub(super) fn of(name: &'a str) -> Option<Self> {
        let Some(space) = name.strip_prefix(MARK) else { return Some(Self::User(name)) };
        match (space.strip_prefix(AGENT), space.strip_prefix(SESSION)) {
            (Some(agent), _) => Some(Self::Agent(agent)),
            (_, Some(session)) => Some(Self::Session(session)),
            (None, None) => (space == ORGANISATION).then_some(Self::Organisation),
        }
    }

    /// Its name within a tenant.
    pub(super) fn name(&self) -> String {
        match self {
            Self::User(id) => (*id).to_owned(),
            Self::Agent(id) => format!("{MARK}{AGENT}{id}"),
            Self::Organisation => format!("{MARK}{ORGANISATION}"),
            Self::Session(id) => format!("{MARK}{SESSION}{id}"),
        }
    }

    /// The id in its name, which a request chose.
    pub(super) fn id(&self) -> Option<&'a str> {
        match self {
            Self::User(id) | Self::Agent(id) | Self::Session(id) => Some(id),
            Self::Organisation => None,
        }
    }
}
