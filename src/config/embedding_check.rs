//! What must hold of the embedding models beside the bounds of single keys, and what is probably
//! not meant.

use super::{EmbeddingConfig, EmbeddingModel, MemoryConfig, Problem};

/// What a question to a server takes at least, milliseconds, with what else the deadline is for.
const SERVER_MS: u64 = 150;

/// What is wrong.
pub(super) fn problems(embedding: &EmbeddingConfig, problems: &mut Vec<Problem>) {
    let models = embedding.models();
    for (index, EmbeddingModel { key, config, .. }) in models.iter().enumerate() {
        let mut wrong = |cause: &str| problems.push(Problem::new(format!("{key}.model"), cause));
        if config.remote().is_some_and(|(_, model)| model.is_empty()) {
            wrong("names no model: its name stands behind the provider's");
        }
        if models[..index].iter().any(|other| other.config.model == config.model) {
            wrong("is there already: each model has a name of its own");
        }
    }
    let (whole, most) = (embedding.whole_dimension(), EmbeddingConfig::MOST_NUMBERS);
    if whole > most && !embedding.beside.is_empty() {
        let cause = format!("all models together give {whole} numbers, at most {most} may be");
        problems.push(Problem::new("memory.embedding.beside", cause));
    }
}

/// What is allowed but probably not meant.
pub(super) fn warnings(memory: &MemoryConfig) -> Vec<Problem> {
    let models = memory.embedding.models();
    let mut warnings: Vec<_> = models.iter().flat_map(unused).collect();
    let all_remote = models.iter().all(|model| model.config.remote().is_some());
    if all_remote && memory.embedding.runtime_library.is_some() {
        let cause = "not used, because no model is in a folder";
        warnings.push(Problem::new("memory.embedding.runtime_library", cause));
    }
    let any_remote = models.iter().any(|model| model.config.remote().is_some());
    if any_remote && memory.deadline_ms < SERVER_MS {
        let late = match models[..] {
            [_] => "questions it is late for are searched by their words",
            _ => "questions it is late for are searched without it",
        };
        let cause = format!(
            "{} ms are hardly enough for an embedding model on a server; {late}",
            memory.deadline_ms
        );
        warnings.push(Problem::new("memory.deadline_ms", cause));
    }
    warnings
}

/// Keys of a model that belong to the other kind: in a folder, or on a server.
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
        let place = if of_folder { "on a server" } else { "in a folder" };
        Problem::new(format!("{key}.{name}"), format!("not used, because the model is {place}"))
    })
    .collect()
}
