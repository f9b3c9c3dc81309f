//! A client for the REST API of a running memgate.

use std::time::Duration;

use reqwest::{
    Certificate, RequestBuilder, Response, StatusCode, Url, header::CONTENT_TYPE, redirect::Policy,
};

use crate::{
    api::{ErrorBody, Input, Operation, Output, RequestOf, Sent, ViewOf},
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
pub(super) const MAX_ANSWER: usize = 64 << 20;

/// The answer of an operation.
pub(super) struct Answer<T> {
    /// REST's body, byte for byte.
    pub(super) body: Vec<u8>,
    /// Its content.
    pub(super) view: T,
}

impl<T> Answer<T> {
    /// Reads the body of an operation's answer.
    pub(super) fn of<O: Operation>(body: Vec<u8>) -> Option<Self>
    where
        O::Output: Output<View = T>,
    {
        let view = O::Output::view(&body).ok()?;
        Some(Self { body, view })
    }
}

/// A server and its key.
pub(super) struct Client {
    http: reqwest::Client,
    server: Url,
    key: Option<String>,
    /// The key of the data folder, with which keys are made where no other is known.
    folder_key: Option<String>,
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
        Ok(Self { http, server, key, folder_key: None })
    }

    /// Makes keys with the key of the data folder, if no other is known.
    pub(super) fn with_folder_key(self, folder_key: Option<String>) -> Self {
        Self { folder_key, ..self }
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

    /// Performs an operation of the API.
    ///
    /// # Errors
    /// When the server refuses, or does not answer as this version of memgate.
    pub(super) async fn ask<O: Operation>(
        &self,
        request: RequestOf<O>,
    ) -> Result<Answer<ViewOf<O>>, Failure> {
        let Sent { id, headers, query, body } = O::Input::write(request).await?;
        let path = O::ENTRY.path.split('/').skip(1);
        let path: Vec<&str> =
            path.map(|part| if part.starts_with('{') { &*id } else { part }).collect();
        let mut request = self.http.request(O::ENTRY.method, self.url(&path)).query(&query);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some((content_type, body)) = body {
            request = request.header(CONTENT_TYPE, content_type).body(body);
        }
        let folder_key = self.folder_key.as_ref().filter(|_| O::ENTRY.tag == "keys");
        if let Some(key) = self.key.as_ref().or(folder_key) {
            request = request.bearer_auth(key);
        }
        Answer::of::<O>(self.take(request).await?).ok_or_else(|| self.foreign(StatusCode::OK))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.server.clone();
        // This fails only for URLs without a host, and a server has one.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
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
