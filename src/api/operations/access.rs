//! Manages keys and lists the audit log, for operators.

use axum::http::StatusCode;

use crate::api::{
    ApiError, AuditRequest, AuditView, Caller, CallerView, CreateKeyRequest, CreatedKeyView,
    KeysView, NoMembers, RevokedView, Whose, WhoseIfNamed, WithId, cursor,
    operations::{Operations, page},
};
use memgate_access::{AuditQuery, Bound, InvalidKey, KeyError, NewKey, Scopes};
use memgate_core::memory::check_id;

impl Operations {
    /// The permissions of the caller. A bound key names its user and tenant by itself; they change nothing.
    ///
    /// # Errors
    /// None.
    pub async fn whoami(&self, caller: &Caller, _: WhoseIfNamed) -> Result<CallerView, ApiError> {
        Ok(caller.into())
    }

    /// All keys, without their secrets.
    ///
    /// # Errors
    /// None.
    pub async fn keys(&self, _: &Caller, NoMembers {}: NoMembers) -> Result<KeysView, ApiError> {
        Ok(KeysView { keys: self.access.keys.list().into_iter().map(Into::into).collect() })
    }

    /// Creates a key; the answer is the only place that ever shows it.
    ///
    /// # Errors
    /// 400 for an invalid field, 409 when two valid keys have this name.
    pub async fn create_key(
        &self,
        caller: &Caller,
        request: CreateKeyRequest,
    ) -> Result<CreatedKeyView, ApiError> {
        let scopes: Result<Vec<_>, _> = request.scopes.iter().map(|name| name.parse()).collect();
        let CreateKeyRequest { user_id, space, tenant_id, .. } = request;
        let bound = match tenant_id {
            tenant_id if user_id.is_some() || space.is_some() => {
                Bound::One(Whose { user_id, space, tenant_id }.owner()?)
            }
            Some(tenant) => {
                check_id(&tenant).map_err(|cause| ApiError::invalid("tenant_id", cause))?;
                Bound::Tenant(tenant)
            }
            None => Bound::All,
        };
        let new = NewKey::new(request.name, Scopes::new(scopes?), bound, request.expires_at)?;
        let created = self.access.keys.create(new, caller.actor(), caller.request_id()).await;
        let (key, secret) = created?;
        Ok(CreatedKeyView { key: secret.reveal().to_owned(), properties: key.into() })
    }

    /// Revokes a key at once.
    ///
    /// # Errors
    /// 404 when there is no such key, 503 when the file cannot be written.
    pub async fn revoke_key(
        &self,
        caller: &Caller,
        WithId { id, request: NoMembers {} }: WithId<NoMembers>,
    ) -> Result<RevokedView, ApiError> {
        let Ok(id) = id.parse() else { return Err(ApiError::no_key()) };
        match self.access.keys.revoke(id, caller.actor(), caller.request_id()).await? {
            Some(_) => Ok(RevokedView { revoked: 1 }),
            None => Err(ApiError::no_key()),
        }
    }

    /// A page of the audit log, the newest entries first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 when the log cannot be read.
    pub async fn audit(&self, _: &Caller, request: AuditRequest) -> Result<AuditView, ApiError> {
        let limit = page(request.limit)?;
        let tenant_id = request.tenant_id.clone();
        let whose = request.user_id.map(|user_id| Whose::user(user_id, tenant_id));
        let query = AuditQuery {
            owner: whose.map(|whose| whose.owner()).transpose()?,
            tenant: request.tenant_id,
            since: request.since,
            before: request.cursor.as_deref().map(cursor::decode_number).transpose()?,
            limit: limit + 1,
        };
        let found = self.access.audit.list(query).await.map_err(KeyError::from)?;
        Ok(AuditView::of(found, limit))
    }
}

impl ApiError {
    fn no_key() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such key")
    }
}

impl From<InvalidKey> for ApiError {
    fn from(InvalidKey { field, cause }: InvalidKey) -> Self {
        Self::invalid(field, cause)
    }
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        let message = error.to_string();
        match error {
            KeyError::TooManyOfName => Self {
                param: Some("name".into()),
                ..Self::new(StatusCode::CONFLICT, "too_many_keys", message)
            },
            KeyError::TooMany => Self::new(StatusCode::CONFLICT, "too_many_keys", message),
            KeyError::Random(_) | KeyError::Database(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "access_unavailable", message)
            }
        }
    }
}
