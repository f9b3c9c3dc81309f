//! Checks what may stand in every context.

use crate::api::ApiError;
use memgate_text::{preferences::may_stand, sentences::sentences};

/// Checks the words of a wish about every answer.
///
/// # Errors
/// 400 names the field.
pub(in crate::api::operations) fn checked(field: &str, wish: &str) -> Result<(), ApiError> {
    if may_stand(wish) && sentences(wish).len() == 1 {
        return Ok(());
    }
    let cause = "must be one sentence of at most 200 characters without quotations, addresses and long numbers";
    Err(ApiError::invalid(field, cause))
}
