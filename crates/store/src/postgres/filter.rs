//! Renders filters and scopes as SQL. Values are always parameters; the text has only constant
//! names and operators. The semantics are those of `Filter::matches`.

use jiff::Timestamp;
use tokio_postgres::types::{ToSql, Type};

use crate::{
    micros::{micros, micros_up},
    owner_documents::{fair_share_sql, space_keys},
    postgres::{
        connection::transaction::Parameter,
        rows::{
            labels::{entity, has_member, member, tag},
            stored,
        },
    },
    sql::{AGENT_KEY, SESSION_KEY, column, operator, private, public},
};
use memgate_core::memory::{
    Comparison, Filter, MemoryKind, MemoryType, MetadataTest, Reader, ScopeQuery, Source, Status,
    TimeField, Within,
};

/// The statuses of memories in use, as SQL.
macro_rules! in_use {
    () => {
        "status IN ('active', 'review')"
    };
}
pub(super) use in_use;

/// A condition with its parameters, in order.
#[derive(Default)]
pub(super) struct Condition {
    pub(super) sql: String,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Condition {
    /// The memories of a scope that have not expired.
    pub(super) fn scope(scope: &ScopeQuery, now: Timestamp) -> Self {
        let mut it = Self::default();
        it.text("owner = ", scope.owner.key());
        it = it.unexpired(now);
        it.within("project", &scope.projects);
        it.within("agent", &scope.agents);
        if let Some(session) = &scope.session_id {
            it.text(" AND session = ", stored(session));
        }
        if !scope.types.is_empty() {
            it.sql.push_str(" AND ");
            it.one_of("type", scope.types.iter().map(|name| stored(name)));
        }
        it
    }

    /// The memories that others share with a reader: `Reader::is_shared_with`, as SQL.
    pub(super) fn shared(reader: &Reader) -> Self {
        let mut it = Self::default();
        it.text("tenant = ", reader.owner.tenant_key());
        it.sql.push_str(concat!(" AND visibility <> ", private!()));
        it.text(" AND owner <> ", reader.owner.key());
        let [_, agent] = space_keys(reader);
        for (kind, but) in [(SESSION_KEY, String::new()), (AGENT_KEY, agent)] {
            it.text(" AND (NOT starts_with(split_part(owner, '/', 2), ", kind.to_owned());
            it.text(") OR owner = ", but);
            it.sql.push(')');
        }
        it.within("agent", &Within::visible_to(reader.agent.as_deref()));
        it.sql.push_str(concat!(" AND (visibility = ", public!()));
        let user = reader.owner.user().unwrap_or_default().to_owned();
        it.text(" OR visibility::jsonb -> 'users' ? ", user);
        it.value(" OR visibility::jsonb -> 'roles' ?| ", reader.roles.clone(), Type::TEXT_ARRAY);
        it.sql.push(')');
        it
    }

    fn within(&mut self, column: &str, within: &Within) {
        match within {
            Within::All => {}
            Within::None => self.sql.push_str(&format!(" AND {column} IS NULL")),
            Within::Only(id) => self.text(&format!(" AND {column} = "), stored(id)),
            Within::Shared(id) => {
                self.text(&format!(" AND ({column} IS NULL OR {column} = "), stored(id));
                self.sql.push(')');
            }
        }
    }

    /// Restricts to memories that have not expired.
    pub(super) fn unexpired(mut self, now: Timestamp) -> Self {
        self.number(" AND (expires_at IS NULL OR expires_at > ", micros(now));
        self.sql.push(')');
        self
    }

    /// Restricts to memories in use.
    pub(super) fn in_use(mut self) -> Self {
        self.sql.push_str(concat!(" AND ", in_use!()));
        self
    }

    /// Restricts to what a search looks at.
    pub(super) fn searched(mut self, scope: &ScopeQuery) -> Self {
        if !scope.searches(MemoryType::ANSWER) {
            self.text(" AND type <> ", MemoryType::ANSWER.to_owned());
        }
        self
    }

    /// Those that are searched of what others share with a reader, newest first: a fair share of each owner.
    pub(super) fn fair_share(reader: &Reader) -> Self {
        let mut it = Self::shared(reader).in_use();
        let [organisation, agent] = space_keys(reader);
        let [before, after] = fair_share_sql("number", &it.sql);
        // The condition stays for the rows themselves, so that they are read by the tenant's index.
        it.text(&format!(" AND {before}"), organisation);
        it.text(", ", agent);
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

    /// The parameters with their types.
    pub(super) fn parameters(&self) -> Vec<Parameter<'_>> {
        let values = self.values.iter();
        values.map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone())).collect()
    }

    /// Adds a text after `sql`.
    pub(super) fn text(&mut self, sql: &str, value: String) {
        self.value(sql, value, Type::TEXT);
    }

    /// Adds a whole number after `sql`.
    pub(super) fn number(&mut self, sql: &str, value: i64) {
        self.value(sql, value, Type::INT8);
    }

    fn value(&mut self, sql: &str, value: impl ToSql + Sync + Send + 'static, kind: Type) {
        self.values.push((Box::new(value), kind));
        self.sql.push_str(&format!("{sql}${}", self.values.len()));
    }

    /// Renders a filter as an expression that is never NULL, so that it can be negated.
    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::And(all) => self.joined(all, " AND ", "true"),
            Filter::Or(any) => self.joined(any, " OR ", "false"),
            Filter::Not(inner) => {
                self.sql.push_str("(NOT ");
                self.filter(inner);
                self.sql.push(')');
            }
            Filter::Kind(all) => {
                self.one_of("kind", all.iter().map(|kind: &MemoryKind| kind.name().to_owned()));
            }
            Filter::Type(names) => self.one_of("type", names.iter().map(|name| stored(name))),
            Filter::Status(all) => {
                self.one_of("status", all.iter().map(|status: &Status| status.name().to_owned()));
            }
            Filter::Source(all) => {
                self.one_of("source", all.iter().map(|source: &Source| source.name().to_owned()));
            }
            Filter::Tag(name) => self.labelled("", tag(name)),
            // An absent member is null.
            Filter::Metadata(MetadataTest { key, equals }) if equals.is_null() => {
                self.labelled("NOT ", has_member(key));
            }
            Filter::Metadata(MetadataTest { key, equals }) => {
                self.labelled("", member(key, equals));
            }
            Filter::Entity(name) => self.labelled("", entity(name)),
            Filter::Text(text) => {
                let lower = stored(&text.to_lowercase());
                self.call("(strpos(coalesce(folded, content), ", lower, ") > 0)");
            }
            Filter::Importance(how, value) => self.compared("importance", *how, *value),
            Filter::Confidence(how, value) => self.compared("confidence", *how, *value),
            Filter::Time { field, from, until } => self.time(*field, *from, *until),
            Filter::Session(id) => self.call("(session IS NOT DISTINCT FROM ", stored(id), ")"),
            Filter::Project(id) => self.call("(project IS NOT DISTINCT FROM ", stored(id), ")"),
        }
    }

    /// A text between two pieces of SQL.
    fn call(&mut self, sql: &str, value: String, after: &str) {
        self.text(sql, value);
        self.sql.push_str(after);
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

    fn one_of(&mut self, column: &str, listed: impl Iterator<Item = String>) {
        let listed: Vec<String> = listed.collect();
        self.value(&format!("({column} = ANY("), listed, Type::TEXT_ARRAY);
        self.sql.push_str("))");
    }

    /// `labels` contains this one.
    fn labelled(&mut self, not: &str, label: String) {
        self.value(&format!("({not}labels @> "), vec![label], Type::TEXT_ARRAY);
        self.sql.push(')');
    }

    fn compared(&mut self, column: &str, how: Comparison, value: f32) {
        // PostgreSQL sorts NaN above all numbers; here it compares with none.
        if value.is_nan() {
            self.sql.push_str("false");
            return;
        }
        let operator = operator(how);
        self.value(&format!("coalesce({column} {operator} "), value, Type::FLOAT4);
        self.sql.push_str(", false)");
    }

    fn time(&mut self, field: TimeField, from: Option<Timestamp>, until: Option<Timestamp>) {
        let column = column(field);
        self.sql.push_str(&format!("({column} IS NOT NULL"));
        if let Some(from) = from {
            self.number(&format!(" AND {column} >= "), micros_up(from));
        }
        if let Some(until) = until {
            self.number(&format!(" AND {column} < "), micros_up(until));
        }
        self.sql.push(')');
    }
}
