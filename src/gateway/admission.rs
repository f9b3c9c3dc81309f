//! What applies to a request: who asks, whether memory acts on it, and how.
//!
//! A pure function, because recall and capture see the same request on two
//! streams and must come to the same judgement without talking to each other.

use super::head::{Headers, RequestHead};
use crate::{
    config::{Config, Effective, IdentityMode, Placement, Subject},
    dialect::{self, Ask, InvalidField},
    identity::{self, BodyIds, Credentials, Identity, Verdict},
    memory::check_id,
    recall::Terms,
};

/// The judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// The client is told what is wrong with its request.
    Invalid(InvalidField),
    /// A header of ours cannot be read: neither recall nor learning. The request passes, because headers are also set by
    /// proxies that a client knows nothing of.
    BadHeader,
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
    /// Who asks.
    pub identity: Identity,
    /// Whether is learnt from the exchange.
    pub learn: bool,
    /// Whether the session ends with this exchange.
    pub ends_session: bool,
    /// How much is presented, of what.
    pub terms: Terms,
    /// Where the context goes.
    pub placement: dialect::Placement,
    /// The project asked for.
    pub project_id: Option<String>,
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
    check_project("memory_context.project_id", options.project_id.as_deref())?;
    let end_header = &config.memory.sessions.end_header;
    let said = match HeaderOptions::read(head.headers(), types, end_header) {
        Ok(said) => said,
        Err(invalid) => {
            tracing::debug!(header = invalid.param, "a header cannot be read, memory is off");
            return Ok(Admission::BadHeader);
        }
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
        Verdict::Unknown | Verdict::Invalid { .. } => return Ok(Admission::NoIdentity),
    };
    Ok(Admission::Admitted(Box::new(Admitted {
        identity,
        learn: learns(&rules, &said, ask),
        ends_session: said.ends_session,
        placement: placement(rules.placement),
        project_id: options.project_id.clone().or(said.project),
        terms: Terms {
            limit: options.limit.map(usize::from).or(said.limit).unwrap_or(rules.retrieval_limit),
            threshold: options.threshold.or(said.threshold).unwrap_or(rules.similarity_threshold),
            types: narrowed(&rules.memory_types, asked),
        },
    })))
}

/// Who asks, as far as the head alone tells.
#[must_use]
pub(super) fn named_by_head(config: &Config, head: &RequestHead) -> Option<Identity> {
    match who(config, head, BodyIds::default()) {
        Verdict::Known(identity) => Some(identity),
        Verdict::Unknown | Verdict::Refused | Verdict::Invalid { .. } => None,
    }
}

fn who(config: &Config, head: &RequestHead, body: BodyIds<'_>) -> Verdict {
    let rules = &config.memory.identity;
    let header: Vec<&[u8]> = head.headers().all(&rules.header).collect();
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

fn placement(configured: Placement) -> dialect::Placement {
    match configured {
        Placement::System => dialect::Placement::System,
        Placement::BeforeLastUser => dialect::Placement::BeforeLastUser,
        Placement::LastUser => dialect::Placement::LastUser,
    }
}

/// The headers that say what the body fields say, for upstreams that refuse
/// unknown body fields.
#[derive(Debug, Default)]
struct HeaderOptions {
    off: bool,
    no_auto_store: bool,
    ends_session: bool,
    types: Option<Vec<String>>,
    limit: Option<usize>,
    threshold: Option<f32>,
    project: Option<String>,
}

impl HeaderOptions {
    fn read(
        headers: &Headers,
        known_types: &[String],
        end_header: &str,
    ) -> Result<Self, InvalidField> {
        let off = narrows(headers, "x-memory", "off", "on")?;
        let disabled = narrows(headers, "x-disable-router-memory", "true", "false")?;
        Ok(Self {
            off: off || disabled,
            no_auto_store: narrows(headers, "x-memory-auto-store", "false", "true")?,
            ends_session: ends_session(headers, end_header)?,
            types: types(headers, known_types)?,
            limit: number(headers, "x-memory-limit", "an integer from 1 to 50", |text| {
                text.parse().ok().filter(|limit| (1..=50).contains(limit))
            })?,
            threshold: number(headers, "x-memory-threshold", "a number from 0 to 1", |text| {
                text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
            })?,
            project: project(headers)?,
        })
    }
}

/// Whether a header asks for less. Sent twice, the one that does counts.
fn narrows(
    headers: &Headers,
    name: &str,
    less: &'static str,
    more: &'static str,
) -> Result<bool, InvalidField> {
    let mut narrows = false;
    for value in headers.all(name).map(<[u8]>::trim_ascii) {
        if value.eq_ignore_ascii_case(less.as_bytes()) {
            narrows = true;
        } else if !value.eq_ignore_ascii_case(more.as_bytes()) {
            return Err(InvalidField::invalid_value(
                name,
                format!("{name} must be {less} or {more}"),
            ));
        }
    }
    Ok(narrows)
}

/// Whether a header ends the session. Sent twice, the one that does counts.
fn ends_session(headers: &Headers, name: &str) -> Result<bool, InvalidField> {
    let mut ends = false;
    for value in headers.all(name).map(<[u8]>::trim_ascii) {
        match value.to_ascii_lowercase().as_slice() {
            b"true" | b"1" => ends = true,
            b"false" | b"0" => {}
            _ => {
                let cause = format!("{name} must be true, 1, false or 0");
                return Err(InvalidField::invalid_value(name, cause));
            }
        }
    }
    Ok(ends)
}

fn project(headers: &Headers) -> Result<Option<String>, InvalidField> {
    const NAME: &str = "x-memory-project";
    let named = text(headers, NAME)?.map(str::trim);
    check_project(NAME, named)?;
    Ok(named.map(str::to_owned))
}

/// An empty project would look like none, a long one would stand in every memory.
fn check_project(param: &str, project: Option<&str>) -> Result<(), InvalidField> {
    project
        .map_or(Ok(()), check_id)
        .map_err(|cause| InvalidField::invalid_value(param, format!("{param} {cause}")))
}

/// A header's text. One that cannot be read must not pass for absent: that would ask for more.
fn text<'a>(headers: &'a Headers, name: &str) -> Result<Option<&'a str>, InvalidField> {
    let unreadable = |_| InvalidField::invalid_value(name, format!("{name} must be UTF-8"));
    headers.first(name).map(|value| std::str::from_utf8(value).map_err(unreadable)).transpose()
}

fn number<T>(
    headers: &Headers,
    name: &str,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, InvalidField> {
    match headers.first(name) {
        None => Ok(None),
        Some(value) => std::str::from_utf8(value)
            .ok()
            .and_then(|text| parse(text.trim()))
            .map(Some)
            .ok_or_else(|| InvalidField::invalid_value(name, format!("{name} must be {what}"))),
    }
}

fn types(headers: &Headers, known: &[String]) -> Result<Option<Vec<String>>, InvalidField> {
    const NAME: &str = "x-memory-types";
    let Some(text) = text(headers, NAME)? else { return Ok(None) };
    let names: Vec<String> =
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(Some(names)),
        Some(_) => Err(InvalidField::invalid_value(
            NAME,
            format!("{NAME} must name some of: {}", known.join(", ")),
        )),
    }
}

#[cfg(test)]
mod tests;
