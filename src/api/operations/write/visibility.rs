//! Checks who may read a memory.

use crate::api::ApiError;
use memgate_core::memory::{Owner, Space, Visibility};

/// The visibility of an owner's memory: the one that was asked for, else the usual one.
///
/// # Errors
/// 400 for invalid readers, and for what nobody could read.
pub(in crate::api::operations) fn checked(
    asked: Option<Visibility>,
    owner: &Owner,
) -> Result<Visibility, ApiError> {
    let is_users = matches!(owner.space(), Space::User(_) | Space::Session(_));
    let usual = if is_users { Visibility::Private } else { Visibility::Public };
    let visibility = asked.unwrap_or(usual);
    if !is_users && visibility == Visibility::Private {
        let cause = "must be shared or public: nobody could read it";
        return Err(ApiError::invalid("visibility", cause));
    }
    visibility.check().map_err(|(field, cause)| ApiError::invalid(field, cause))?;
    Ok(visibility)
}
