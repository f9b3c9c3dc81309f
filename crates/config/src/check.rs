//! Checks that span several keys. Bounds of a single key are declared on its field and end up in
//! the schema.

use crate::{
    Config, embedding_check,
    parse::{interpolate::Lookup, problem::Problem},
    schema::{check, json_schema},
    sections::{
        api::ApiConfig, embedding::EmbeddingModel, identity::IdentityMode, listen::GrpcAddress,
        memory::StoreKind, models::ModelRole, postgres::PostgresConfig,
    },
};
use memgate_core::memory::MemoryType;

impl Config {
    /// Checks everything; problems come in no particular order and without line numbers.
    ///
    /// # Errors
    /// All problems, at least one.
    pub fn check(&self) -> Result<(), Vec<Problem>> {
        let problems = self.problems(&|name| std::env::var(name).ok());
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    pub(super) fn problems(&self, env: Lookup<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        match serde_json::to_value(self) {
            Ok(value) => check(json_schema(), &value, "", &mut problems),
            // Only a path that is not UTF-8 gets here.
            Err(error) => problems.push(Problem::new("", error.to_string())),
        }
        self.check_listen(&mut problems);
        self.check_secrets(env, &mut problems);
        self.check_key(env, &mut problems);
        self.check_store(&mut problems);
        self.check_memory(&mut problems);
        embedding_check::problems(&self.memory.embedding, &mut problems);
        self.check_policies(&mut problems);
        self.check_models(&mut problems);
        problems
    }

    /// Settings that are allowed but probably a mistake; each is logged once at start-up.
    #[must_use]
    pub fn warnings(&self) -> Vec<Problem> {
        let mut warnings = Vec::new();
        let query = &self.memory.query;
        if self.model(ModelRole::MemoryRewrite).is_none() {
            for (key, on) in [("hyde", query.hyde), ("self_query", query.self_query)] {
                if on {
                    warnings.push(Problem::new(
                        format!("memory.query.{key}"),
                        "not used, because no model has the role memory_rewrite",
                    ));
                }
            }
        }
        let kind = self.memory.store_kind();
        for (key, there, of) in [
            ("memory.milvus", self.memory.milvus.is_some(), StoreKind::Milvus),
            ("memory.postgres", self.memory.postgres.is_some(), StoreKind::Postgres),
        ] {
            if there && kind != of {
                let cause = format!("not used, because memory.store is {}", kind.name());
                warnings.push(Problem::new(key, cause));
            }
        }
        warnings.extend(embedding_check::warnings(&self.memory));
        if !self.listen.http.ip().is_loopback() && self.listen.http_tls.is_none() {
            warnings.push(Problem::new(
                "listen.http_tls",
                "not set, so keys and memories cross the network in plaintext unless a proxy adds TLS",
            ));
        }
        if self.memory.identity.mode == IdentityMode::Development {
            warnings.push(Problem::new(
                "memory.identity.mode",
                "in development mode any client can claim to be any user; use it on one machine, never in a deployment",
            ));
        }
        warnings
    }

    fn check_listen(&self, problems: &mut Vec<Problem>) {
        let listen = &self.listen;
        if listen.grpc == GrpcAddress::Tcp(listen.http) && listen.http.port() != 0 {
            problems.push(Problem::new("listen.http", "must differ from listen.grpc"));
        }
        if listen.metrics == Some(listen.http) && listen.http.port() != 0 {
            problems.push(Problem::new("listen.metrics", "must differ from listen.http"));
        }
        if !listen.grpc.is_local() && listen.grpc_tls.is_none() {
            problems.push(Problem::new(
                "listen.grpc",
                "must be a loopback address or unix:/path, or have listen.grpc_tls (certificate, key, client_ca): \
                 every client of this address can read any user's memory",
            ));
        }
        if matches!(listen.grpc, GrpcAddress::Unix(_)) && listen.grpc_tls.is_some() {
            problems.push(Problem::new("listen.grpc_tls", "not for a unix socket"));
        }
        if self.memory.identity.mode == IdentityMode::Development {
            let cause = "must be a loopback address, because memory.identity.mode is development, \
                         where any client can claim to be any user";
            let local = [
                ("listen.grpc", listen.grpc.is_local()),
                ("listen.http", listen.http.ip().is_loopback()),
            ];
            problems.extend(
                local.iter().filter(|(_, local)| !local).map(|(key, _)| Problem::new(*key, cause)),
            );
        }
        if !self.listen.http.ip().is_loopback() && self.api.key_env.is_none() {
            problems.push(Problem::new(
                "api.key_env",
                "required, because listen.http is not a loopback address; set it to the name of the environment variable that holds the API key",
            ));
        }
    }

    fn check_secrets(&self, env: Lookup<'_>, problems: &mut Vec<Problem>) {
        let mut needs = |key: String, name: &Option<String>| {
            if let Some(name) = name.as_deref().filter(|name| !name.is_empty())
                && env(name).is_none_or(|value| value.trim().is_empty())
            {
                let cause = format!("the environment variable {name} is not set");
                problems.push(Problem::new(key, cause));
            }
        };
        needs("api.key_env".into(), &self.api.key_env);
        if let Some(milvus) = &self.memory.milvus {
            needs("memory.milvus.token_env".into(), &milvus.token_env);
        }
        if let Some(postgres) = &self.memory.postgres {
            needs("memory.postgres.password_env".into(), &postgres.password_env);
        }
        for (index, model) in self.external_models.iter().enumerate() {
            let key = format!("external_models[{index}].llm_endpoint.api_key_env");
            needs(key, &model.llm_endpoint.api_key_env);
        }
        for EmbeddingModel { key, config, .. } in self.memory.embedding.models() {
            if let Some((provider, _)) = config.remote() {
                let key = format!("{key}.endpoint.api_key_env");
                needs(key, &config.endpoint_of(provider).api_key_env);
            }
        }
    }

    /// An empty one is reported as not set.
    fn check_key(&self, env: Lookup<'_>, problems: &mut Vec<Problem>) {
        if let Some(name) = &self.api.key_env
            && let Some(key) = env(name)
            && (1..ApiConfig::MIN_KEY_CHARS).contains(&key.trim().chars().count())
        {
            let cause = format!(
                "the key in {name} is too short: at least {} characters are required; generate one with `openssl rand -hex 32`",
                ApiConfig::MIN_KEY_CHARS
            );
            problems.push(Problem::new("api.key_env", cause));
        }
    }

    fn check_store(&self, problems: &mut Vec<Problem>) {
        let memory = &self.memory;
        if let Some(milvus) = &memory.milvus
            && milvus.dimension != memory.embedding.whole_dimension()
        {
            let of = match memory.embedding.additional[..] {
                [] => "memory.embedding.dimension",
                _ => "the sum of the dimensions of all embedding models",
            };
            let whole = memory.embedding.whole_dimension();
            let cause = format!("must equal {of}, {whole}");
            problems.push(Problem::new("memory.milvus.dimension", cause));
        }
        if memory.store.is_none() && memory.milvus.is_some() && memory.postgres.is_some() {
            let cause = "required, because there are the sections milvus and postgres";
            problems.push(Problem::new("memory.store", cause));
        }
        let (whole, most) = (memory.embedding.whole_dimension(), PostgresConfig::MAX_DIMENSION);
        if memory.store_kind() == StoreKind::Postgres && whole > most {
            let cause = format!(
                "postgres stores vectors of at most {most} dimensions, but those of all embedding models have {whole}"
            );
            problems.push(Problem::new("memory.store", cause));
        }
        let milvus = memory.milvus.as_ref().and_then(|milvus| milvus.tls.as_ref());
        let postgres = memory.postgres.as_ref().and_then(|postgres| postgres.tls.as_ref());
        for (store, tls) in [("milvus", milvus), ("postgres", postgres)] {
            let Some(tls) = tls else { continue };
            let (missing, other) = match (&tls.certificate, &tls.key) {
                (Some(_), None) => ("key", "certificate"),
                (None, Some(_)) => ("certificate", "key"),
                _ => continue,
            };
            let cause = format!("required, because {other} is set");
            problems.push(Problem::new(format!("memory.{store}.tls.{missing}"), cause));
        }
    }

    fn check_memory(&self, problems: &mut Vec<Problem>) {
        let memory = &self.memory;
        for built_in in MemoryType::BUILT_IN {
            if !memory.knows_type(built_in) {
                problems.push(Problem::new("memory.types", format!("must include {built_in}")));
            }
        }
        let largest = memory.max_body_bytes.saturating_add(memory.max_reply_bytes);
        if memory.capture.max_in_flight_bytes < largest {
            problems.push(Problem::new(
                "memory.capture.max_in_flight_bytes",
                format!("must be at least memory.max_body_bytes + memory.max_reply_bytes, which is {largest}"),
            ));
        }
    }

    fn check_policies(&self, problems: &mut Vec<Problem>) {
        for (index, policy) in self.memory.policies.iter().enumerate() {
            let key = format!("memory.policies[{index}]");
            if policy.matches.is_empty() {
                problems.push(Problem::new(
                    format!("{key}.match"),
                    "must set path, model, header or word; settings for all requests belong under `memory:`",
                ));
            }
            for name in policy.memory_types.iter().flatten() {
                if !self.memory.knows_type(name) {
                    problems.push(Problem::new(
                        format!("{key}.memory_types"),
                        format!("\"{name}\" is not one of memory.types"),
                    ));
                }
            }
        }
    }

    fn check_models(&self, problems: &mut Vec<Problem>) {
        for (index, model) in self.external_models.iter().enumerate() {
            let role = model.model_role;
            if self.external_models[..index].iter().any(|other| other.model_role == role) {
                problems.push(Problem::new(
                    format!("external_models[{index}].model_role"),
                    format!("the role {} already has a model", role.as_str()),
                ));
            }
        }
    }
}
