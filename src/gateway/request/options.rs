//! Options of a request in headers of our own. They say what the body fields say, for upstreams that refuse unknown body
//! fields.

use jiff::tz::TimeZone;

use crate::gateway::request::head::Headers;
use memgate_core::{memory::check_id, zone as zones};
use memgate_dialect::InvalidField;

/// The options that headers name.
#[derive(Debug, Default)]
pub(super) struct HeaderOptions {
    pub(super) off: bool,
    pub(super) no_auto_store: bool,
    pub(super) ends_session: bool,
    pub(super) no_standing: bool,
    pub(super) types: Option<Vec<String>>,
    pub(super) limit: Option<usize>,
    pub(super) threshold: Option<f32>,
    pub(super) project: Option<String>,
    pub(super) zone: Option<TimeZone>,
}

impl HeaderOptions {
    /// Reads our headers.
    ///
    /// # Errors
    /// The header whose value cannot be read.
    pub(super) fn read(
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
            no_standing: narrows(headers, "x-memory-standing", "off", "on")?,
            types: types(headers, known_types)?,
            limit: number(headers, "x-memory-limit", "an integer from 1 to 50", |text| {
                text.parse().ok().filter(|limit| (1..=50).contains(limit))
            })?,
            threshold: number(headers, "x-memory-threshold", "a number from 0 to 1", |text| {
                text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
            })?,
            project: project(headers)?,
            zone: zone_header(headers)?,
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
    check_named(NAME, named)?;
    Ok(named.map(str::to_owned))
}

fn zone_header(headers: &Headers) -> Result<Option<TimeZone>, InvalidField> {
    const NAME: &str = "x-memory-timezone";
    text(headers, NAME)?.map(|name| zone(NAME, name.trim())).transpose()
}

/// The time zone that a field names.
pub(super) fn zone(param: &str, name: &str) -> Result<TimeZone, InvalidField> {
    let unknown = || InvalidField::invalid_value(param, format!("{param} {}", zones::RULE));
    zones::named(name).ok_or_else(unknown)
}

/// Checks a project's or agent's id: an empty one would look like none, a long one would be in every memory.
pub(super) fn check_named(param: &str, id: Option<&str>) -> Result<(), InvalidField> {
    id.map_or(Ok(()), check_id)
        .map_err(|cause| InvalidField::invalid_value(param, format!("{param} {cause}")))
}

/// A header's text. An unreadable one must not count as absent: that would ask for more.
pub(super) fn text<'a>(headers: &'a Headers, name: &str) -> Result<Option<&'a str>, InvalidField> {
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
