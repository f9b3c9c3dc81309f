//! Checks of the embedding models that span several keys, and warnings about likely mistakes.

use crate::{
    parse::problem::Problem,
    sections::{
        embedding::{EmbeddingConfig, EmbeddingModel},
        memory::MemoryConfig,
    },
};

/// Shortest realistic deadline with an embedding model on a server, in milliseconds; it includes
/// the other work of a request.
const SERVER_MS: u64 = 150;

/// Settings that are wrong.
pub(super) fn problems(embedding: &EmbeddingConfig, problems: &mut Vec<Problem>) {
    let models = embedding.models();
    problems.extend(models.iter().flat_map(prefixes));
    for (index, EmbeddingModel { key, config, .. }) in models.iter().enumerate() {
        let mut wrong = |cause: &str| problems.push(Problem::new(format!("{key}.model"), cause));
        if config.remote().is_some_and(|(_, model)| model.is_empty()) {
            wrong("has no model name after the provider");
        }
        if models[..index].iter().any(|other| other.config.model == config.model) {
            wrong("is a duplicate; every model needs a unique name");
        }
    }
    let (whole, most) = (embedding.whole_dimension(), EmbeddingConfig::MOST_NUMBERS);
    if whole > most && !embedding.additional.is_empty() {
        let cause =
            format!("the dimensions of all models add up to {whole}; the maximum is {most}");
        problems.push(Problem::new("memory.embedding.additional", cause));
    }
}

/// Prefixes that a model which comes with memgate was not trained with. Without its own, all that was trained on its vectors
/// would be switched off.
fn prefixes(model: &EmbeddingModel) -> Vec<Problem> {
    let EmbeddingModel { key, config, .. } = model;
    let usual = EmbeddingConfig::default();
    if config.model != EmbeddingConfig::MODEL {
        return Vec::new();
    }
    [
        ("query_prefix", config.query_prefix(), usual.query_prefix()),
        ("passage_prefix", config.passage_prefix(), usual.passage_prefix()),
    ]
    .into_iter()
    .filter(|(_, given, expected)| given != expected)
    .map(|(name, _, expected)| {
        let cause = format!("must be {expected:?} for the model {}; leave it out", config.model);
        Problem::new(format!("{key}.{name}"), cause)
    })
    .collect()
}

/// Settings that are allowed but probably a mistake.
pub(super) fn warnings(memory: &MemoryConfig) -> Vec<Problem> {
    let models = memory.embedding.models();
    let mut warnings: Vec<_> = models.iter().flat_map(unused).collect();
    let all_remote = models.iter().all(|model| model.config.remote().is_some());
    if all_remote && memory.embedding.runtime_library.is_some() {
        let cause = "not used, because every model is on a server";
        warnings.push(Problem::new("memory.embedding.runtime_library", cause));
    }
    let any_remote = models.iter().any(|model| model.config.remote().is_some());
    if any_remote && memory.deadline_ms < SERVER_MS {
        let late = match models[..] {
            [_] => "when it is late, queries are searched by words alone",
            _ => "when it is late, queries are searched without this model",
        };
        let cause = format!(
            "{} ms is probably too short for an embedding model on a server; {late}",
            memory.deadline_ms
        );
        warnings.push(Problem::new("memory.deadline_ms", cause));
    }
    warnings
}

/// Keys that have no effect for this kind of model (local folder or server).
fn unused(model: &EmbeddingModel) -> Vec<Problem> {
    let EmbeddingModel { key, config, .. } = model;
    let usual = EmbeddingConfig::default();
    let remote = config.remote().is_some();
    [
        ("folder", true, config.folder != usual.folder),
        ("precision", true, config.precision != usual.precision),
        ("pooling", true, config.pooling != usual.pooling),
        ("threads", true, config.threads != usual.threads),
        ("endpoint", false, config.endpoint != usual.endpoint),
        ("timeout_seconds", false, config.timeout_seconds != usual.timeout_seconds),
    ]
    .into_iter()
    .filter(|&(_, of_folder, set)| set && of_folder == remote)
    .map(|(name, of_folder, _)| {
        let place = if of_folder { "on a server" } else { "local" };
        Problem::new(format!("{key}.{name}"), format!("not used, because the model is {place}"))
    })
    .collect()
}
