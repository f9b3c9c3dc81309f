//! `memgate audit`: lists the audit log.

use std::process::ExitCode;

use jiff::Timestamp;

use crate::{
    api::{AuditEntryView, AuditRequest, AuditView, table::Audit},
    cli::{
        answer,
        options::{Common, count, time},
    },
    startup::Need,
};

/// Arguments of `memgate audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only entries about this user.
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Show only entries about this tenant.
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Show only entries of this day or time, or later.
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Maximum number of entries, 1 to 100 [default: 20].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Cursor printed at the end of the previous page.
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let request = AuditRequest {
            user_id: self.user,
            tenant_id: self.tenant,
            since: self.since,
            limit: self.limit,
            cursor: self.cursor,
        };
        answer::run::<Audit>(self.common, Need::Stored, request, |found, _| listed(found))
    }
}

fn listed(found: &AuditView) -> String {
    if found.entries.is_empty() {
        return "No entries.".to_owned();
    }
    let mut lines: Vec<String> = found.entries.iter().map(line).collect();
    lines.extend(found.next_cursor.as_ref().map(|next| format!("More: --cursor {next}")));
    lines.join("\n")
}

fn line(entry: &AuditEntryView) -> String {
    let mut line = format!("{:.3}  {}  {}", entry.at, entry.actor, entry.action);
    let mut add = |name: &str, value: Option<String>| {
        line.extend(value.map(|value| format!("  {name} {}", value.escape_debug())));
    };
    add("user", entry.user_ref.clone());
    add("tenant", entry.tenant_id.clone());
    add("target", entry.target.clone());
    add("count", entry.count.map(|count| count.to_string()));
    add("request", entry.request_id.clone());
    format!("{line}  ({})", entry.reason)
}
