//! A client for the REST API of a running memgate.

use std::time::Duration;

use reqwest::{
    Certificate, Method, RequestBuilder, Response, StatusCode, Url, header::CONTENT_TYPE,
    redirect::Policy,
};
use serde::de::DeserializeOwned;

use crate::{
    api::{
        AuditView, CreatedKeyView, DeletedView, EndedView, ErrorBody, ForgettingsView, HitsView,
        ImportedView, JobView, JobsView, KeysView, MemoriesView, MemoryView, PreferenceView,
        PreferencesView, RetriedView, RevokedView, SessionsView, UndoneView,
        read::access_requests::{AuditRequest, CreateKeyRequest},
        read::requests::{
            AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, ForgetRequest,
            JobsRequest, ListRequest, PreferencesRequest, RetryAllRequest, SearchRequest,
            SessionsRequest, SetPreferenceRequest, UnsetPreferenceRequest, Whose,
        },
    },
    cli::failure::Failure,
};
use memgate_config::Config;

/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of a request; deleting very many memories cleans up before the response.
const PATIENCE: Duration = Duration::from_secs(60);
/// Timeout for recognising a memgate at the configured address.
const GLANCE: Duration = Duration::from_secs(1);
/// Timeout of `/readyz`, whose parts are checked in parallel for up to two seconds.
const READY: Duration = Duration::from_secs(4);
/// Maximum size of a response, in bytes: several times a page of the largest memories.
const MAX_ANSWER: usize = 64 << 20;

/// What an operation answered.
pub(super) struct Answer<T> {
    /// REST's body, byte for byte.
    pub(super) body: Vec<u8>,
    /// What is in it.
    pub(super) view: T,
}

/// A server and its key.
pub(super) struct Client {
    http: reqwest::Client,
    server: Url,
    key: Option<String>,
}

impl Client {
    /// Also trusts the certificate that the configuration names for memgate itself.
    ///
    /// # Errors
    /// When this machine's TLS cannot be set up.
    pub(super) fn new(
        server: Url,
        key: Option<String>,
        config: Option<&Config>,
    ) -> Result<Self, Failure> {
        // This fails only when a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A certificate of one's own need not be known to the system.
        let own = config.and_then(|config| config.listen.http_tls.as_ref());
        let own = own.filter(|_| server.scheme() == "https");
        let own = own.and_then(|tls| std::fs::read(&tls.certificate).ok());
        let own = own.and_then(|pem| Certificate::from_pem_bundle(&pem).ok()).unwrap_or_default();
        let http = reqwest::Client::builder()
            .tls_certs_merge(own)
            .connect_timeout(CONNECT)
            .timeout(PATIENCE)
            // Requests and the key are only for this server.
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("memgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::new("client", root(&error)))?;
        Ok(Self { http, server, key })
    }

    /// The server's URL.
    pub(super) fn server(&self) -> &Url {
        &self.server
    }

    /// Whether a memgate answers there. The key is not sent.
    pub(super) async fn is_memgate(&self) -> bool {
        let glance = async {
            let answer = self.http.get(self.url(&["healthz"])).send().await.ok()?;
            let body = self.read(answer).await.ok()?;
            let told: serde_json::Value = serde_json::from_slice(&body).ok()?;
            Some(told.get("service")? == "memgate")
        };
        tokio::time::timeout(GLANCE, glance).await.ok().flatten().unwrap_or(false)
    }

    /// Asks `/readyz` whether memory works. The key is not sent.
    ///
    /// # Errors
    /// When it says that memory does not work, or nothing in time.
    pub(super) async fn ready(&self) -> Result<(), Failure> {
        let answer = self.http.get(self.url(&["readyz"])).timeout(READY).send().await;
        let answer = answer.map_err(|error| self.silent(&error))?;
        let status = answer.status();
        let body = self.read(answer).await?;
        if status.is_success() {
            return Ok(());
        }
        // A server that is not memgate may answer anything; a line of it is enough.
        let said: String = String::from_utf8_lossy(&body).chars().take(500).collect();
        Err(Failure::new("not_ready", format!("{} is not ready: {}", self.server, said.trim())))
    }

    pub(super) async fn list(
        &self,
        request: &ListRequest,
    ) -> Result<Answer<MemoriesView>, Failure> {
        self.send(self.request(Method::GET, &["memory"]).query(request)).await
    }

    pub(super) async fn search(
        &self,
        request: &SearchRequest,
    ) -> Result<Answer<HitsView>, Failure> {
        self.send(self.request(Method::POST, &["memory", "search"]).json(request)).await
    }

    pub(super) async fn create(
        &self,
        request: &CreateRequest,
    ) -> Result<Answer<MemoryView>, Failure> {
        self.send(self.request(Method::POST, &["memory"]).json(request)).await
    }

    pub(super) async fn forget(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<DeletedView>, Failure> {
        self.send(self.request(Method::DELETE, &["memory", id]).query(whose)).await
    }

    pub(super) async fn forgettings(
        &self,
        whose: &Whose,
    ) -> Result<Answer<ForgettingsView>, Failure> {
        self.send(self.request(Method::GET, &["forgettings"]).query(whose)).await
    }

    pub(super) async fn preferences(
        &self,
        request: &PreferencesRequest,
    ) -> Result<Answer<PreferencesView>, Failure> {
        self.send(self.request(Method::GET, &["preferences"]).query(request)).await
    }

    pub(super) async fn set_preference(
        &self,
        request: &SetPreferenceRequest,
    ) -> Result<Answer<PreferenceView>, Failure> {
        self.send(self.request(Method::PUT, &["preferences"]).json(request)).await
    }

    pub(super) async fn unset_preference(
        &self,
        request: &UnsetPreferenceRequest,
    ) -> Result<Answer<DeletedView>, Failure> {
        self.send(self.request(Method::DELETE, &["preferences"]).query(request)).await
    }

    pub(super) async fn undo_forgetting(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<UndoneView>, Failure> {
        self.send(self.request(Method::POST, &["forgettings", id, "undo"]).json(whose)).await
    }

    pub(super) async fn forget_scope(
        &self,
        request: &ForgetRequest,
    ) -> Result<Answer<DeletedView>, Failure> {
        self.send(self.request(Method::DELETE, &["memory"]).query(request)).await
    }

    pub(super) async fn export(&self, request: &ExportRequest) -> Result<Vec<u8>, Failure> {
        self.take(self.request(Method::GET, &["memory", "export"]).query(request)).await
    }

    pub(super) async fn export_all(&self, request: &ExportAllRequest) -> Result<Vec<u8>, Failure> {
        self.take(self.ask(Method::GET, &["admin", "memory", "export"]).query(request)).await
    }

    pub(super) async fn import(
        &self,
        whose: Option<&Whose>,
        lines: Vec<u8>,
    ) -> Result<Answer<ImportedView>, Failure> {
        let request = match whose {
            Some(whose) => self.request(Method::POST, &["memory", "import"]).query(whose),
            None => self.ask(Method::POST, &["admin", "memory", "import"]),
        };
        self.send(request.header(CONTENT_TYPE, "application/x-ndjson").body(lines)).await
    }

    pub(super) async fn jobs(&self, request: &JobsRequest) -> Result<Answer<JobsView>, Failure> {
        self.send(self.request(Method::GET, &["jobs"]).query(request)).await
    }

    pub(super) async fn all_jobs(
        &self,
        request: &AllJobsRequest,
    ) -> Result<Answer<JobsView>, Failure> {
        self.send(self.ask(Method::GET, &["admin", "jobs"]).query(request)).await
    }

    pub(super) async fn retry_job(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<JobView>, Failure> {
        self.send(self.request(Method::POST, &["jobs", id, "retry"]).json(whose)).await
    }

    pub(super) async fn retry_jobs(&self, whose: &Whose) -> Result<Answer<RetriedView>, Failure> {
        self.send(self.request(Method::POST, &["jobs", "retry"]).json(whose)).await
    }

    pub(super) async fn retry_all_jobs(&self) -> Result<Answer<RetriedView>, Failure> {
        let request = self.ask(Method::POST, &["admin", "jobs", "retry"]);
        self.send(request.json(&RetryAllRequest {})).await
    }

    pub(super) async fn sessions(
        &self,
        request: &SessionsRequest,
    ) -> Result<Answer<SessionsView>, Failure> {
        self.send(self.request(Method::GET, &["sessions"]).query(request)).await
    }

    pub(super) async fn end_session(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<EndedView>, Failure> {
        self.send(self.request(Method::POST, &["sessions", id, "end"]).json(whose)).await
    }

    pub(super) async fn keys(&self) -> Result<Answer<KeysView>, Failure> {
        self.send(self.ask(Method::GET, &["admin", "keys"])).await
    }

    pub(super) async fn create_key(
        &self,
        request: &CreateKeyRequest,
    ) -> Result<Answer<CreatedKeyView>, Failure> {
        self.send(self.ask(Method::POST, &["admin", "keys"]).json(request)).await
    }

    pub(super) async fn revoke_key(&self, id: &str) -> Result<Answer<RevokedView>, Failure> {
        self.send(self.ask(Method::DELETE, &["admin", "keys", id])).await
    }

    pub(super) async fn audit(&self, request: &AuditRequest) -> Result<Answer<AuditView>, Failure> {
        self.send(self.ask(Method::GET, &["admin", "audit"]).query(request)).await
    }

    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        self.ask(method, &[&["v1"], path].concat())
    }

    fn ask(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let request = self.http.request(method, self.url(path));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.server.clone();
        // This fails only for URLs without a host, and a server has one.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<Answer<T>, Failure> {
        let body = self.take(request).await?;
        let view = serde_json::from_slice(&body).map_err(|_| self.foreign(StatusCode::OK))?;
        Ok(Answer { body, view })
    }

    /// The body of a successful response.
    async fn take(&self, request: RequestBuilder) -> Result<Vec<u8>, Failure> {
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        let status = answer.status();
        let body = self.read(answer).await?;
        if status.is_success() {
            return Ok(body);
        }
        match serde_json::from_slice::<ErrorBody>(&body) {
            Ok(told) => Err(Failure::refused(status.as_u16(), &told.error, body)),
            Err(_) => Err(self.foreign(status)),
        }
    }

    /// The server is not memgate, or of another version.
    fn foreign(&self, status: StatusCode) -> Failure {
        let message = format!(
            "{}: status {status}, but not a response of this version of memgate",
            self.server
        );
        Failure::new("not_memgate", message)
    }

    async fn read(&self, mut answer: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| self.silent(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER {
                let message = format!("{}: the response exceeds {MAX_ANSWER} bytes", self.server);
                return Err(Failure::new("answer_too_large", message));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The server did not respond, or not completely.
    fn silent(&self, error: &reqwest::Error) -> Failure {
        let cause = if error.is_timeout() { "timeout".to_owned() } else { root(error) };
        Failure::new("unreachable", format!("{}: {cause}", self.server))
    }
}

/// The innermost cause; the outer errors add nothing.
fn root(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => root(source),
        None => error.to_string(),
    }
}
