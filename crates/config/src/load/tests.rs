use std::{fs, path::PathBuf};

use crate::{load::*, sections::memory::StoreKind};

fn read(text: &str) -> Result<Config, String> {
    let env = |name: &str| match name {
        "QWEN_HOST" => Some("qwen.example".to_owned()),
        "QWEN_PORT" => Some("8123".to_owned()),
        "EMPTY" => Some(String::new()),
        "SHORT" => Some("k".repeat(31)),
        "LONG" => Some("k".repeat(32)),
        "NAN" => Some("NaN".to_owned()),
        _ => None,
    };
    Config::from_text(Some(text), &Variables::of([]), &|_| {}, &env).map_err(|problems| {
        ConfigError::Invalid { path: Some("c.yaml".into()), problems }.to_string()
    })
}

fn refused(text: &str, message: &str) {
    assert_eq!(read(text).unwrap_err(), message, "for\n{text}");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn an_empty_map_gives_every_default() {
    assert_eq!(read("{}"), Ok(Config::default()));
    assert_eq!(read("memory:\n  policies:\n"), Ok(Config::default()));
}

#[test]
fn refuses_all_unknown_keys_with_line_and_suggestion() {
    refused(
        "memory:\n  retreival_limit: 3\n",
        "c.yaml:2: memory.retreival_limit: unknown key; did you mean \"default_retrieval_limit\"?",
    );
    refused(
        "memory:\n  enabled: true\nmemroy: {}\ndeadline_ms: 4\nbanana: 1\n",
        "c.yaml:3: memroy: unknown key; did you mean \"memory\"?\n\
         c.yaml:4: deadline_ms: unknown key; did you mean \"memory.deadline_ms\"?\n\
         c.yaml:5: banana: unknown key; valid keys here: preset, listen, data_dir, assets_dir, memory, api, audit, telemetry, external_models",
    );
    refused(
        "memory:\n  ranking:\n    types:\n      fact: 1\n",
        "c.yaml:4: memory.ranking.types.fact: unknown key; valid keys here: episodic, semantic, procedural, reflective, other",
    );
    refused(
        "memory:\n  policies:\n    - match: {model: x}\n      retrieval_limits: 3\n",
        "c.yaml:4: memory.policies[0].retrieval_limits: unknown key; did you mean \"retrieval_limit\"?",
    );
}

#[test]
fn refuses_wrong_types_and_names_with_line_key_and_cause() {
    refused(
        "memory:\n  deadline_ms: soon\n",
        "c.yaml:2: memory.deadline_ms: expected a whole number, 0 or more, found a string",
    );
    refused(
        "memory:\n  enabled: yes\n",
        "c.yaml:2: memory.enabled: expected true or false, found a string",
    );
    refused("\nmemory: 5\n", "c.yaml:2: memory: expected keys with values, found a whole number");
    refused(
        "memory:\n  store: sqlit\n",
        "c.yaml:2: memory.store: must be one of sqlite, milvus, postgres; did you mean \"sqlite\"?",
    );
    refused(
        "listen:\n  http: localhost:80\n",
        "c.yaml:2: listen.http: must be an IP address and a port, for example 127.0.0.1:8080",
    );
    refused(
        "external_models:\n  - llm_provider: vllm\n    model_role: memory_extraction\n    llm_endpoint: {address: a, port: 70000}\n    llm_model_name: q\n",
        "c.yaml:4: external_models[0].llm_endpoint.port: out of range for a whole number up to 65535",
    );
    refused(
        "external_models:\n  - llm_provider: vllm\n    model_role: memory_extraction\n    llm_model_name: q\n",
        "c.yaml:2: external_models[0]: \"llm_endpoint\" is missing",
    );
}

#[test]
fn refuses_a_list_in_place_of_a_section() {
    for (text, message) in [
        ("memory: [false]\n", "1: memory"),
        ("memory:\n  query: [false]\n", "2: memory.query"),
        ("memory:\n  ranking: [rrf]\n", "2: memory.ranking"),
        ("memory:\n  ranking:\n    weights: [1, 2]\n", "3: memory.ranking.weights"),
        ("memory:\n  milvus:\n    - localhost:19530\n", "3: memory.milvus"),
        ("external_models:\n  - [vllm]\n", "2: external_models[0]"),
        ("memory:\n  policies:\n    - match: [x]\n", "3: memory.policies[0].match"),
    ] {
        refused(text, &format!("c.yaml:{message}: expected keys with values, found a list"));
    }
    refused("[]\n", "c.yaml:1: expected keys with values, found a list");
}

#[test]
fn refuses_invalid_and_too_large_numbers_with_their_key() {
    for written in [".nan", "-.inf", "1e300", "1e400", "\"${NAN}\""] {
        refused(
            &format!("memory:\n  default_similarity_threshold: {written}\n"),
            "c.yaml:2: memory.default_similarity_threshold: must be a finite number",
        );
        let ranking = format!("memory:\n  ranking:\n    weights: {{date: {written}}}\n");
        let message = read(&ranking).unwrap_err();
        assert_eq!(message, "c.yaml:3: memory.ranking.weights.date: must be a finite number");
    }
    refused(
        "memory:\n  default_retrieval_limit: 18446744073709551615\n",
        "c.yaml:2: memory.default_retrieval_limit: expected a whole number, 0 or more, found a number that is too large",
    );
}

#[test]
fn refuses_all_values_out_of_bounds() {
    refused(
        "memory:\n  default_retrieval_limit: 51\n  default_similarity_threshold: 1.1\n  types: []\n",
        "c.yaml:2: memory.default_retrieval_limit: must be between 1 and 50\n\
         c.yaml:3: memory.default_similarity_threshold: must be between 0 and 1\n\
         c.yaml:4: memory.types: must not be empty\n\
         c.yaml:4: memory.types: must include semantic\n\
         c.yaml:4: memory.types: must include procedural\n\
         c.yaml:4: memory.types: must include episodic\n\
         c.yaml:4: memory.types: must include reflective",
    );
    refused(
        "memory:\n  identity:\n    header: X Y\n",
        "c.yaml:3: memory.identity.header: must match ^[a-z0-9!#$%&'*+.^_`|~-]+$",
    );
    refused(
        "memory:\n  extraction:\n    modes: [turns, turns]\n",
        "c.yaml:3: memory.extraction.modes: must not contain duplicates",
    );
}

#[test]
fn checks_constraints_across_keys() {
    refused(
        "memory:\n  policies:\n    - match: {}\n      enabled: false\n",
        "c.yaml:3: memory.policies[0].match: must set path, model, header or word; settings for all requests belong under `memory:`",
    );
    refused(
        "memory:\n  policies:\n    - match: {word: salary}\n      memory_types: [semantik]\n",
        "c.yaml:4: memory.policies[0].memory_types: \"semantik\" is not one of memory.types",
    );
    refused(
        "listen:\n  http: 0.0.0.0:8080\n",
        "c.yaml:1: api.key_env: required, because listen.http is not a loopback address; set it to the name of the environment variable that holds the API key",
    );
    for (lines, cause) in [
        (
            "  grpc: 0.0.0.0:50051",
            "listen.grpc: must be a loopback address or unix:/path, or have listen.grpc_tls (certificate, key, client_ca): every client of this address can read any user's memory",
        ),
        (
            "  grpc: unix:grpc.sock",
            "listen.grpc: must be unix: and an absolute path, for example unix:/run/memgate/grpc.sock",
        ),
        (
            "  grpc: localhost",
            "listen.grpc: must be an IP address and a port, for example 127.0.0.1:50051, or unix:/path",
        ),
        ("  metrics: 127.0.0.1:8080", "listen.metrics: must differ from listen.http"),
    ] {
        refused(&format!("listen:\n{lines}\n"), &format!("c.yaml:2: {cause}"));
    }
    let tls = "grpc_tls: {certificate: a, key: b, client_ca: c}";
    read(&format!("listen: {{grpc: \"0.0.0.0:50051\", {tls}}}")).unwrap();
    read("listen: {grpc: \"unix:/run/grpc.sock\"}").unwrap();
    refused(
        &format!("listen: {{grpc: \"unix:/run/grpc.sock\", {tls}}}"),
        "c.yaml:1: listen.grpc_tls: not for a unix socket",
    );
    refused(
        &format!(
            "memory: {{identity: {{mode: development}}}}\nlisten:\n  grpc: 0.0.0.0:50051\n  {tls}\n"
        ),
        "c.yaml:3: listen.grpc: must be a loopback address, because memory.identity.mode is development, where any client can claim to be any user",
    );
    refused(
        "api:\n  key_env: EMPTY\n",
        "c.yaml:2: api.key_env: the environment variable EMPTY is not set",
    );
    refused(
        "api:\n  key_env: SHORT\n",
        "c.yaml:2: api.key_env: the key in SHORT is too short: at least 32 characters are required; generate one with `openssl rand -hex 32`",
    );
    read("api: {key_env: LONG}").unwrap();
    refused(
        "memory:\n  max_body_bytes: 1073741824\n",
        "c.yaml:1: memory.capture.max_in_flight_bytes: must be at least memory.max_body_bytes + memory.max_reply_bytes, which is 1077936128",
    );
}

#[test]
fn environment_variables_fill_strings_and_numbers() {
    let config = read(
        "external_models:\n  - llm_provider: openai\n    model_role: memory_extraction\n    \
         llm_endpoint: {address: \"${QWEN_HOST}\", port: \"${QWEN_PORT}\"}\n    llm_model_name: q\n",
    )
    .unwrap();
    assert_eq!(config.external_models[0].url(), "http://qwen.example:8123/v1/chat/completions");
    refused(
        "data_dir: ./d\nmemory:\n  embedding:\n    model: ${NO_SUCH}\n",
        "c.yaml:4: memory.embedding.model: the environment variable NO_SUCH is not set",
    );
    refused(
        "memory:\n  deadline_ms: \"50\"\n",
        "c.yaml:2: memory.deadline_ms: expected a whole number, 0 or more, found a string",
    );
}

#[test]
fn a_milvus_section_selects_milvus_unless_store_is_set() {
    let text = "
memory:
  enabled: true
  auto_store: true
  milvus:
    address: \"milvus:19530\"
    collection: \"agentic_memory\"
    dimension: 384
  embedding:
    model: \"all-MiniLM-L6-v2\"
    dimension: 384
  default_retrieval_limit: 5
  default_similarity_threshold: 0.6
  extraction_batch_size: 10
external_models:
  - llm_provider: \"vllm\"
    model_role: \"memory_rewrite\"
    llm_endpoint:
      address: \"qwen\"
      port: 8000
    llm_model_name: \"qwen3\"
    llm_timeout_seconds: 30
    max_tokens: 100
    temperature: 0.1
  - llm_provider: \"vllm\"
    model_role: \"memory_extraction\"
    llm_endpoint:
      address: \"qwen\"
      port: 8000
    llm_model_name: \"qwen3\"
    llm_timeout_seconds: 30
    max_tokens: 500
    temperature: 0.1
";
    let config = read(text).unwrap();
    assert_eq!(config.memory.store_kind(), StoreKind::Milvus);
    assert_eq!(config.memory.milvus.as_ref().unwrap().collection, "agentic_memory");
    let config = read(&text.replacen("memory:", "memory:\n  store: sqlite", 1)).unwrap();
    let warnings: Vec<_> = config.warnings().iter().map(|warning| warning.key.clone()).collect();
    assert_eq!(warnings, ["memory.milvus"]);
    let config = read("memory: {store: milvus}\n").unwrap();
    assert_eq!(config.memory.store_kind(), StoreKind::Milvus);
    for (text, expected) in [
        (
            "memory: {milvus: {dimension: 3}}\n",
            "c.yaml:1: memory.milvus.dimension: must equal memory.embedding.dimension, 384",
        ),
        (
            "memory: {milvus: {tls: {certificate: a.pem}}}\n",
            "c.yaml:1: memory.milvus.tls.key: required, because certificate is set",
        ),
        (
            "memory: {milvus: {token_env: NO_SUCH_VARIABLE}}\n",
            "c.yaml:1: memory.milvus.token_env: the environment variable NO_SUCH_VARIABLE is not set",
        ),
    ] {
        refused(text, expected);
    }
}

#[test]
fn a_postgres_section_selects_postgres_unless_store_is_set() {
    let config = read("memory: {postgres: {host: db}}\n").unwrap();
    assert_eq!(config.memory.store_kind(), StoreKind::Postgres);
    assert_eq!(config.memory.postgres.as_ref().unwrap().port, 5432);
    let config = read("memory: {store: milvus, milvus: {}, postgres: {}}\n").unwrap();
    let warnings: Vec<_> = config.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["memory.postgres: not used, because memory.store is milvus"]);
    let config = read("memory: {store: postgres}\n").unwrap();
    assert_eq!(config.memory.store_kind(), StoreKind::Postgres);
    for (text, expected) in [
        (
            "memory: {milvus: {}, postgres: {}}\n",
            "c.yaml:1: memory.store: required, because there are the sections milvus and postgres",
        ),
        (
            "memory: {postgres: {tls: {key: a.pem}}}\n",
            "c.yaml:1: memory.postgres.tls.certificate: required, because key is set",
        ),
        (
            "memory: {postgres: {password_env: NO_SUCH_VARIABLE}}\n",
            "c.yaml:1: memory.postgres.password_env: the environment variable NO_SUCH_VARIABLE is not set",
        ),
        (
            "memory: {postgres: {port: 0}}\n",
            "c.yaml:1: memory.postgres.port: must be between 1 and 65535",
        ),
        (
            "memory: {store: postgres, embedding: {additional: [{model: m, dimension: 16000}]}}\n",
            "c.yaml:1: memory.store: postgres stores vectors of at most 16000 dimensions, but those of all embedding models have 16384",
        ),
    ] {
        refused(text, expected);
    }
}

#[test]
fn an_embedding_model_on_a_server_needs_its_name_and_its_key() {
    refused(
        "memory:\n  embedding:\n    model: openai/\n    endpoint: {address: a, port: 1}\n",
        "c.yaml:3: memory.embedding.model: has no model name after the provider",
    );
    refused(
        "memory:\n  embedding: {model: voyage/voyage-3.5, dimension: 1024}\n",
        "c.yaml:2: memory.embedding.endpoint.api_key_env: the environment variable VOYAGE_API_KEY is not set",
    );
    let own = "{address: a, port: 1, api_key_env: NO_SUCH}";
    refused(
        &format!("memory:\n  embedding: {{model: openai/m, endpoint: {own}}}\n"),
        "c.yaml:2: memory.embedding.endpoint.api_key_env: the environment variable NO_SUCH is not set",
    );
    // The provider's key is only for the provider's own server.
    let config = read("memory: {embedding: {model: openai/m, endpoint: {address: a, port: 1}}}");
    let embedding = config.unwrap().memory.embedding;
    let (provider, model) = embedding.remote().unwrap();
    let endpoint = embedding.endpoint_of(provider);
    assert_eq!((model, endpoint.api_key_env.as_deref()), ("m", None));
    assert_eq!(endpoint.url("/v1/embeddings"), "http://a:1/v1/embeddings");
}

#[test]
fn additional_embedding_models_are_checked_like_the_first() {
    let additional = |members: &str| format!("memory:\n  embedding:\n    additional:\n{members}");
    let place = "endpoint: {address: a, port: 1}";
    for (members, message) in [
        (
            format!("      - {{model: openai/m, {place}, weight: 0}}\n"),
            "c.yaml:4: memory.embedding.additional[0].weight: must be between 0.01 and 100",
        ),
        (
            format!(
                "      - {{model: openai/m, {place}}}\n      - {{model: openai/n, dimension: 0, {place}}}\n"
            ),
            "c.yaml:5: memory.embedding.additional[1].dimension: must be between 1 and 32768",
        ),
        (
            "      - {dimension: 8}\n".to_owned(),
            "c.yaml:4: memory.embedding.additional[0].model: must not be empty",
        ),
        (
            "      - {modle: m}\n".to_owned(),
            "c.yaml:4: memory.embedding.additional[0].modle: unknown key; did you mean \"model\"?",
        ),
        (
            "      - {model: m, additional: []}\n".to_owned(),
            "c.yaml:4: memory.embedding.additional[0].additional: unknown key; did you mean \"memory.embedding.additional\"?",
        ),
        (
            format!("      - {{model: openai/, {place}}}\n"),
            "c.yaml:4: memory.embedding.additional[0].model: has no model name after the provider",
        ),
        (
            "      - {model: voyage/m}\n".to_owned(),
            "c.yaml:4: memory.embedding.additional[0].endpoint.api_key_env: the environment variable VOYAGE_API_KEY is not set",
        ),
        (
            "      - {model: multilingual-e5-small-memgate-1}\n".to_owned(),
            "c.yaml:4: memory.embedding.additional[0].model: is a duplicate; every model needs a unique name",
        ),
        (
            "      - {model: m, dimension: 32385}\n".to_owned(),
            "c.yaml:3: memory.embedding.additional: the dimensions of all models add up to 32769; the maximum is 32768",
        ),
        (
            ["a", "b", "c", "d"].map(|name| format!("      - {{model: {name}}}\n")).concat(),
            "c.yaml:3: memory.embedding.additional: must have at most 3 items",
        ),
    ] {
        refused(&additional(&members), message);
    }
    let config =
        read(&additional("      - {model: m, dimension: 32384}\n      - {model: n, dimension: 0}"));
    assert!(config.is_err());
    assert!(read(&additional("      - {model: m, dimension: 32384}\n")).is_ok());
}

#[test]
fn a_model_that_comes_with_memgate_keeps_its_prefixes() {
    let text = |keys: &str| format!("memory:\n  embedding: {{{keys}}}\n");
    refused(
        &text("query_prefix: \"\""),
        "c.yaml:2: memory.embedding.query_prefix: must be \"query: \" for the model multilingual-e5-small-memgate-1; leave it out",
    );
    for keys in ["query_prefix: \"query: \"", "model: m, query_prefix: \"q: \""] {
        assert!(read(&text(keys)).is_ok(), "{keys}");
    }
    let minilm = read(&text("model: all-MiniLM-L6-v2")).unwrap().memory.embedding;
    assert_eq!((minilm.query_prefix(), minilm.passage_prefix()), ("", ""));
}

#[test]
fn the_dimension_of_several_models_is_their_sum() {
    let text = |milvus| {
        format!(
            "memory: {{milvus: {{dimension: {milvus}}}, embedding: {{additional: [{{model: m, dimension: 100}}]}}}}\n"
        )
    };
    refused(
        &text(384),
        "c.yaml:1: memory.milvus.dimension: must equal the sum of the dimensions of all embedding models, 484",
    );
    assert!(read(&text(484)).is_ok());
}

#[test]
fn an_additional_model_has_its_own_settings() {
    let member = "model: openai/m, dimension: 8, weight: 0.5, timeout_seconds: 3, query_prefix: q, endpoint: {address: a, port: 1}";
    let config = read(&format!(
        "memory: {{embedding: {{runtime_library: x.so, cache_entries: 7, additional: [{{{member}}}]}}}}"
    ));
    let models = config.unwrap().memory.embedding.models();
    let [first, second] = &models[..] else { unreachable!() };
    assert_eq!((first.key.as_str(), first.weight), ("memory.embedding", 1.0));
    assert_eq!((second.key.as_str(), second.weight), ("memory.embedding.additional[0]", 0.5));
    let of = &second.config;
    assert_eq!((of.model.as_str(), of.dimension, of.timeout_seconds), ("openai/m", 8, 3));
    assert_eq!((of.query_prefix(), of.cache_entries), ("q", 7));
    assert_eq!(of.runtime_library, first.config.runtime_library);
}

#[test]
fn warns_about_keys_that_an_embedding_model_does_not_use() {
    let warned = |text: &str| -> Vec<String> {
        read(text).unwrap().warnings().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        warned("memory: {embedding: {endpoint: {address: a, port: 1}, pooling: cls}}"),
        ["memory.embedding.endpoint: not used, because the model is local"]
    );
    let remote = "model: openai/m, endpoint: {address: a, port: 1}, timeout_seconds: 60";
    assert_eq!(
        warned(&format!("memory: {{deadline_ms: 500, embedding: {{{remote}, pooling: cls}}}}")),
        ["memory.embedding.pooling: not used, because the model is on a server"]
    );
    let late = warned(&format!("memory: {{embedding: {{{remote}}}}}"));
    assert!(late[0].starts_with("memory.deadline_ms: 50 ms is probably too short"), "{late:?}");
    let of_second = |first: &str| {
        let second = format!("{remote}, threads: 2");
        warned(&format!(
            "memory: {{deadline_ms: 500, embedding: {{{first}runtime_library: x, additional: [{{{second}}}]}}}}"
        ))
    };
    let unused =
        "memory.embedding.additional[0].threads: not used, because the model is on a server";
    assert_eq!(of_second(""), [unused]);
    assert_eq!(
        of_second("model: openai/n, endpoint: {address: a, port: 1}, "),
        [unused, "memory.embedding.runtime_library: not used, because every model is on a server"]
    );
}

#[test]
fn overrides_are_applied_before_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.yaml");
    fs::write(&file, "memory: {milvus: {dimension: 3}}\n").unwrap();
    let without = |config: &mut Config| config.memory.milvus = None;
    assert!(Config::load_with(Some(&file), &without).is_ok());
    assert!(Config::load(&file).is_err());
}

#[test]
fn missing_empty_and_invalid_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.yaml");
    let message = |file| Config::load(file).unwrap_err().to_string();
    assert_eq!(message(&file), format!("{}: no such file", file.display()));
    fs::write(&file, "# all in comments\n").unwrap();
    assert!(message(&file).ends_with("the file is empty; write `{}` to use every default"));
    fs::write(&file, "memory:\n  enabled: [true\n").unwrap();
    assert!(message(&file).contains(": not valid YAML: "), "{}", message(&file));
    fs::write(&file, "a: 1\na: 2\n").unwrap();
    assert!(message(&file).starts_with(&format!("{}:2: not valid YAML", file.display())));
}

#[test]
fn every_example_is_a_valid_configuration() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("config")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "yaml") {
            // Examples may refer to secrets; any value will do here.
            let text = fs::read_to_string(&path).unwrap();
            let read = Config::from_text(Some(&text), &Variables::of([]), &|_| {}, &|_| {
                Some("example".into())
            });
            assert!(read.is_ok(), "{}: {:?}", path.display(), read.unwrap_err());
            seen += 1;
        }
    }
    assert!(seen > 0);
}

#[test]
fn one_mistake_hides_no_other() {
    let text = "memory:\n  deadline_ms: soon\n  default_similarity_threshold: 5\n  retreival_limit: 3\n\
                \u{20} types: [semantic, 5]\n  max_body_bytes: many\n";
    let found = read(text).unwrap_err();
    let lines: Vec<&str> = found.lines().map(|line| line.rsplit_once(": ").unwrap().0).collect();
    assert_eq!(lines.len(), 5, "{found}");
    for (line, key) in [
        (2, "deadline_ms"),
        (3, "default_similarity_threshold"),
        (4, "retreival_limit"),
        (5, "types[1]"),
        (6, "max_body_bytes"),
    ] {
        assert!(found.contains(&format!("c.yaml:{line}: memory.{key}: ")), "{key} in {found}");
    }
}
