//! Members that several requests have, and how absent ones are read.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::IntoParams;

use crate::api::ApiError;
use memgate_core::memory::{InvalidId, Owner};

/// The owner of the memories: a user, an agent or the organisation.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// The user's id. Required without `space`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// `organisation`, or `agent:` and the agent's id. Not with `user_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The tenant's id. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

impl Whose {
    /// The owner for the two ids.
    ///
    /// # Errors
    /// 400 when one of them is invalid.
    pub fn owner(&self) -> Result<Owner, ApiError> {
        let tenant = self.tenant_id.as_deref().unwrap_or(Owner::DEFAULT_TENANT);
        let owner = |tenant: &str| -> Result<Result<Owner, InvalidId>, ApiError> {
            match (self.user_id.as_deref(), self.space.as_deref()) {
                (Some(user), None) => Ok(Owner::new(tenant, user)),
                (None, Some("organisation")) => Ok(Owner::organisation(tenant)),
                (None, Some(space)) => match space.strip_prefix("agent:") {
                    Some(agent) => Ok(Owner::agent(tenant, agent)),
                    None => Err(ApiError::invalid(
                        "space",
                        "must be organisation, or agent: and its id",
                    )),
                },
                (None, None) => Err(ApiError::invalid("user_id", "is required")),
                (Some(_), Some(_)) => {
                    Err(ApiError::invalid("space", "must not be sent with user_id"))
                }
            }
        };
        let named = if self.space.is_some() { "space" } else { "user_id" };
        owner(Owner::DEFAULT_TENANT)?.map_err(|cause| ApiError::invalid(named, cause))?;
        owner(tenant)?.map_err(|cause| ApiError::invalid("tenant_id", cause))
    }

    /// A user.
    #[must_use]
    pub fn user(user_id: impl Into<String>, tenant_id: Option<String>) -> Self {
        Self { user_id: Some(user_id.into()), space: None, tenant_id }
    }
}

/// A page of a list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// Maximum number of items, 1 to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A request without members.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, IntoParams)]
pub struct NoMembers {}

/// Accepts `null` for the default.
pub(super) fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Distinguishes `null` from absent.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}
