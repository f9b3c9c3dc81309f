//! Keys and the audit log as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::{Caller, cursor, views::memories::space};
use memgate_access::{AuditEntry, KeyRecord};

/// The caller of this request.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CallerView {
    /// Scopes of the key: `read`, `write`, `admin`.
    pub scopes: Vec<String>,
    /// The only user whose memories it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The only space whose memories it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The only tenant that it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

impl From<&Caller> for CallerView {
    fn from(caller: &Caller) -> Self {
        Self {
            scopes: caller.scopes().names().into_iter().map(str::to_owned).collect(),
            user_id: caller.bound().user().map(str::to_owned),
            space: caller.bound().owner().and_then(space),
            tenant_id: caller.bound().tenant().map(str::to_owned),
        }
    }
}

/// A key without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyView {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<String>,
    /// The only user whose memories it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The only space whose memories it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The only tenant that it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Time of its creation.
    pub created_at: Timestamp,
    /// When it stops being valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl From<KeyRecord> for KeyView {
    fn from(key: KeyRecord) -> Self {
        Self {
            id: key.id,
            name: key.name,
            scopes: key.scopes.names().into_iter().map(str::to_owned).collect(),
            user_id: key.bound.user().map(str::to_owned),
            space: key.bound.owner().and_then(space),
            tenant_id: key.bound.tenant().map(str::to_owned),
            created_at: key.created_at,
            expires_at: key.expires_at,
        }
    }
}

/// A new key, with its secret.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CreatedKeyView {
    /// The key, which is shown only here.
    pub key: String,
    /// Its properties.
    #[serde(flatten)]
    pub properties: KeyView,
}

/// The keys.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeysView {
    /// All keys that were not revoked, oldest first.
    pub keys: Vec<KeyView>,
}

/// The result of revoking a key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RevokedView {
    /// Number of revoked keys.
    pub revoked: u64,
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditEntryView {
    /// Position in the log.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// Why.
    pub reason: String,
    /// Reference to the user whose memories it was about: the same in all entries, but not the id,
    /// because entries outlive an erasure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_ref: Option<String>,
    /// The tenant of that user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The id of the memory, job or key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The number of memories or jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The caller's `x-request-id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry {
            id,
            at,
            actor,
            action,
            reason,
            tenant,
            user_ref,
            target,
            count,
            request_id,
        } = entry;
        Self {
            id,
            at,
            actor,
            action,
            reason,
            user_ref,
            tenant_id: tenant,
            target,
            count,
            request_id,
        }
    }
}

/// A page of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditView {
    /// The entries, the newest first.
    pub entries: Vec<AuditEntryView>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
}

impl AuditView {
    /// A page of at most `limit` entries; one more shows that there is a next page.
    pub(in crate::api) fn of(mut entries: Vec<AuditEntry>, limit: usize) -> Self {
        let next_cursor = cursor::next(&mut entries, limit, |entry| entry.id);
        Self { entries: entries.into_iter().map(Into::into).collect(), next_cursor }
    }
}
