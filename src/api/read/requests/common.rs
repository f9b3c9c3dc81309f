//! Members that several requests have, and how absent ones are read.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::IntoParams;

use crate::api::ApiError;
use memgate_core::memory::Owner;

/// The user whose memories are meant.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// The user's id.
    pub user_id: String,
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
        Owner::of_user(&self.user_id).map_err(|cause| ApiError::invalid("user_id", cause))?;
        Owner::new(tenant, &self.user_id).map_err(|cause| ApiError::invalid("tenant_id", cause))
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
