//! Admission of a request: who asks, whether memory acts on it, and how.
//!
//! A pure function, because recall and capture see the same request on two
//! streams and must come to the same judgement without talking to each other.

use crate::{
    gateway::request::{
        head::RequestHead,
        options::{HeaderOptions, check_named, text as header_text, zone},
    },
    placement,
};
use jiff::tz::TimeZone;
use memgate_config::{Config, Effective, IdentityMode, Subject};
use memgate_core::identity::{self, BodyIds, Credentials, Identity, SessionNamer, Verdict};
use memgate_core::memory::{Reader, Within};
use memgate_dialect::{Ask, InvalidField};
use memgate_recall::Selection;

/// The judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// The request is answered with an error that names the field.
    Invalid(InvalidField),
    /// A header of ours cannot be read: neither recall nor learning. The request passes, because headers are also set by
    /// proxies that a client knows nothing of.
    BadHeader(InvalidField),
    /// Neither recall nor learning.
    Off,
    /// Nobody said who asks.
    NoIdentity,
    /// Somebody said something we must not act on.
    Refused,
    /// Memory acts.
    Admitted(Box<Admitted>),
}

/// How memory acts on a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Admitted {
    /// The identity of who asks.
    pub identity: Identity,
    /// Whether memgate learns from the exchange.
    pub learn: bool,
    /// Whether the session ends with this exchange.
    pub ends_session: bool,
    /// Which hits are presented.
    pub selection: Selection,
    /// Whether preferences and wishes about every answer are presented.
    pub standing: bool,
    /// Where the context goes.
    pub placement: memgate_dialect::Placement,
    /// The project that is learned for.
    pub project_id: Option<String>,
    /// The projects that are searched.
    pub projects: Within,
    /// The agent that is learned for.
    pub agent_id: Option<String>,
    /// The agents whose memories are searched.
    pub agents: Within,
    /// The user's time zone.
    pub zone: TimeZone,
}

impl Admitted {
    /// The reader of what others share; none for a session without a user.
    #[must_use]
    pub fn reader(&self) -> Option<Reader> {
        let owner = self.identity.owner();
        owner.user()?;
        let roles = self.identity.roles().to_vec();
        Some(Reader { owner: owner.clone(), roles, agent: self.agent_id.clone() })
    }
}

/// Judges a request. A request can only narrow what the configuration allows.
#[must_use]
pub fn admit(config: &Config, head: &RequestHead, ask: &Ask) -> Admission {
    match judge(config, head, ask) {
        Ok(admission) => admission,
        Err(invalid) => Admission::Invalid(invalid),
    }
}

fn judge(config: &Config, head: &RequestHead, ask: &Ask) -> Result<Admission, InvalidField> {
    let options = &ask.options;
    let types = &config.memory.types;
    options.check_types(types)?;
    check_named("memory_context.project_id", options.project_id.as_deref())?;
    check_named("memory_context.agent_id", options.agent_id.as_deref())?;
    let zone = options.timezone.as_deref().map(|name| zone("memory_context.timezone", name));
    let zone = zone.transpose()?;
    let end_header = &config.memory.sessions.end_header;
    let said = match HeaderOptions::read(head.headers(), types, end_header) {
        Ok(said) => said,
        Err(invalid) => return Ok(Admission::BadHeader(invalid)),
    };
    let body = BodyIds {
        memory_context: options.user_id.as_deref(),
        metadata: ask.metadata_user_id.as_deref(),
        user: ask.user.as_deref(),
    };
    let verdict = who(config, head, body);
    if let Verdict::Invalid { param, cause } = verdict {
        return Err(InvalidField::invalid_value(param, format!("{param} {cause}")));
    }

    let rules = config.memory.effective(&Subject {
        path: head.path(),
        model: ask.model.as_deref(),
        last_user_text: ask.user_text.as_deref().unwrap_or_default(),
        header: &|name| head.headers().text(name).map(str::to_owned),
    });
    if !rules.enabled || said.off || options.enabled == Some(false) {
        return Ok(Admission::Off);
    }
    // Each once: they were checked one by one, and are looked for in every memory.
    let asked = options.types.as_ref().or(said.types.as_ref()).map(|asked| {
        types.iter().filter(|known| asked.contains(known)).cloned().collect::<Vec<_>>()
    });
    let identity = match verdict {
        Verdict::Known(identity) => identity,
        Verdict::Refused => return Ok(Admission::Refused),
        Verdict::Invalid { .. } => return Ok(Admission::NoIdentity),
        Verdict::Unknown => match without_user(config, head) {
            // Who names a user is not without one.
            Some(_) if options.user_id.is_some() => return Ok(Admission::Refused),
            Some(identity) => identity,
            None => return Ok(Admission::NoIdentity),
        },
    };
    let [project, agent] = pins(config, head, &rules);
    let (Ok(project), Ok(agent)) = (project.read(head), agent.read(head)) else {
        return Ok(Admission::Refused);
    };
    let project_id = project.unwrap_or_else(|| options.project_id.clone().or(said.project.clone()));
    let agent_id = agent.unwrap_or_else(|| options.agent_id.clone());
    Ok(Admission::Admitted(Box::new(Admitted {
        identity,
        learn: learns(&rules, &said, ask),
        ends_session: said.ends_session,
        standing: rules.standing && !said.no_standing && options.standing != Some(false),
        placement: placement::in_dialect(rules.placement),
        projects: match &project_id {
            None if config.memory.search_all_projects => Within::All,
            project => Within::visible_to(project.as_deref()),
        },
        project_id,
        agents: Within::visible_to(agent_id.as_deref()),
        agent_id,
        zone: zone.or(said.zone).unwrap_or_else(|| rules.timezone.get().clone()),
        selection: Selection {
            limit: options.limit.map(usize::from).or(said.limit).unwrap_or(rules.retrieval_limit),
            threshold: options.threshold.or(said.threshold).unwrap_or(rules.similarity_threshold),
            types: narrowed(&rules.memory_types, asked),
        },
    })))
}

/// The identity that the head alone gives.
#[must_use]
pub(crate) fn named_by_head(config: &Config, head: &RequestHead) -> Option<Identity> {
    match who(config, head, BodyIds::default()) {
        Verdict::Known(identity) => Some(identity),
        Verdict::Unknown | Verdict::Refused | Verdict::Invalid { .. } => None,
    }
}

/// The identity of a session without a user, where there may be one.
fn without_user(config: &Config, head: &RequestHead) -> Option<Identity> {
    if !config.memory.anonymous_sessions.enabled {
        return None;
    }
    let (name, by) = match &config.memory.anonymous_sessions.header {
        Some(header) => (header.as_str(), SessionNamer::Gateway),
        None => ("x-session-id", SessionNamer::Client),
    };
    let mut values = head.headers().all(name);
    let (Some(id), None) = (values.next(), values.next()) else { return None };
    identity::of_session(std::str::from_utf8(id).ok()?, by)
}

/// Where an operator may pin an id that a client can name.
struct Pin<'a> {
    policy: Option<&'a str>,
    /// The claim's value, if a claim is configured and there is a verified token.
    claim: Option<Option<&'a str>>,
    header: Option<&'a str>,
    /// Whether a claim is configured: without a token it names none.
    is_claimed: bool,
}

/// The pins of the project and of the agent.
fn pins<'a>(config: &'a Config, head: &'a RequestHead, rules: &'a Effective) -> [Pin<'a>; 2] {
    let identity = &config.memory.identity;
    let claims = head.claims.as_ref();
    let claim = |configured: bool| claims.filter(|_| configured);
    let [by_project, by_agent] =
        [&identity.jwt.project_claim, &identity.jwt.agent_claim].map(Option::is_some);
    [
        Pin {
            policy: rules.project_id.as_deref(),
            claim: claim(by_project).map(|it| it.project.as_deref()),
            header: identity.project_header.as_deref(),
            is_claimed: by_project,
        },
        Pin {
            policy: rules.agent_id.as_deref(),
            claim: claim(by_agent).map(|it| it.agent.as_deref()),
            header: identity.agent_header.as_deref(),
            is_claimed: by_agent,
        },
    ]
}

impl Pin<'_> {
    /// The pinned id: where there is a pin, the client's word does not count, even if the claim or the header is absent.
    /// `None`: the client decides.
    fn read(&self, head: &RequestHead) -> Result<Option<Option<String>>, InvalidField> {
        let pinned = match *self {
            Self { policy: Some(id), .. } => Some(id),
            Self { claim: Some(claim), .. } => claim,
            Self { header: Some(header), .. } => header_text(head.headers(), header)?,
            Self { is_claimed: true, .. } => None,
            _ => return Ok(None),
        };
        check_named("pin", pinned)?;
        Ok(Some(pinned.map(str::to_owned)))
    }
}

fn who(config: &Config, head: &RequestHead, body: BodyIds<'_>) -> Verdict {
    let rules = &config.memory.identity;
    let header: Vec<&[u8]> = match rules.header_enabled {
        true => head.headers().all(&rules.header).collect(),
        false => Vec::new(),
    };
    let mode = match rules.mode {
        IdentityMode::Development => identity::Mode::Development,
        IdentityMode::Production => identity::Mode::Production,
    };
    identity::identify(mode, &Credentials { header: &header, claims: head.claims.as_ref(), body })
}

fn learns(rules: &Effective, said: &HeaderOptions, ask: &Ask) -> bool {
    // A background response ends long after its exchange; its reply is never seen here.
    rules.auto_store
        && !said.no_auto_store
        && ask.options.auto_store != Some(false)
        && ask.store != Some(false)
        && !ask.background
}

/// The asked types within those a policy allows. An empty list asks for all; a
/// policy's types and others asked for have nothing in common: the policy's hold.
fn narrowed(allowed: &[String], asked: Option<Vec<String>>) -> Vec<String> {
    let asked = asked.unwrap_or_default();
    if allowed.is_empty() {
        return asked;
    }
    let both: Vec<String> = asked.into_iter().filter(|name| allowed.contains(name)).collect();
    if both.is_empty() { allowed.to_vec() } else { both }
}

#[cfg(test)]
mod tests;
