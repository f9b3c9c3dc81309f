//! The parts of an Envoy configuration, by name.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Where Envoy's clusters for memgate are, in both files.
pub(super) const MEMGATE_CLUSTERS: [&str; 2] = ["memgate_capture", "memgate_recall"];

/// Envoy's cluster for memgate's REST API, where users are verified.
pub(super) const API_CLUSTER: &str = "memgate_api";

/// The listener's HTTP side: its routes and filters.
pub(super) fn http_manager(config: &mut Value) -> Result<&mut Value> {
    part(config, "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config")
}

pub(super) fn cluster<'a>(config: &'a mut Value, name: &str) -> Result<&'a mut Value> {
    let clusters = part(config, "/static_resources/clusters")?;
    let found =
        clusters.as_array_mut().into_iter().flatten().find(|cluster| cluster["name"] == name);
    match found {
        Some(cluster) => Ok(cluster),
        None => bail!("no cluster {name}"),
    }
}

pub(super) fn part<'a>(value: &'a mut Value, pointer: &str) -> Result<&'a mut Value> {
    value.pointer_mut(pointer).with_context(|| format!("{pointer} is missing"))
}
