//! Sessions without a user. A session's id is a secret: whoever sends it gets what was said in the session.

use sha2::{Digest, Sha256};

use crate::{
    identity::Identity,
    memory::{Owner, check_id},
};

/// The least that somebody must guess to find a session, in bits.
const LEAST_BITS: f32 = 128.0;
/// The fewest different characters of an id that may have been drawn at random.
const LEAST_DIFFERENT: usize = 8;

/// The namer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionNamer {
    /// Envoy, in a header that clients cannot send.
    Gateway,
    /// The client.
    Client,
}

/// The identity of a session without a user; none where the id is not one, or the client named what can be guessed.
#[must_use]
pub fn of_session(id: &str, named_by: SessionNamer) -> Option<Identity> {
    let is_secret = named_by == SessionNamer::Gateway || is_hard_to_guess(id);
    check_id(id).ok()?;
    let kept = digest(id);
    let owner = Owner::session(Owner::DEFAULT_TENANT, &kept).ok().filter(|_| is_secret)?;
    Some(Identity { owner, roles: Vec::new() })
}

/// The digest of an id, which is all that is kept of it: a reader of a store, an export or a backup cannot take the session
/// over.
fn digest(id: &str) -> String {
    let digest = Sha256::digest(id);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether an id has the form of at least 128 random bits: 32 hexadecimal digits, a UUID, or 22 letters and digits, and no
/// characters but those of a token (RFC 6750). Whether it was drawn at random, nobody can tell from one.
fn is_hard_to_guess(id: &str) -> bool {
    if !id.chars().all(|c| c.is_ascii_alphanumeric() || "-._~+/=:".contains(c)) {
        return false;
    }
    let drawn: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).collect();
    let each = if drawn.iter().all(char::is_ascii_digit) {
        10.0_f32
    } else if drawn.iter().all(char::is_ascii_hexdigit) {
        16.0
    } else {
        62.0
    };
    #[expect(clippy::cast_precision_loss, reason = "an id has at most 256 characters")]
    let bits = each.log2() * drawn.len() as f32;
    let mut different = drawn;
    different.sort_unstable();
    different.dedup();
    bits >= LEAST_BITS && different.len() >= LEAST_DIFFERENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Space;

    #[test]
    fn a_client_can_only_name_a_session_that_nobody_guesses() {
        for (id, enough) in [
            ("550e8400-e29b-41d4-a716-446655440000", true),
            ("0123456789abcdef0123456789abcdef", true),
            ("V1StGXR8_Z5jdHi6B-myT7q2", true),
            ("391827364509182736450918273645091827364", true),
            ("0123456789abcdef0123456789abcde", false),
            ("V1StGXR8Z5jdHi6BmyT7q", false),
            ("session-1", false),
            ("https://example.com/chat?user=alice&room=kitchen", false),
            ("the session of my kitchen tablet 1", false),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("", false),
            ("----------------------------------------------", false),
        ] {
            assert_eq!(of_session(id, SessionNamer::Client).is_some(), enough, "{id}");
        }
    }

    #[test]
    fn the_gateway_names_any_session_that_is_an_id() {
        let identity = of_session("s1", SessionNamer::Gateway).unwrap();
        assert!(identity.owner().space() == Space::Session(&digest("s1")));
        assert_eq!((identity.owner().user(), identity.roles()), (None, &[][..]));
        assert_eq!(of_session("a\nb", SessionNamer::Gateway), None);
    }
}
