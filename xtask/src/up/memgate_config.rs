//! Changes only the store in a memgate configuration.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::store::Store;

/// Reads the configuration at `base` and sets this store; Milvus is at this port on loopback.
///
/// # Errors
/// When the file cannot be read, or a section is not a mapping.
pub(super) fn render(base: &Path, store: Store, milvus_port: u16) -> Result<Value> {
    let text =
        std::fs::read_to_string(base).with_context(|| format!("cannot read {}", base.display()))?;
    put_in(&text, store, milvus_port).with_context(|| format!("in {}", base.display()))
}

/// Whether the file sets the identity mode.
///
/// # Errors
/// When the file is not readable YAML.
pub(super) fn names_identity_mode(file: &Path) -> Result<bool> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let config: Value = serde_saphyr::from_str(&text)
        .with_context(|| format!("{} is not valid YAML", file.display()))?;
    Ok(config.pointer("/memory/identity/mode").is_some_and(|mode| !mode.is_null()))
}

fn put_in(text: &str, store: Store, milvus_port: u16) -> Result<Value> {
    let mut config: Value = serde_saphyr::from_str(text).context("not valid YAML")?;
    let memory = mapping(&mut config)?.entry("memory").or_insert(Value::Null);
    let memory = mapping(memory).context("memory")?;
    match store {
        Store::Sqlite => {
            memory.insert("store".into(), "sqlite".into());
        }
        Store::Milvus => {
            memory.insert("store".into(), "milvus".into());
            let milvus = memory.entry("milvus").or_insert(Value::Null);
            let milvus = mapping(milvus).context("memory.milvus")?;
            milvus.insert("address".into(), format!("127.0.0.1:{milvus_port}").into());
        }
    }
    Ok(config)
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

    #[test]
    fn sets_milvus_and_keeps_everything_else() {
        let text =
            "listen: {grpc: \"${GRPC}\"}\nmemory:\n  store: sqlite\n  milvus: {collection: mine}\n";
        let config = put_in(text, Store::Milvus, 7).unwrap();
        let memory = json!({
            "store": "milvus",
            "milvus": {"collection": "mine", "address": "127.0.0.1:7"},
        });
        assert_eq!(config, json!({"listen": {"grpc": "${GRPC}"}, "memory": memory}));
    }

    #[test]
    fn creates_missing_sections() {
        for text in ["{}", "memory:\n", "memory: {milvus: null}\n"] {
            let config = put_in(text, Store::Milvus, 7).unwrap();
            let memory = json!({"store": "milvus", "milvus": {"address": "127.0.0.1:7"}});
            assert_eq!(config, json!({"memory": memory}), "{text}");
        }
    }

    #[test]
    fn an_error_names_a_section_that_is_not_a_mapping() {
        let error = put_in("memory: {milvus: 3}", Store::Milvus, 7).unwrap_err();
        assert_eq!(format!("{error:#}"), "memory.milvus: a mapping is required here");
    }
}
