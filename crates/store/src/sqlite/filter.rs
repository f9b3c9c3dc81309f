//! Renders filters and scopes as SQL. Values are always parameters; the text has only constant
//! names and operators. The semantics are those of `Filter::matches`.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::Value,
};

use crate::{
    micros::{micros, micros_up},
    owner_documents::{fair_share_sql, space_keys},
    sql::{AGENT_KEY, SESSION_KEY, column, operator, private, public},
};
use memgate_core::memory::{
    Comparison, Filter, MemoryKind, MemoryType, Owner, Reader, ScopeQuery, Source, Status,
    TimeField, Within,
};
use memgate_text::entity::entity_key;

/// The statuses of memories in use, as SQL.
pub(super) const IN_USE: &str = "status IN ('active', 'review')";

/// Bounds of the partition keys of a tenant: they begin with the tenant and a slash, which nothing else
/// of a tenant's id holds.
fn tenant_range(owner: &Owner) -> [String; 2] {
    let tenant = owner.tenant_key();
    // The character after the slash.
    [format!("{tenant}/"), format!("{tenant}0")]
}

/// A condition with its parameters, in order.
#[derive(Debug, Default)]
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
    /// The partition keys of the owners: from the first, below the second.
    owners: Owners,
}

/// The owners that a condition is about.
#[derive(Debug)]
enum Owners {
    /// The memories of one partition key.
    One(String),
    /// The memories of a tenant: the keys lie between these.
    Tenant([String; 2]),
}

impl Default for Owners {
    fn default() -> Self {
        Self::One(String::new())
    }
}

impl Condition {
    /// The memories of a scope that have not expired.
    pub(super) fn scope(scope: &ScopeQuery, now: Timestamp) -> Self {
        let key = scope.owner.key();
        let mut it = Self { owners: Owners::One(key.clone()), ..Self::default() };
        it.test("owner = ", key);
        it = it.unexpired(now);
        it.within("project", &scope.projects);
        it.within("agent", &scope.agents);
        if let Some(session) = &scope.session_id {
            it.sql.push_str(" AND ");
            it.test("session IS ", session.clone());
        }
        if !scope.types.is_empty() {
            it.sql.push_str(" AND ");
            it.one_of("type", &scope.types, |name| name.clone());
        }
        it
    }

    /// The memories that others share with a reader: `Reader::is_shared_with`, as SQL.
    pub(super) fn shared(reader: &Reader) -> Self {
        let [from, until] = tenant_range(&reader.owner);
        // Characters are counted from 1.
        let space = from.chars().count() + 1;
        let mut it =
            Self { owners: Owners::Tenant([from.clone(), until.clone()]), ..Self::default() };
        it.test("owner >= ", from);
        it.test(" AND owner < ", until);
        it.sql.push_str(concat!(" AND visibility <> ", private!()));
        it.test(" AND owner <> ", reader.owner.key());
        let [_, agent] = space_keys(reader);
        for (kind, but) in [(SESSION_KEY, String::new()), (AGENT_KEY, agent)] {
            let length = kind.len();
            it.test(&format!(" AND (substr(owner, {space}, {length}) <> "), kind.to_owned());
            it.test(" OR owner = ", but);
            it.sql.push(')');
        }
        it.within("agent", &Within::visible_to(reader.agent.as_deref()));
        it.sql.push_str(concat!(" AND (visibility = ", public!()));
        let user = reader.owner.user().unwrap_or_default().to_owned();
        it.test(" OR EXISTS (SELECT 1 FROM json_each(iif(json_valid(visibility), visibility, '{}'), '$.users') WHERE value = ", user);
        it.sql.push_str(") OR EXISTS (SELECT 1 FROM json_each(iif(json_valid(visibility), visibility, '{}'), '$.roles') WHERE ");
        it.one_of("value", &reader.roles, Clone::clone);
        it.sql.push_str("))");
        it
    }

    fn within(&mut self, column: &str, within: &Within) {
        match within {
            Within::All => {}
            Within::None => self.sql.push_str(&format!(" AND {column} IS NULL")),
            Within::Only(id) => self.test(&format!(" AND {column} = "), id.clone()),
            Within::Shared(id) => {
                self.test(&format!(" AND ({column} IS NULL OR {column} = "), id.clone());
                self.sql.push(')');
            }
        }
    }

    /// Restricts to memories that have not expired.
    pub(super) fn unexpired(mut self, now: Timestamp) -> Self {
        self.test(" AND (expires_at IS NULL OR expires_at > ", micros(now));
        self.sql.push(')');
        self
    }

    /// Restricts to memories in use.
    pub(super) fn in_use(mut self) -> Self {
        self.sql.push_str(" AND ");
        self.sql.push_str(IN_USE);
        self
    }

    /// Restricts to what a search looks at.
    pub(super) fn searched(mut self, scope: &ScopeQuery) -> Self {
        if !scope.searches(MemoryType::ANSWER) {
            self.test(" AND type <> ", MemoryType::ANSWER.to_owned());
        }
        self
    }

    /// Those that are searched of what others share with a reader, newest first: a fair share of each owner.
    pub(super) fn fair_share(reader: &Reader) -> Self {
        let mut it = Self::shared(reader).in_use();
        let [organisation, agent] = space_keys(reader);
        let [before, after] = fair_share_sql("row", &it.sql);
        it.sql.clear();
        it.test(&before, organisation);
        it.test(", ", agent);
        it.sql.push_str(&after);
        it
    }

    /// Restricts to memories that match a filter.
    pub(super) fn filtered(mut self, filter: Option<&Filter>) -> Self {
        if let Some(filter) = filter {
            self.sql.push_str(" AND ");
            self.filter(filter);
        }
        self
    }

    /// Adds a parameter after `sql`.
    pub(super) fn test(&mut self, sql: &str, value: impl Into<Value>) {
        self.sql.push_str(sql);
        self.sql.push('?');
        self.values.push(value.into());
    }

    /// Renders a filter as an expression that is never NULL, so that it can be negated.
    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::And(all) => self.joined(all, " AND ", "1"),
            Filter::Or(any) => self.joined(any, " OR ", "0"),
            Filter::Not(inner) => {
                self.sql.push_str("(NOT ");
                self.filter(inner);
                self.sql.push(')');
            }
            Filter::Kind(all) => self.one_of("kind", all, |k: &MemoryKind| k.name().to_owned()),
            Filter::Type(names) => self.one_of("type", names, |name| name.clone()),
            Filter::Status(all) => self.one_of("status", all, |s: &Status| s.name().to_owned()),
            Filter::Source(all) => self.one_of("source", all, |s: &Source| s.name().to_owned()),
            Filter::Tag(tag) => self.call("memgate_has_tag(tags, ", tag.clone()),
            Filter::Metadata(test) => {
                self.test("memgate_member_is(metadata, ", test.key.clone());
                self.call(", ", test.equals.to_string());
            }
            Filter::Text(text) => {
                let lines = "memgate_contains(content || ifnull(char(10) || reply, ''), ";
                self.call(lines, text.to_lowercase());
            }
            Filter::Importance(how, value) => self.number("importance", *how, *value),
            Filter::Confidence(how, value) => self.number("confidence", *how, *value),
            Filter::Time { field, from, until } => self.time(*field, *from, *until),
            Filter::Session(id) => self.call("(session IS ", id.clone()),
            Filter::Project(id) => self.call("(project IS ", id.clone()),
            Filter::Entity(name) => {
                self.sql.push_str(
                    "row IN (SELECT memory FROM mentions JOIN entities USING (entity) WHERE ",
                );
                match &self.owners {
                    Owners::One(key) => self.test("entities.owner = ", key.clone()),
                    Owners::Tenant([from, until]) => {
                        let (from, until) = (from.clone(), until.clone());
                        self.test("entities.owner >= ", from);
                        self.test(" AND entities.owner < ", until);
                    }
                }
                self.call(" AND entities.name = ", entity_key(name));
            }
        }
    }

    /// A parameter followed by the closing bracket.
    fn call(&mut self, sql: &str, value: String) {
        self.test(sql, value);
        self.sql.push(')');
    }

    fn joined(&mut self, parts: &[Filter], operator: &str, none: &str) {
        self.sql.push('(');
        for (place, part) in parts.iter().enumerate() {
            self.sql.push_str(if place == 0 { "" } else { operator });
            self.filter(part);
        }
        self.sql.push_str(if parts.is_empty() { none } else { "" });
        self.sql.push(')');
    }

    fn one_of<T>(&mut self, column: &str, listed: &[T], name: impl Fn(&T) -> String) {
        self.sql.push_str(column);
        self.sql.push_str(" IN (");
        for (place, value) in listed.iter().enumerate() {
            self.test(if place == 0 { "" } else { ", " }, name(value));
        }
        self.sql.push(')');
    }

    fn number(&mut self, column: &str, how: Comparison, value: f32) {
        let operator = operator(how);
        // A NaN parameter arrives as NULL; IFNULL makes it false like any unknown value.
        self.test(&format!("IFNULL({column} {operator} "), f64::from(value));
        self.sql.push_str(", 0)");
    }

    fn time(&mut self, field: TimeField, from: Option<Timestamp>, until: Option<Timestamp>) {
        let column = column(field);
        self.sql.push_str(&format!("({column} IS NOT NULL"));
        if let Some(from) = from {
            self.test(&format!(" AND {column} >= "), micros_up(from));
        }
        if let Some(until) = until {
            self.test(&format!(" AND {column} < "), micros_up(until));
        }
        self.sql.push(')');
    }
}

/// Registers the SQL functions that filters use.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    // The last text and its lower case: a filter may have many conditions on one text.
    let last = Mutex::new((String::new(), String::new()));
    connection.create_scalar_function("memgate_contains", 2, flags, move |call| {
        let (content, wanted) = (text(call, 0)?, text(call, 1)?);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != content {
            *last = (content.to_owned(), content.to_lowercase());
        }
        Ok(last.1.contains(wanted))
    })?;
    connection.create_scalar_function("memgate_has_tag", 2, flags, |call| {
        let tags: Vec<String> = serde_json::from_str(text(call, 0)?).unwrap_or_default();
        let wanted = text(call, 1)?;
        Ok(tags.iter().any(|tag| tag == wanted))
    })?;
    connection.create_scalar_function("memgate_member_is", 3, flags, |call| {
        let metadata: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text(call, 0)?).unwrap_or_default();
        let wanted: serde_json::Value = serde_json::from_str(text(call, 2)?).unwrap_or_default();
        Ok(metadata.get(text(call, 1)?).unwrap_or(&serde_json::Value::Null) == &wanted)
    })
}

fn text<'a>(call: &'a Context<'_>, argument: usize) -> rusqlite::Result<&'a str> {
    Ok(call.get_raw(argument).as_str()?)
}
