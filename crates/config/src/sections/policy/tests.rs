use crate::sections::{memory::MemoryConfig, policy::*};

fn no_header(_: &str) -> Option<String> {
    None
}

fn subject<'a>(path: &'a str, model: &'a str, text: &'a str) -> Subject<'a> {
    Subject { path, model: Some(model), last_user_text: text, header: &no_header }
}

fn on(matches: PolicyMatch) -> Policy {
    Policy {
        matches,
        enabled: Some(false),
        auto_store: None,
        retrieval_limit: None,
        similarity_threshold: None,
        memory_types: None,
        standing: None,
        placement: None,
        project_id: None,
        agent_id: None,
        timezone: None,
    }
}

fn word(word: &str) -> PolicyMatch {
    PolicyMatch { word: Some(word.into()), ..PolicyMatch::default() }
}

#[test]
fn a_word_matches_whole_words_whatever_their_case() {
    let matches = |text, w| word(w).holds(&subject("/", "m", text));
    assert!(matches("Forget my SALARY, please", "salary"));
    assert!(matches("what is off the record?", "off the record"));
    assert!(!matches("the salaryman", "salary"));
    assert!(matches("salaryman or salary", "salary"));
    assert!(matches("the salary's gone", "salary"));
    assert!(matches("我的预算是多少", "预算"));
    assert!(!matches("größer", "größe"));
}

#[test]
fn many_partial_matches_are_scanned_in_one_pass() {
    let text = "Xsalaryman ".repeat(100_000);
    assert!(!word("salary").holds(&subject("/", "m", &text)));
    assert!(word("salary").holds(&subject("/", "m", &format!("{text}salary"))));
}

#[test]
fn paths_and_models_match_exactly_or_by_prefix() {
    let path = PolicyMatch { path: Some("/v1/responses".into()), ..PolicyMatch::default() };
    assert!(path.holds(&subject("/v1/responses?x=1", "m", "")));
    assert!(!path.holds(&subject("/v1/responses/1", "m", "")));
    let model = PolicyMatch { model: Some("qwen*".into()), ..PolicyMatch::default() };
    assert!(model.holds(&subject("/", "qwen3-8b", "")));
    assert!(!model.holds(&subject("/", "my-qwen", "")));
    assert!(!model.holds(&Subject { model: None, ..subject("/", "", "") }));
}

#[test]
fn a_header_matches_by_presence_or_by_value() {
    let find = |name: &str| (name == "x-team").then(|| "blue".to_owned());
    let ask = Subject { header: &find, ..subject("/", "m", "") };
    let header = |name: &str, value: Option<&str>| PolicyMatch {
        header: Some(HeaderMatch { name: name.into(), value: value.map(Into::into) }),
        ..PolicyMatch::default()
    };
    assert!(header("X-Team", None).holds(&ask));
    assert!(header("x-team", Some("blue")).holds(&ask));
    assert!(!header("x-team", Some("red")).holds(&ask));
    assert!(!header("x-other", None).holds(&ask));
}

#[test]
fn all_conditions_of_a_policy_must_hold() {
    let both = PolicyMatch { path: Some("/a".into()), ..word("budget") };
    assert!(both.holds(&subject("/a", "m", "my budget")));
    assert!(!both.holds(&subject("/b", "m", "my budget")));
    assert!(!both.holds(&subject("/a", "m", "my trip")));
}

#[test]
fn later_policies_override_only_the_settings_they_have() {
    let mut config = MemoryConfig::default();
    let mut first = on(word("budget"));
    first.retrieval_limit = Some(9);
    first.memory_types = Some(vec!["semantic".into()]);
    let mut second = on(word("my"));
    second.enabled = Some(true);
    second.placement = Some(Placement::LastUser);
    second.standing = Some(false);
    config.policies = vec![first, second];
    let effective = config.effective(&subject("/", "m", "my budget"));
    assert!(effective.enabled);
    assert_eq!(effective.retrieval_limit, 9);
    assert_eq!(effective.memory_types, ["semantic"]);
    assert_eq!(effective.placement, Placement::LastUser);
    assert!(effective.auto_store && !effective.standing);
    assert!((effective.similarity_threshold - 0.6).abs() < f32::EPSILON);
    let elsewhere = config.effective(&subject("/", "m", "the weather"));
    assert_eq!(elsewhere.retrieval_limit, 5);
}
