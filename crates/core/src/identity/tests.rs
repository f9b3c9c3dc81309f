//! The identity rules, case by case.
use crate::identity::{BodyIds, ClaimNames, Claims, Credentials, Mode, Verdict, identify};

fn user(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Known(identity) => identity.owner().name(),
        other => panic!("not known: {other:?}"),
    }
}

fn ids<'a>(context: &'a str, metadata: &'a str, user: &'a str) -> BodyIds<'a> {
    let some = |id: &'a str| (!id.is_empty()).then_some(id);
    BodyIds { memory_context: some(context), metadata: some(metadata), user: some(user) }
}

#[test]
fn development_takes_the_first_id_present() {
    let say = |header: &'static [&'static [u8]], body| {
        identify(Mode::Development, &Credentials { header, claims: None, body })
    };
    assert_eq!(user(&say(&[b"h"], ids("c", "m", "u"))), "h");
    assert_eq!(user(&say(&[], ids("c", "m", "u"))), "c");
    assert_eq!(user(&say(&[], ids("", "m", "u"))), "m");
    assert_eq!(user(&say(&[], ids("", "", "u"))), "u");
    assert_eq!(say(&[], ids("", "", "")), Verdict::Unknown);
}

#[test]
fn verified_claims_win_in_every_mode() {
    let claims = Claims { user: Some("mallory".into()), ..Claims::default() };
    for mode in [Mode::Development, Mode::Production] {
        let say = |header: &'static [&'static [u8]], body| {
            identify(mode, &Credentials { header, claims: Some(&claims), body })
        };
        assert_eq!(user(&say(&[], ids("", "alice", "alice"))), "mallory", "{mode:?}");
        assert_eq!(user(&say(&[b"alice"], ids("", "", ""))), "mallory", "{mode:?}");
        assert_eq!(say(&[], ids("alice", "", "")), Verdict::Refused, "{mode:?}");
        let nobody = Credentials { claims: Some(&Claims::default()), ..Credentials::default() };
        assert_eq!(identify(mode, &nobody), Verdict::Refused, "{mode:?}");
    }
}

#[test]
fn a_bad_id_in_the_body_is_an_error_and_in_the_header_a_refusal() {
    let body = BodyIds { memory_context: None, metadata: Some("a\nb"), user: None };
    let verdict = identify(Mode::Development, &Credentials { body, ..Credentials::default() });
    assert!(matches!(verdict, Verdict::Invalid { param: "metadata.user_id", .. }), "{verdict:?}");

    for bad in [&b""[..], b"a\x01", b"\xff\xfe", &[b'x'; 257]] {
        let header: &[&[u8]] = &[bad];
        let verdict =
            identify(Mode::Development, &Credentials { header, ..Credentials::default() });
        assert_eq!(verdict, Verdict::Refused, "{bad:?}");
    }
}

#[test]
fn two_different_headers_are_refused_and_two_equal_ones_accepted() {
    for (header, known) in [(&[&b"a"[..], b"b"], false), (&[&b"a"[..], b"a"], true)] {
        let verdict = identify(Mode::Production, &Credentials { header, ..Credentials::default() });
        assert_eq!(matches!(verdict, Verdict::Known(_)), known);
    }
}

#[test]
fn production_trusts_the_token_then_the_header_and_never_the_body() {
    let claims = Claims {
        user: Some("sub".into()),
        tenant: Some("acme".into()),
        roles: vec!["admin".into()],
        project: None,
        agent: None,
    };
    let verdict = identify(
        Mode::Production,
        &Credentials { header: &[b"h"], claims: Some(&claims), body: ids("", "m", "u") },
    );
    let Verdict::Known(identity) = &verdict else { panic!("{verdict:?}") };
    assert_eq!((identity.owner().tenant(), identity.owner().name()), ("acme", "sub"));
    assert_eq!(identity.roles(), ["admin"]);

    let body_only = Credentials { body: ids("c", "m", "bad\nid"), ..Credentials::default() };
    assert_eq!(identify(Mode::Production, &body_only), Verdict::Unknown);
}

#[test]
fn production_refuses_a_different_user_in_the_body() {
    let header: &[&[u8]] = &[b"alice"];
    let with = |context| {
        identify(
            Mode::Production,
            &Credentials { header, claims: None, body: ids(context, "", "") },
        )
    };
    assert_eq!(with("mallory"), Verdict::Refused);
    assert_eq!(user(&with("alice")), "alice");
}

#[test]
fn a_token_without_a_user_is_refused_even_with_a_header() {
    let verdict = identify(
        Mode::Production,
        &Credentials {
            header: &[b"alice"],
            claims: Some(&Claims::default()),
            body: BodyIds::default(),
        },
    );
    assert_eq!(verdict, Verdict::Refused);
}

#[test]
fn claims_are_read_by_their_configured_names() {
    let payload = serde_json::json!({"uid": 42, "org": "acme", "scope": "a b", "groups": ["x", 1, "", "a\0b"]});
    let claims = Claims::read(&payload, &names("uid", "org", "scope"));
    assert_eq!(claims.user.as_deref(), Some("42"));
    assert_eq!(claims.tenant.as_deref(), Some("acme"));
    assert_eq!(claims.roles, ["a", "b"]);
    assert_eq!(Claims::read(&payload, &names("sub", "org", "groups")).roles, ["x"]);
}

#[test]
fn inexact_numeric_ids_are_refused() {
    let refused = |payload: serde_json::Value| {
        let claims = Claims::read(&payload, &names("sub", "tenant", "roles"));
        let verdict = identify(
            Mode::Production,
            &Credentials { claims: Some(&claims), ..Credentials::default() },
        );
        verdict == Verdict::Refused
    };
    // Envoy passes numbers as doubles; these may have come from several ids.
    for number in [9_007_199_254_740_992_f64, 1e18, 0.5] {
        assert!(refused(serde_json::json!({"sub": number})), "{number}");
        assert!(refused(serde_json::json!({"sub": "alice", "tenant": number})), "{number}");
    }
    // A tenant that is not text is not an absent tenant.
    for odd in
        [serde_json::json!(["acme"]), serde_json::json!({"id": "acme"}), serde_json::json!(true)]
    {
        assert!(refused(serde_json::json!({"sub": "alice", "tenant": odd})), "{odd}");
    }
    assert!(!refused(serde_json::json!({"sub": 42, "tenant": null})));
}

fn names<'a>(user: &'a str, tenant: &'a str, roles: &'a str) -> ClaimNames<'a> {
    ClaimNames { user, tenant, roles, project: None, agent: None, issuers: &[] }
}

#[test]
fn users_of_different_issuers_are_different_and_unknown_issuers_have_none() {
    let issuers = ["https://a".to_owned(), "https://b".to_owned()];
    let read = |issuer: &str, tenant: Option<&str>, issuers: &[String]| {
        let payload = serde_json::json!({"sub": "u", "iss": issuer, "tenant": tenant});
        let names = ClaimNames { issuers, ..names("sub", "tenant", "roles") };
        let claims = Claims::read(&payload, &names);
        identify(Mode::Production, &Credentials { claims: Some(&claims), ..Credentials::default() })
    };
    let (a, b) = (read("https://a", None, &issuers), read("https://b", None, &issuers));
    assert!(matches!(a, Verdict::Known(_)) && a != b);
    assert_ne!(read("https://a", Some("t"), &issuers), a);
    assert_eq!(read("https://c", None, &issuers), Verdict::Refused);
    assert_eq!(
        read("https://a", None, &issuers[..1]),
        read("https://c", None, &[]),
        "one issuer changes nothing"
    );
    assert_eq!(read("https://b", None, &issuers[..1]), Verdict::Refused);
}
