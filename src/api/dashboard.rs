//! The dashboard: static files that show in a browser what the API says. They hold nothing that is stored, so they need no
//! key; the pages call the API with the key that their user gives them.

use axum::{
    Router,
    extract::Path,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use rust_embed::Embed;

use crate::api::{ApiError, state::ApiState};

/// The page that `/` shows.
const PAGE: &str = "index.html";

/// Sources that a browser may load and run: only these files and this API, and nothing inline. No other page may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types lit-html";

/// The files of `dashboard/`, with their paths in it.
#[derive(Embed)]
#[folder = "dashboard/"]
struct Files;

/// `/`, and the files that its page needs; `/dashboard/` is the same page, for a gateway whose own root is another's.
pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/", get(async || file(PAGE)))
        .route("/dashboard/", get(async || file(PAGE)))
        .route("/dashboard/{*path}", get(async |Path(path): Path<String>| file(&path)))
}

fn file(path: &str) -> Result<Response, ApiError> {
    let (Some(file), Some(kind)) = (Files::get(path), kind(path)) else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_route", "no such file"));
    };
    let headers: [(HeaderName, HeaderValue); 6] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        // Another version may be served at the same address tomorrow.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    Ok((headers, file.data.into_owned()).into_response())
}

/// The media type by a file's ending; none for files that are not served, as licences.
fn kind(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
