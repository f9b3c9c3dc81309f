//! The rules of our own fields.

use crate::{Dialect, MemoryOptions, ReadError, read};

fn options(fields: &str) -> Result<MemoryOptions, String> {
    let body = format!(r#"{{"messages":[],{fields}}}"#);
    match read(Dialect::Chat, body.as_bytes()) {
        Ok(request) => Ok(request.ask().options.clone()),
        Err(ReadError::Invalid(field)) => {
            assert_eq!(field.code, "invalid_value");
            assert!(field.message.starts_with(&field.param), "{}", field.message);
            Err(field.param)
        }
        Err(unreadable) => panic!("{unreadable}"),
    }
}

#[test]
fn every_member_is_read() {
    let given = options(
        r#""memory_config":{"enabled":false,"memory_types":["semantic","x"],"retrieval_limit":50,
        "similarity_threshold":0.25,"standing":false,"auto_store":true},
        "memory_context":{"user_id":"a\u0062","project_id":"p","agent_id":"b","timezone":"Asia/Tokyo"}"#,
    );
    let expected = MemoryOptions {
        enabled: Some(false),
        types: Some(vec!["semantic".to_owned(), "x".to_owned()]),
        limit: Some(50),
        threshold: Some(0.25),
        standing: Some(false),
        auto_store: Some(true),
        user_id: Some("ab".to_owned()),
        project_id: Some("p".to_owned()),
        agent_id: Some("b".to_owned()),
        timezone: Some("Asia/Tokyo".to_owned()),
    };
    assert_eq!(given, Ok(expected));
}

#[test]
fn null_counts_as_absent() {
    let nothing = Ok(MemoryOptions::default());
    assert_eq!(options(r#""memory_config":null,"memory_context":null,"auto_store":null"#), nothing);
    assert_eq!(
        options(
            r#""memory_config":{"enabled":null,"memory_types":null,"retrieval_limit":null,
            "similarity_threshold":null,"standing":null,"auto_store":null},
            "memory_context":{"user_id":null,"project_id":null,"agent_id":null,"timezone":null}"#
        ),
        nothing
    );
    assert_eq!(options(r#""memory_config":{},"memory_context":{}"#), nothing);
}

#[test]
fn the_bounds_themselves_are_allowed() {
    for limit in ["1", "50", "5.0", "1e1"] {
        let given = options(&format!(r#""memory_config":{{"retrieval_limit":{limit}}}"#));
        assert!(given.is_ok_and(|options| options.limit.is_some()), "{limit}");
    }
    for threshold in ["0", "1", "0.0", "1.0", "-0", "6e-1"] {
        let given = options(&format!(r#""memory_config":{{"similarity_threshold":{threshold}}}"#));
        assert!(given.is_ok_and(|options| options.threshold.is_some()), "{threshold}");
    }
}

#[test]
fn wrong_types_ranges_and_unknown_members_are_named() {
    let wrong = [
        ("memory_config", &["1", "\"\"", "[]", "true"][..]),
        ("memory_context", &["1", "\"\"", "[]", "false"]),
        ("auto_store", &["1", "\"true\"", "[]", "{}", "0"]),
        ("memory_config.enabled", &["1", "\"true\"", "[true]"]),
        ("memory_config.standing", &["0", "\"off\""]),
        ("memory_config.auto_store", &["0", "\"false\"", "{}"]),
        ("memory_config.memory_types", &["\"semantic\"", "{}", "[1]", "[null]", "[\"\\ud800\"]"]),
        (
            "memory_config.retrieval_limit",
            &["0", "51", "-1", "2.5", "1e400", "99999999999999999999", "\"5\"", "true", "[5]"],
        ),
        ("memory_config.similarity_threshold", &["1.0001", "-0.1", "1e999", "\"0.5\"", "false"]),
        ("memory_config.top_k", &["1", "null"]),
        ("memory_context.user_id", &["1", "{}", "\"a\\ud800\""]),
        ("memory_context.project_id", &["1", "[]"]),
        ("memory_context.session", &["\"s\""]),
    ];
    for (param, values) in wrong {
        for value in values {
            let field = match param.split_once('.') {
                None => format!(r#""{param}":{value}"#),
                Some((object, member)) => format!(r#""{object}":{{"{member}":{value}}}"#),
            };
            assert_eq!(options(&field), Err(param.to_owned()), "{field}");
        }
    }
}

#[test]
fn of_a_key_written_twice_the_last_is_read() {
    let given = options(r#""memory_config":7,"memory_config":{"enabled":"x","enabled":true}"#);
    assert_eq!(given.map(|options| options.enabled), Ok(Some(true)));
}

#[test]
fn top_level_auto_store_wins() {
    let given = options(r#""auto_store":false,"memory_config":{"auto_store":true}"#);
    assert_eq!(given.map(|options| options.auto_store), Ok(Some(false)));
    let given = options(r#""auto_store":null,"memory_config":{"auto_store":true}"#);
    assert_eq!(given.map(|options| options.auto_store), Ok(Some(true)));
}

#[test]
fn an_unknown_type_name_is_refused_and_cut_short() {
    let known = ["semantic".to_owned()];
    let with =
        |name: &str| MemoryOptions { types: Some(vec![name.to_owned()]), ..Default::default() };
    assert_eq!(with("semantic").check_types(&known), Ok(()));
    assert_eq!(MemoryOptions::default().check_types(&known), Ok(()));
    let fault = with(&"é".repeat(1000)).check_types(&known).unwrap_err();
    assert_eq!(fault.param, "memory_config.memory_types");
    assert!(fault.message.chars().count() < 200, "{}", fault.message);
}
