//! Checks who may read a memory.

use axum::http::StatusCode;

use crate::api::{ApiError, Caller};
use memgate_config::Config;
use memgate_core::memory::{Memory, Owner, Space, Visibility};
use memgate_recall::Publish;

/// Why a user may not share.
pub(in crate::api::operations) const ONLY_KEYS: &str =
    "memory.scopes.publish lets only keys that are not bound to one user share memories";

/// Whether a caller may make memories shared or public.
pub(in crate::api::operations) fn may_publish(caller: &Caller, config: &Config) -> bool {
    config.memory.scopes.publish == Publish::Users || caller.bound().user().is_none()
}

/// Checks a memory that is to be stored in place of `before`: whether the caller may let others read it as it is. A
/// memory that others may read is more than its words: the project and the agent say to whom it is shown, its times and
/// its weight whether it is. So every change of it is a publication, unless it takes the memory back.
///
/// # Errors
/// 403 with the setting that refuses it.
pub(in crate::api::operations) fn permitted(
    caller: &Caller,
    config: &Config,
    before: Option<&Memory>,
    memory: &Memory,
) -> Result<(), ApiError> {
    let is_known = before.is_some_and(|before| {
        let Memory { version, updated_at, .. } = *before;
        Memory { version, updated_at, ..memory.clone() } == *before
    });
    if is_known || memory.visibility == Visibility::Private || may_publish(caller, config) {
        return Ok(());
    }
    let message = format!("visibility: {ONLY_KEYS}");
    let refused = ApiError::new(StatusCode::FORBIDDEN, "not_permitted", message);
    Err(ApiError { param: Some("visibility".to_owned()), ..refused })
}

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
