//! Refuses a reload that would weaken a protection. A file that is read while it is being written
//! is often valid YAML with half of its keys missing, which would switch protections off.
//!
//! The comparison is conservative: it also refuses some harmless changes, which then need a
//! restart.

use crate::{
    Config,
    parse::problem::Problem,
    sections::{
        identity::IdentityMode,
        memory::MemoryConfig,
        policy::{Policy, PolicyMatch},
    },
};
use memgate_recall::Publish;

/// The protections that `new` would weaken compared with `old`. Any entry refuses the whole reload.
pub(super) fn weakened(old: &Config, new: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |key: &str, what: &str| {
        problems.push(Problem::new(key, format!("a reload may not {what}; restart to do so")));
    };
    let (was, is) = (&old.memory.identity, &new.memory.identity);
    if was.mode == IdentityMode::Production && is.mode == IdentityMode::Development {
        refuse("memory.identity.mode", "change production to development");
    }
    // Envoy strips one header and verifies one claim; any other one may come from the client.
    if was.header != is.header {
        refuse("memory.identity.header", "change the trusted header");
    }
    if !was.header_enabled && is.header_enabled {
        refuse("memory.identity.header_enabled", "trust the header again");
    }
    if was.project_header.is_some() && was.project_header != is.project_header {
        refuse("memory.identity.project_header", "change what decides the project");
    }
    if was.agent_header.is_some() && was.agent_header != is.agent_header {
        refuse("memory.identity.agent_header", "change what decides the agent");
    }
    let allows = |config: &Config| config.memory.anonymous_sessions.enabled;
    if !allows(old) && allows(new) {
        refuse("memory.anonymous_sessions.enabled", "give sessions without a user a memory");
    }
    let header = |config: &Config| config.memory.anonymous_sessions.header.clone();
    if header(old).is_some() && header(old) != header(new) {
        refuse("memory.anonymous_sessions.header", "change what names a session without a user");
    }
    if !old.memory.search_all_projects && new.memory.search_all_projects {
        refuse("memory.search_all_projects", "search more projects");
    }
    if !old.memory.scopes.shared && new.memory.scopes.shared {
        refuse("memory.scopes.shared", "search what others share");
    }
    if old.memory.scopes.publish == Publish::Keys && new.memory.scopes.publish == Publish::Users {
        refuse("memory.scopes.publish", "let users share memories");
    }
    if !old.memory.journal.tool_contents && new.memory.journal.tool_contents {
        refuse("memory.journal.tool_contents", "keep what tools are given and answer");
    }
    let pins = |policy: &&Policy| policy.project_id.is_some() || policy.agent_id.is_some();
    let ids = |policy: &Policy| (policy.project_id.clone(), policy.agent_id.clone());
    let pinned = |policy: &&Policy| {
        new.memory
            .policies
            .iter()
            .filter(pins)
            .any(|it| it.matches == policy.matches && ids(it) == ids(policy))
    };
    if !old.memory.policies.iter().filter(pins).all(|policy| pinned(&policy)) {
        refuse("memory.policies", "remove a policy with project_id or agent_id");
    }
    if was.jwt != is.jwt {
        refuse("memory.identity.jwt", "change which claims are trusted");
    }
    if old.api.key_env.is_some() && new.api.key_env.is_none() {
        refuse("api.key_env", "remove the API key");
    }
    for class in old.memory.screening.loosened(&new.memory.screening) {
        refuse(&format!("memory.screening.{class}"), "keep more of a class of personal data");
    }
    for &switch in Switch::ALL {
        if !switch.default_of(&old.memory) && switch.default_of(&new.memory) {
            refuse(&format!("memory.{}", switch.name()), "turn it back on");
        }
        if let Some(what) = switch.allows_more(&old.memory, &new.memory) {
            refuse("memory.policies", &what);
        }
    }
    problems
}

/// A setting that a policy can switch off.
#[derive(Clone, Copy, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
enum Switch {
    Enabled,
    AutoStore,
}

/// The part of a policy that concerns one switch: for which requests, and whether it allows or
/// denies.
#[derive(PartialEq)]
struct Rule<'a> {
    matches: &'a PolicyMatch,
    allows: bool,
}

impl Switch {
    const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    fn name(self) -> &'static str {
        self.into()
    }

    fn default_of(self, memory: &MemoryConfig) -> bool {
        match self {
            Self::Enabled => memory.enabled,
            Self::AutoStore => memory.auto_store,
        }
    }

    fn of(self, policy: &Policy) -> Option<bool> {
        match self {
            Self::Enabled => policy.enabled,
            Self::AutoStore => policy.auto_store,
        }
    }

    /// The policies that set this switch, in order. The last policy that matches wins.
    fn rules(self, memory: &MemoryConfig) -> Vec<Rule<'_>> {
        let rule = |policy| self.of(policy).map(|allows| Rule { matches: &policy.matches, allows });
        memory.policies.iter().filter_map(rule).collect()
    }

    /// A reason why `new` might allow a request that `old` denies. Every denial must still be
    /// there, and no allowing rule may follow it that did not follow it before.
    fn allows_more(self, old: &MemoryConfig, new: &MemoryConfig) -> Option<String> {
        let (old_rules, new_rules) = (self.rules(old), self.rules(new));
        let denials = old_rules.iter().enumerate().filter(|(_, rule)| !rule.allows);
        for (index, denial) in denials {
            let Some(place) = new_rules.iter().rposition(|rule| rule == denial) else {
                return Some(format!("remove a policy with {}: false", self.name()));
            };
            if exceptions_grow(&old_rules[index + 1..], &new_rules[place + 1..]) {
                return Some(self.exception());
            }
        }
        // A default of `false` denies before all policies.
        let closed = !self.default_of(old);
        (closed && exceptions_grow(&old_rules, &new_rules)).then(|| self.exception())
    }

    fn exception(self) -> String {
        format!("add a policy with {}: true that overrides one with false", self.name())
    }
}

/// Whether an allowing rule follows a denial now and did not before.
fn exceptions_grow(before: &[Rule<'_>], now: &[Rule<'_>]) -> bool {
    now.iter().any(|rule| rule.allows && !before.contains(rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Variables;

    fn config(text: &str) -> Config {
        Config::from_text(Some(text), &Variables::of([]), &|_| {}, &|_| Some("k".repeat(32)))
            .unwrap()
    }

    fn keys(old: &str, new: &str) -> Vec<String> {
        weakened(&config(old), &config(new)).into_iter().map(|problem| problem.key).collect()
    }

    const DENY: &str = "{match: {path: /a}, enabled: false}";
    const ALLOW: &str = "{match: {model: m}, enabled: true}";

    fn policies(of: &[&str]) -> String {
        format!("memory: {{policies: [{}]}}", of.join(", "))
    }

    #[test]
    fn lists_every_weakened_protection() {
        let dev = "memory: {identity: {mode: development}}";
        assert_eq!(keys("{}", dev), ["memory.identity.mode"]);
        assert_eq!(keys("memory: {identity: {header: x-me}}", "{}"), ["memory.identity.header"]);
        let tokens = "memory: {identity: {header_enabled: false}}";
        assert_eq!(keys(tokens, "{}"), ["memory.identity.header_enabled"]);
        let project = "memory: {identity: {project_header: x-project}}";
        assert_eq!(keys(project, "{}"), ["memory.identity.project_header"]);
        assert_eq!(
            keys("{}", "memory: {search_all_projects: true}"),
            ["memory.search_all_projects"]
        );
        assert_eq!(keys("{}", "memory: {scopes: {shared: true}}"), ["memory.scopes.shared"]);
        let keys_publish = "memory: {scopes: {publish: keys}}";
        assert_eq!(keys(keys_publish, "{}"), ["memory.scopes.publish"]);
        assert!(keys("{}", keys_publish).is_empty());
        assert_eq!(
            keys("{}", "memory: {journal: {tool_contents: true}}"),
            ["memory.journal.tool_contents"]
        );
        let anonymous = "memory: {anonymous_sessions: {enabled: true, header: x-session}}";
        assert_eq!(keys("{}", anonymous), ["memory.anonymous_sessions.enabled"]);
        let unnamed = "memory: {anonymous_sessions: {enabled: true}}";
        assert_eq!(keys(anonymous, unnamed), ["memory.anonymous_sessions.header"]);
        let pin = "{match: {path: /a}, project_id: hr}";
        assert_eq!(keys(&policies(&[pin]), "{}"), ["memory.policies"]);
        let pin = "{match: {path: /a}, agent_id: bot}";
        assert_eq!(keys(&policies(&[pin]), "{}"), ["memory.policies"]);
        let agent = "memory: {identity: {agent_header: x-agent}}";
        assert_eq!(keys(agent, "{}"), ["memory.identity.agent_header"]);
        let claim = "memory: {identity: {jwt: {user_claim: uid}}}";
        assert_eq!(keys(claim, "{}"), ["memory.identity.jwt"]);
        assert_eq!(keys("api: {key_env: K}", "{}"), ["api.key_env"]);
        assert_eq!(keys("memory: {enabled: false}", "{}"), ["memory.enabled"]);
        assert_eq!(keys("memory: {auto_store: false}", "{}"), ["memory.auto_store"]);
        assert_eq!(keys(&policies(&[DENY]), "{}"), ["memory.policies"]);
        let strict = "memory: {screening: {emails: drop}}";
        assert_eq!(keys(strict, "{}"), ["memory.screening.emails"]);
        let store = "{match: {word: legal}, auto_store: false}";
        assert_eq!(keys(&policies(&[store]), "{}"), ["memory.policies"]);
    }

    #[test]
    fn allows_changes_that_weaken_no_protection() {
        let dev = "memory: {identity: {mode: development}}";
        for (old, new) in [
            (dev, "{}"),
            ("{}", "api: {key_env: K}"),
            ("{}", "memory: {enabled: false, auto_store: false}"),
            ("memory: {deadline_ms: 40}", "memory: {deadline_ms: 80}"),
            ("{}", &policies(&[DENY])),
            (&policies(&[ALLOW]), "{}"),
            ("{}", &policies(&[ALLOW])),
            (&policies(&[ALLOW, DENY]), &policies(&[DENY])),
            ("memory: {policies: [{match: {path: /a}, retrieval_limit: 3}]}", "{}"),
        ] {
            assert!(keys(old, new).is_empty(), "{old} -> {new}");
        }
    }

    #[test]
    fn refuses_a_new_exception_to_a_denial_and_keeps_an_existing_one() {
        for (old, new, refused) in [
            (policies(&[DENY]), policies(&[DENY, ALLOW]), true),
            (policies(&[ALLOW, DENY]), policies(&[DENY, ALLOW]), true),
            (policies(&[DENY]), policies(&[ALLOW, DENY]), false),
            (policies(&[DENY, ALLOW]), policies(&[DENY, ALLOW]), false),
            (policies(&[DENY, ALLOW]), policies(&[DENY]), false),
        ] {
            assert_eq!(!keys(&old, &new).is_empty(), refused, "{old} -> {new}");
        }
        let closed = "memory: {enabled: false}";
        let opened = "memory: {enabled: false, policies: [{match: {path: /a}, enabled: true}]}";
        assert_eq!(keys(closed, opened), ["memory.policies"]);
        assert!(keys(opened, closed).is_empty());
    }

    /// A file that an editor, `cp` or `sed -i` is still writing.
    #[test]
    fn a_truncated_file_is_refused_or_weakens_nothing() {
        let whole = concat!(
            "memory:\n",
            "  enabled: true\n",
            "  auto_store: false\n",
            "  identity:\n",
            "    mode: production\n",
            "    header: x-verified-user\n",
            "    jwt:\n",
            "      user_claim: email\n",
            "  policies:\n",
            "    - match: {header: {name: x-team, value: legal}}\n",
            "      auto_store: false\n",
            "    - match:\n",
            "        path: /v1/chat/completions\n",
            "        word: off the record\n",
            "      enabled: false\n",
            "api:\n",
            "  key_env: MEMGATE_API_KEY\n",
        );
        let before = config(whole);
        let mut taken = 0;
        for end in 0..=whole.len() {
            let read = Config::from_text(Some(&whole[..end]), &Variables::of([]), &|_| {}, &|_| {
                Some("k".repeat(32))
            });
            let Ok(cut) = read else { continue };
            if !weakened(&before, &cut).is_empty() {
                continue;
            }
            taken += 1;
            assert_eq!(cut.memory.identity, before.memory.identity, "cut at {end}");
            assert_eq!(cut.memory.policies, before.memory.policies, "cut at {end}");
            assert_eq!(cut.memory.auto_store, before.memory.auto_store, "cut at {end}");
            assert!(cut.api.key_env.is_some(), "cut at {end}");
        }
        assert!(taken >= 1, "the whole file is taken");
    }
}
