//! What a request may narrow, and the errors of invalid requests.
use envoy_types::pb::envoy::{
    config::core::v3::{HeaderMap, HeaderValue},
    service::ext_proc::v3::HttpHeaders,
};

use crate::gateway::request::{
    RequestHead,
    admission::{Admission, Admitted, admit},
};
use memgate_config::{Config, IdentityMode, Zone};
use memgate_core::{
    identity::{SessionNamer, of_session},
    memory::Within,
};
use memgate_dialect::Dialect;

fn head(headers: &[(&str, &str)], config: &Config) -> RequestHead {
    let headers = headers
        .iter()
        .map(|(key, value)| HeaderValue {
            key: (*key).into(),
            raw_value: value.as_bytes().to_vec(),
            ..HeaderValue::default()
        })
        .collect();
    let message = HttpHeaders { headers: Some(HeaderMap { headers }), ..HttpHeaders::default() };
    RequestHead::read(message, None, config)
}

fn judged(config: &Config, headers: &[(&str, &str)], members: &str) -> Admission {
    let body = format!(r#"{{"messages":[{{"role":"user","content":"hello there"}}]{members}}}"#);
    let request = memgate_dialect::read(Dialect::Chat, body.as_bytes()).ok().unwrap();
    admit(config, &head(headers, config), request.ask())
}

fn admitted(config: &Config, headers: &[(&str, &str)], members: &str) -> Admitted {
    let headers: Vec<_> = headers.iter().copied().chain([("x-authz-user-id", "u")]).collect();
    admitted_as(config, &headers, members)
}

/// With these headers, which say who asks.
fn admitted_as(config: &Config, headers: &[(&str, &str)], members: &str) -> Admitted {
    match judged(config, headers, members) {
        Admission::Admitted(admitted) => *admitted,
        other => panic!("not admitted: {other:?}"),
    }
}

#[track_caller]
fn check_invalid(headers: &[(&str, &str)], members: &str, param: &str) {
    match judged(&Config::default(), headers, members) {
        Admission::Invalid(field) => assert_eq!(field.param, param),
        other => panic!("{other:?}"),
    }
}

/// A header that cannot be read turns memory off, since a proxy may have set it.
#[track_caller]
fn check_off(headers: &[(&str, &str)]) {
    let admission = judged(&Config::default(), headers, "");
    assert!(matches!(admission, Admission::BadHeader(_)), "{headers:?} {admission:?}");
}

#[test]
fn a_request_that_says_nothing_gets_the_configurations_defaults() {
    let config = Config::default();
    let admitted = admitted(&config, &[], "");
    assert_eq!(admitted.selection.limit, 5);
    assert!((admitted.selection.threshold - 0.6).abs() < f32::EPSILON);
    assert!(admitted.selection.types.is_empty());
    assert!(admitted.learn);
}

#[test]
fn a_header_of_the_configured_name_ends_the_session() {
    let mut config = Config::default();
    for (value, ends) in [("true", true), ("1", true), (" TRUE ", true), ("0", false)] {
        assert_eq!(admitted(&config, &[("x-session-end", value)], "").ends_session, ends);
    }
    let twice = [("x-session-end", "false"), ("x-session-end", "true")];
    assert!(admitted(&config, &twice, "").ends_session);
    config.memory.sessions.end_header = "x-bye".into();
    assert!(admitted(&config, &[("x-bye", "1")], "").ends_session);
    assert!(!admitted(&config, &[("x-session-end", "1")], "").ends_session);
}

#[test]
fn the_body_wins_over_headers_and_headers_over_the_configuration() {
    let config = Config::default();
    let headers =
        [("x-memory-limit", "7"), ("x-memory-threshold", "0.25"), ("x-memory-project", "p")];
    let by_header = admitted(&config, &headers, "");
    assert_eq!((by_header.selection.limit, by_header.project_id.as_deref()), (7, Some("p")));
    let by_body = admitted(
        &config,
        &headers,
        r#","memory_config":{"retrieval_limit":9},"memory_context":{"project_id":"q"}"#,
    );
    assert_eq!((by_body.selection.limit, by_body.project_id.as_deref()), (9, Some("q")));
    assert!((by_body.selection.threshold - 0.25).abs() < f32::EPSILON);
}

#[test]
fn every_opt_out_of_everything_turns_memory_off() {
    for (headers, members) in [
        (&[("x-memory", "off")][..], ""),
        (&[("x-memory", "OFF")], ""),
        (&[("x-disable-router-memory", "true")], ""),
        (&[], r#","memory_config":{"enabled":false}"#),
    ] {
        assert_eq!(judged(&Config::default(), headers, members), Admission::Off, "{members}");
    }
    let mut config = Config::default();
    config.memory.enabled = false;
    let on = r#","memory_config":{"enabled":true}"#;
    assert_eq!(judged(&config, &[("x-memory", "on")], on), Admission::Off);
}

#[test]
fn every_opt_out_of_learning_keeps_recall() {
    let config = Config::default();
    for (headers, members) in [
        (&[("x-memory-auto-store", "false")][..], ""),
        (&[], r#","auto_store":false"#),
        (&[], r#","memory_config":{"auto_store":false}"#),
    ] {
        assert!(!admitted(&config, headers, members).learn, "{members}");
    }
    // In Chat Completions `store` means nothing to memory.
    assert!(admitted(&config, &[], r#","store":false"#).learn);
    let wins = r#","auto_store":true,"memory_config":{"auto_store":false}"#;
    assert!(admitted(&config, &[], wins).learn);
}

#[test]
fn a_request_cannot_widen_what_the_configuration_allows() {
    let mut config = Config::default();
    config.memory.auto_store = false;
    assert!(!admitted(&config, &[], r#","auto_store":true"#).learn);
}

#[test]
fn wrong_headers_and_names_are_told() {
    check_off(&[("x-memory", "maybe")]);
    check_off(&[("x-session-end", "maybe")]);
    check_off(&[("x-memory-limit", "0")]);
    check_off(&[("x-memory-limit", "51")]);
    check_off(&[("x-memory-threshold", "nan")]);
    check_off(&[("x-memory-types", "semantic,magic")]);
    let types = r#","memory_config":{"memory_types":["magic"]}"#;
    check_invalid(&[], types, "memory_config.memory_types");
    let mut config = Config::default();
    config.memory.identity.mode = IdentityMode::Development;
    let invalid = judged(&config, &[], r#","user":"a\nb""#);
    assert!(matches!(&invalid, Admission::Invalid(field) if field.param == "user"), "{invalid:?}");
}

#[test]
fn nobody_is_no_identity_and_a_bad_header_is_refused() {
    let config = Config::default();
    assert_eq!(judged(&config, &[], ""), Admission::NoIdentity);
    assert_eq!(judged(&config, &[("x-authz-user-id", "\u{1}")], ""), Admission::Refused);
}

#[test]
fn a_session_without_a_user_has_its_memory_where_that_is_on_and_nobody_guesses_its_id() {
    let id = "550e8400-e29b-41d4-a716-446655440000";
    let named = [("x-session-id", id)];
    let session = of_session(id, SessionNamer::Client).unwrap();
    let owner = session.owner().clone();
    assert!(!owner.key().contains(id), "the id is a secret");
    let mut config = Config::default();
    assert_eq!(judged(&config, &named, ""), Admission::NoIdentity, "off unless set");
    config.memory.anonymous_sessions.enabled = true;
    let found = admitted_as(&config, &named, "");
    assert_eq!((found.identity.owner(), found.reader()), (&owner, None));
    assert_eq!(judged(&config, &[("x-session-id", "s1")], ""), Admission::NoIdentity);
    assert_eq!(judged(&config, &[named[0], named[0]], ""), Admission::NoIdentity);
    let claims_a_user = r#","memory_context":{"user_id":"alice"}"#;
    assert_eq!(judged(&config, &named, claims_a_user), Admission::Refused);
    let alice = [named[0], ("x-authz-user-id", "alice")];
    assert_eq!(admitted_as(&config, &alice, "").identity.owner().user(), Some("alice"));
    config.memory.anonymous_sessions.header = Some("x-gateway-session".into());
    assert_eq!(judged(&config, &named, ""), Admission::NoIdentity);
    assert!(matches!(judged(&config, &[("x-gateway-session", "7")], ""), Admission::Admitted(_)));
    let mut config = Config::default();
    config.memory.identity.mode = IdentityMode::Development;
    assert_eq!(judged(&config, &named, ""), Admission::NoIdentity, "only where it is asked for");
    config.memory.anonymous_sessions.enabled = true;
    assert_eq!(admitted_as(&config, &named, "").identity.owner(), &owner);
    assert_eq!(admitted_as(&config, &named, claims_a_user).identity.owner().user(), Some("alice"));
}

#[test]
fn a_policys_types_hold_whatever_is_asked() {
    assert_eq!(
        crate::gateway::request::admission::narrowed(&[], Some(vec!["semantic".into()])),
        ["semantic"]
    );
    let allowed = ["semantic".to_owned(), "episodic".to_owned()];
    assert_eq!(
        crate::gateway::request::admission::narrowed(
            &allowed,
            Some(vec!["episodic".into(), "own".into()])
        ),
        ["episodic"]
    );
    assert_eq!(
        crate::gateway::request::admission::narrowed(&allowed, Some(vec!["own".into()])),
        allowed
    );
    assert_eq!(crate::gateway::request::admission::narrowed(&allowed, None), allowed);
}

#[test]
fn of_a_header_sent_twice_the_one_that_opts_out_counts() {
    let config = Config::default();
    for twice in [
        [("x-memory", "on"), ("x-memory", "off")],
        [("x-disable-router-memory", "false"), ("x-disable-router-memory", "true")],
    ] {
        assert_eq!(judged(&config, &twice, ""), Admission::Off, "{twice:?}");
    }
    let twice = [("x-memory-auto-store", "true"), ("x-memory-auto-store", "false")];
    assert!(!admitted(&config, &twice, "").learn);
    check_off(&[("x-memory", "off"), ("x-memory", "maybe")]);
}

#[test]
fn preferences_and_wishes_are_switched_off_by_body_header_or_policy() {
    let config = Config::default();
    assert!(admitted(&config, &[], "").standing);
    assert!(!admitted(&config, &[("x-memory-standing", "off")], "").standing);
    assert!(!admitted(&config, &[], r#","memory_config":{"standing":false}"#).standing);
    let policy = r#"{"match": {"word": "hello"}, "standing": false}"#;
    let mut off = Config::default();
    off.memory.policies = vec![serde_json::from_str(policy).unwrap()];
    let body = r#","memory_config":{"standing":true}"#;
    assert!(!admitted(&off, &[("x-memory-standing", "on")], body).standing, "it can only narrow");
}

#[test]
fn a_type_named_again_and_again_is_looked_for_once() {
    let config = Config::default();
    let types = r#","memory_config":{"memory_types":["semantic","episodic","semantic"]}"#;
    let mut found = admitted(&config, &[], types).selection.types;
    found.sort();
    assert_eq!(found, ["episodic", "semantic"]);
    let header = [("x-memory-types", "semantic,semantic")];
    assert_eq!(admitted(&config, &header, "").selection.types, ["semantic"]);
}

#[test]
fn a_project_is_an_id_like_any_other() {
    let long = "p".repeat(257);
    for bad in ["", "a\\nb", &long] {
        let members = format!(r#","memory_context":{{"project_id":"{bad}"}}"#);
        check_invalid(&[], &members, "memory_context.project_id");
    }
    check_off(&[("x-memory-project", &long)]);
    check_off(&[("x-memory-project", " ")]);
    let longest = "p".repeat(256);
    let fine = admitted(&Config::default(), &[("x-memory-project", &longest)], "");
    assert_eq!(fine.project_id, Some(longest));
}

#[test]
fn a_request_without_a_project_sees_what_belongs_to_none_unless_all_are_configured() {
    let mut config = Config::default();
    assert_eq!(admitted(&config, &[], "").projects, Within::None);
    let named = admitted(&config, &[("x-memory-project", "hr")], "");
    assert_eq!(named.projects, Within::Shared("hr".into()));
    config.memory.search_all_projects = true;
    assert_eq!(admitted(&config, &[], "").projects, Within::All);
}

#[test]
fn a_pinned_project_holds_whatever_the_client_names() {
    let client = r#","memory_context":{"project_id":"hr"}"#;
    let mut config = Config::default();
    config.memory.identity.project_header = Some("x-project".into());
    let of =
        |config: &Config, headers: &[(&str, &str)]| admitted(config, headers, client).project_id;
    assert_eq!(
        of(&config, &[("x-project", "sales"), ("x-memory-project", "hr")]).as_deref(),
        Some("sales")
    );
    assert_eq!(of(&config, &[]), None, "Envoy set none");
    let policy = |word: &str| {
        let policy = serde_json::json!({"match": {"word": word}, "project_id": "legal"});
        let mut config = Config::default();
        config.memory.policies = vec![serde_json::from_value(policy).unwrap()];
        config
    };
    assert_eq!(of(&policy("hello"), &[("x-memory-project", "hr")]).as_deref(), Some("legal"));
    assert_eq!(of(&policy("bye"), &[]).as_deref(), Some("hr"), "no policy matches");
}

#[test]
fn an_agent_sees_its_own_memories_and_those_of_none_and_a_pinned_one_holds() {
    let client = r#","memory_context":{"agent_id":"coach"}"#;
    let named = admitted(&Config::default(), &[], client);
    assert_eq!(named.agent_id.as_deref(), Some("coach"));
    assert_eq!(named.agents, Within::Shared("coach".into()));
    assert_eq!(admitted(&Config::default(), &[], "").agents, Within::None);
    check_invalid(&[], r#","memory_context":{"agent_id":""}"#, "memory_context.agent_id");

    let mut config = Config::default();
    config.memory.identity.agent_header = Some("x-agent".into());
    let of = |config: &Config, headers: &[(&str, &str)]| admitted(config, headers, client).agent_id;
    assert_eq!(of(&config, &[("x-agent", "sales")]).as_deref(), Some("sales"));
    assert_eq!(of(&config, &[]), None, "Envoy set none");
    let policy = serde_json::json!({"match": {"word": "hello"}, "agent_id": "legal"});
    config.memory.policies = vec![serde_json::from_value(policy).unwrap()];
    assert_eq!(of(&config, &[("x-agent", "sales")]).as_deref(), Some("legal"));
}

#[test]
fn without_a_token_a_claim_that_is_configured_names_no_project_and_no_agent() {
    let client = r#","memory_context":{"project_id":"hr","agent_id":"coach"}"#;
    let of = |config: &Config, headers: &[(&str, &str)]| {
        let Admitted { project_id, agent_id, .. } = admitted(config, headers, client);
        (project_id, agent_id)
    };
    let mut config = Config::default();
    config.memory.identity.jwt.agent_claim = Some("agent".into());
    assert_eq!(of(&config, &[]), (Some("hr".into()), None));
    config.memory.identity.jwt.project_claim = Some("project".into());
    assert_eq!(of(&config, &[("x-memory-project", "hr")]), (None, None));
    config.memory.identity.agent_header = Some("x-agent".into());
    assert_eq!(of(&config, &[("x-agent", "sales")]), (None, Some("sales".into())));
}

#[test]
fn a_header_that_is_switched_off_identifies_nobody() {
    let mut config = Config::default();
    config.memory.identity.header_enabled = false;
    assert_eq!(judged(&config, &[("x-authz-user-id", "u")], ""), Admission::NoIdentity);
}

#[test]
fn a_time_zone_is_that_of_the_body_else_of_the_header_else_of_the_configuration() {
    let mut config = Config::default();
    config.memory.timezone = Zone::try_from("Europe/Berlin".to_owned()).unwrap();
    let of = |headers: &[(&str, &str)], members: &str| {
        admitted(&config, headers, members).zone.iana_name().map(str::to_owned)
    };
    let (header, body) =
        (("x-memory-timezone", "Asia/Tokyo"), r#","memory_context":{"timezone":"Asia/Kolkata"}"#);
    assert_eq!(of(&[header], body).as_deref(), Some("Asia/Kolkata"));
    assert_eq!(of(&[header], "").as_deref(), Some("Asia/Tokyo"));
    assert_eq!(of(&[], "").as_deref(), Some("Europe/Berlin"));
    check_invalid(&[], r#","memory_context":{"timezone":"Berlin"}"#, "memory_context.timezone");
    check_off(&[("x-memory-timezone", "Berlin")]);
}
