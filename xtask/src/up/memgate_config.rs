//! Changes only the store and the helper model in a memgate configuration.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::store::Store;
use crate::envoy_config::Upstream;

/// Environment variable with the helper model's key.
const KEY_ENV: &str = "MODEL_API_KEY";
/// Role of the helper model.
const ROLE: &str = "memory_extraction";

/// Changes to the configuration.
#[derive(Default)]
pub(super) struct Changes {
    /// The store, and the port of its server on loopback.
    pub store: Option<(Store, u16)>,
    /// The helper model: its server and its name there.
    pub helper: Option<(Upstream, String)>,
}

impl Changes {
    pub(super) fn are_none(&self) -> bool {
        self.store.is_none() && self.helper.is_none()
    }

    /// The configuration at `base` with these changes.
    ///
    /// # Errors
    /// When the file cannot be read, a section is not what it should be, or a helper model is configured already.
    pub(super) fn render(self, base: &Path) -> Result<Value> {
        let text = std::fs::read_to_string(base)
            .with_context(|| format!("cannot read {}", base.display()))?;
        let has_key = std::env::var_os(KEY_ENV).is_some();
        self.put_in(&text, has_key).with_context(|| format!("in {}", base.display()))
    }

    fn put_in(self, text: &str, has_key: bool) -> Result<Value> {
        let mut config: Value = serde_saphyr::from_str(text).context("not valid YAML")?;
        if let Some((store, port)) = self.store {
            put_store(&mut config, store, port)?;
        }
        if let Some((server, name)) = self.helper {
            put_helper(&mut config, &server, &name, has_key)?;
        }
        Ok(config)
    }
}

fn put_store(config: &mut Value, store: Store, port: u16) -> Result<()> {
    let memory = mapping(config)?.entry("memory").or_insert(Value::Null);
    let memory = mapping(memory).context("memory")?;
    match store {
        Store::Sqlite => {
            memory.insert("store".into(), "sqlite".into());
        }
        Store::Milvus => {
            memory.insert("store".into(), "milvus".into());
            let milvus = memory.entry("milvus").or_insert(Value::Null);
            let milvus = mapping(milvus).context("memory.milvus")?;
            milvus.insert("address".into(), format!("127.0.0.1:{port}").into());
        }
        Store::Postgres => {
            memory.insert("store".into(), "postgres".into());
            let postgres = memory.entry("postgres").or_insert(Value::Null);
            let postgres = mapping(postgres).context("memory.postgres")?;
            // Those of the server that is started: it asks for no password.
            postgres.insert("host".into(), "127.0.0.1".into());
            postgres.insert("port".into(), port.into());
            postgres.insert("user".into(), "memgate".into());
            postgres.insert("database".into(), "memgate".into());
            for key in ["password_env", "tls"] {
                postgres.remove(key);
            }
        }
    }
    Ok(())
}

fn put_helper(config: &mut Value, server: &Upstream, name: &str, has_key: bool) -> Result<()> {
    let mut endpoint = server.llm_endpoint();
    if has_key {
        endpoint["api_key_env"] = KEY_ENV.into();
    }
    let model = json!({
        "llm_provider": if server.is_openai() { "openai" } else { "vllm" },
        "model_role": ROLE,
        "llm_endpoint": endpoint,
        "llm_model_name": name,
    });
    let models = mapping(config)?.entry("external_models").or_insert(Value::Null);
    if models.is_null() {
        *models = json!([]);
    }
    let Value::Array(models) = models else { bail!("external_models: a list is required here") };
    if models.iter().any(|model| model["model_role"] == ROLE) {
        bail!("external_models has a {ROLE} model already, so --helper-model must be left out");
    }
    models.push(model);
    Ok(())
}

/// An empty value becomes an empty mapping.
fn mapping(value: &mut Value) -> Result<&mut Map<String, Value>> {
    if value.is_null() {
        *value = json!({});
    }
    match value {
        Value::Object(mapping) => Ok(mapping),
        _ => bail!("a mapping is required here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_milvus(text: &str) -> Result<Value> {
        Changes { store: Some((Store::Milvus, 7)), helper: None }.put_in(text, false)
    }

    fn with_helper(text: &str, url: &str, has_key: bool) -> Result<Value> {
        let helper = Some((Upstream::parse(url)?, "qwen3".to_owned()));
        Changes { store: None, helper }.put_in(text, has_key)
    }

    #[test]
    fn the_model_server_becomes_the_helper_beside_other_models() {
        let text = "external_models:\n- {model_role: memory_rewrite}\n";
        let config = with_helper(text, "http://10.0.0.7:8000/team/v1", true).unwrap();
        let expected = json!({
            "llm_provider": "vllm",
            "model_role": "memory_extraction",
            "llm_endpoint": {
                "address": "10.0.0.7",
                "port": 8000,
                "scheme": "http",
                "path": "/team/v1/chat/completions",
                "api_key_env": "MODEL_API_KEY",
            },
            "llm_model_name": "qwen3",
        });
        assert_eq!(config["external_models"], json!([{"model_role": "memory_rewrite"}, expected]));
        let config = with_helper("external_models:\n", "http://localhost:1", false).unwrap();
        let endpoint = &config["external_models"][0]["llm_endpoint"];
        assert_eq!(endpoint["path"], "/v1/chat/completions");
        assert!(endpoint.get("api_key_env").is_none());
    }

    #[test]
    fn a_second_helper_model_is_refused() {
        let text = "external_models: [{model_role: memory_extraction}]";
        let error = with_helper(text, "http://localhost:1", false).unwrap_err().to_string();
        assert!(error.contains("--helper-model"), "{error}");
    }

    #[test]
    fn sets_milvus_and_keeps_everything_else() {
        let text =
            "listen: {grpc: \"${GRPC}\"}\nmemory:\n  store: sqlite\n  milvus: {collection: mine}\n";
        let config = with_milvus(text).unwrap();
        let memory = json!({
            "store": "milvus",
            "milvus": {"collection": "mine", "address": "127.0.0.1:7"},
        });
        assert_eq!(config, json!({"listen": {"grpc": "${GRPC}"}, "memory": memory}));
    }

    #[test]
    fn sets_postgres_and_keeps_the_other_settings_of_its_section() {
        let text = "memory:\n  postgres: {host: db, password_env: P, tls: {}, schema: mine, connections: 3}\n";
        let changes = Changes { store: Some((Store::Postgres, 7)), helper: None };
        let postgres = json!({
            "host": "127.0.0.1",
            "port": 7,
            "user": "memgate",
            "database": "memgate",
            "schema": "mine",
            "connections": 3,
        });
        let memory = json!({"store": "postgres", "postgres": postgres});
        assert_eq!(changes.put_in(text, false).unwrap(), json!({"memory": memory}));
    }

    #[test]
    fn creates_missing_sections() {
        for text in ["{}", "memory:\n", "memory: {milvus: null}\n"] {
            let config = with_milvus(text).unwrap();
            let memory = json!({"store": "milvus", "milvus": {"address": "127.0.0.1:7"}});
            assert_eq!(config, json!({"memory": memory}), "{text}");
        }
    }

    #[test]
    fn an_error_names_a_section_that_is_not_a_mapping() {
        let error = with_milvus("memory: {milvus: 3}").unwrap_err();
        assert_eq!(format!("{error:#}"), "memory.milvus: a mapping is required here");
    }
}
