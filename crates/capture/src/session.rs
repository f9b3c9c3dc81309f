//! Which session an exchange belongs to, and its place there. Pure: the journal
//! resolves what only it can know (a response's session, a session gone idle).

use sha2::{Digest, Sha256};

use memgate_core::memory::{MAX_ID_BYTES, Owner, Space};
use memgate_dialect::Ask;

/// The key of a session, by the first rule that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionKey {
    /// The client named it: `x-session-id`, or `metadata.session_id`.
    Named(String),
    /// The session of that response; a session of that name when it is unknown.
    AfterResponse(String),
    /// The Responses conversation of that id.
    Conversation(String),
    /// Derived from how the conversation began; a new one after idle time.
    Derived(String),
}

impl SessionKey {
    /// The key of an ask. Ids that cannot be ids (empty, longer than 256 bytes,
    /// with control characters) are passed over.
    #[must_use]
    pub fn of(header: Option<&str>, ask: &Ask, owner: &Owner) -> Self {
        // The id that was sent is a secret then, of which the owner's name is a digest.
        if let Space::Session(id) = owner.space() {
            return Self::Named(id.to_owned());
        }
        if let Some(id) = header.and_then(usable) {
            return Self::Named(id);
        }
        if let Some(id) = ask.previous_response_id.as_deref().and_then(usable) {
            return Self::AfterResponse(id);
        }
        if let Some(id) = ask.conversation.as_deref().and_then(usable) {
            return Self::Conversation(id);
        }
        if let Some(id) = ask.metadata_session_id.as_deref().and_then(usable) {
            return Self::Named(id);
        }
        let instructions = ask.instructions.as_deref().unwrap_or_default();
        let first = ask.first_user_text.as_deref().unwrap_or_default();
        Self::Derived(format!("auto-{}", digest(&[&owner.key(), instructions, first])))
    }

    /// The id of the session, as far as it follows from the key alone.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Named(id)
            | Self::AfterResponse(id)
            | Self::Conversation(id)
            | Self::Derived(id) => id,
        }
    }
}

/// Where among a session's turns an exchange belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The request brought the whole conversation: its nth user message.
    Numbered(u32),
    /// It has a user message and follows the turn of that response.
    After(String),
    /// It has no user message: it goes on within the turn of that response.
    Within(String),
    /// The model server keeps the conversation, and this user message comes next.
    Next,
    /// The model server keeps the conversation, and its last turn goes on.
    Latest,
}

impl Place {
    /// The place of an ask, or `None` when it has no user message and follows nothing.
    #[must_use]
    pub fn of(ask: &Ask) -> Option<Self> {
        let said = ask.user_text.is_some();
        let previous = ask.previous_response_id.as_deref().and_then(usable);
        match (previous, &ask.conversation) {
            (Some(id), _) if said => Some(Self::After(id)),
            (Some(id), _) => Some(Self::Within(id)),
            (None, Some(_)) if said => Some(Self::Next),
            (None, Some(_)) => Some(Self::Latest),
            (None, None) => said.then_some(Self::Numbered(ask.user_ordinal)),
        }
    }
}

/// The name of a derived session after its `ended`th end by idle time.
pub(crate) fn successor(name: &str, ended: u32) -> String {
    match ended {
        0 => name.to_owned(),
        ended => format!("{name}-{}", u64::from(ended) + 1),
    }
}

/// The identity of a user message among others at the same place: its words, its media, and the response that it follows, where the request names
/// one: "yes" twice is twice, and so is "what is this?" with another picture.
pub(crate) fn message_digest(text: &str, media: Option<&str>, place: &Place) -> String {
    let follows = match place {
        Place::After(id) => Some(id.as_str()),
        _ => None,
    };
    match (media, follows) {
        (None, None) => digest(&[text]),
        (None, Some(id)) => digest(&[text, id]),
        (Some(media), follows) => digest(&[text, follows.unwrap_or_default(), media]),
    }
}

/// 128 bits of SHA-256 as hexadecimal digits.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn usable(id: &str) -> Option<String> {
    let fine = !id.is_empty() && id.len() <= MAX_ID_BYTES && !id.chars().any(char::is_control);
    fine.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(header: Option<&str>, ask: &Ask) -> SessionKey {
        SessionKey::of(header, ask, &Owner::of_user("alice").unwrap())
    }

    fn asking(text: &str) -> Ask {
        Ask {
            user_text: Some(text.into()),
            first_user_text: Some(text.into()),
            user_ordinal: 1,
            ..Ask::default()
        }
    }

    #[test]
    fn the_first_rule_that_applies_names_the_session() {
        let ask = Ask {
            previous_response_id: Some("resp".into()),
            conversation: Some("conv".into()),
            metadata_session_id: Some("meta".into()),
            ..asking("hi")
        };
        assert_eq!(key(Some("head"), &ask), SessionKey::Named("head".into()));
        for unusable in ["", "a\nb", &"x".repeat(257)] {
            assert_eq!(key(Some(unusable), &ask), SessionKey::AfterResponse("resp".into()));
        }
        let ask = Ask { previous_response_id: None, ..ask };
        assert_eq!(key(None, &ask), SessionKey::Conversation("conv".into()));
        let ask = Ask { conversation: None, ..ask };
        assert_eq!(key(None, &ask), SessionKey::Named("meta".into()));
    }

    #[test]
    fn a_derived_session_depends_on_user_instructions_and_first_message_alone() {
        let ask = asking("plan a trip");
        let again = Ask { user_text: Some("and then?".into()), user_ordinal: 2, ..ask.clone() };
        assert_eq!(key(None, &ask), key(None, &again));
        let instructed = Ask { instructions: Some("be brief".into()), ..ask.clone() };
        assert_ne!(key(None, &ask), key(None, &instructed));
        assert_ne!(key(None, &ask), key(None, &asking("plan a party")));
        let bob = SessionKey::of(None, &ask, &Owner::of_user("bob").unwrap());
        assert_ne!(key(None, &ask), bob);
    }

    #[test]
    fn the_place_says_who_keeps_the_conversation() {
        let numbered = Ask { user_ordinal: 3, ..asking("a") };
        assert_eq!(Place::of(&numbered), Some(Place::Numbered(3)));
        let chained = Ask { previous_response_id: Some("r".into()), ..asking("a") };
        assert_eq!(Place::of(&chained), Some(Place::After("r".into())));
        let tools_only = Ask { user_text: None, ..chained };
        assert_eq!(Place::of(&tools_only), Some(Place::Within("r".into())));
        let kept = Ask { conversation: Some("c".into()), ..asking("a") };
        assert_eq!(Place::of(&kept), Some(Place::Next));
        assert_eq!(Place::of(&Ask { user_text: None, ..kept }), Some(Place::Latest));
        assert_eq!(Place::of(&Ask::default()), None);
    }

    #[test]
    fn the_same_word_after_two_responses_is_two_messages() {
        let after = |id: &str| message_digest("yes", None, &Place::After(id.into()));
        assert_ne!(after("a"), after("b"));
        assert_eq!(after("a"), after("a"));
        let shows = |picture| message_digest("what is this?", picture, &Place::Numbered(1));
        assert_ne!(shows(Some("a")), shows(Some("b")));
        assert_ne!(shows(Some("a")), shows(None));
    }
}
