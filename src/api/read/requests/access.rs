//! The requests about keys and the audit log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `POST /admin/keys`.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CreateKeyRequest {
    /// Name of the key; up to two valid keys may share one.
    pub name: String,
    /// Scopes of the key: `read`, `write`, `admin`, or only `gateway`.
    pub scopes: Vec<String>,
    /// The only user whose memories the key reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The only space whose memories the key reaches: `agent:` and the agent's id, or `organisation`. Not with
    /// `user_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The tenant of that user or space, or the only tenant that the key reaches. Default: `default` with
    /// `user_id` or `space`, else all tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// When the key stops being valid. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// `GET /admin/audit`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct AuditRequest {
    /// Only entries about this user, of the tenant `default` or `tenant_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Only entries about this tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Only entries of this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Maximum number of entries, 1 to 100. Default: 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
