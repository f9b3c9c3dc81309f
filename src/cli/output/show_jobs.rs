//! Prints jobs and sessions for people.

use crate::{
    api::{EndedView, JobView, JobsView, RetriedView, SessionView, SessionsView},
    cli::output::text::{Width, cut, one_line},
};
use memgate_capture::JobStanding;

/// Indentation of a job's last error.
const INDENT: &str = "    ";

/// A page of jobs.
pub(crate) fn jobs(page: &JobsView, width: Width) -> String {
    if page.jobs.is_empty() {
        return "No jobs.".to_owned();
    }
    let mut lines: Vec<_> = page.jobs.iter().map(|one| job(one, width)).collect();
    lines.extend(more(page.next_cursor.as_deref()));
    lines.join("\n")
}

/// A job with its last error.
pub(crate) fn job(job: &JobView, width: Width) -> String {
    let when = job.due_at.strftime("%Y-%m-%d %H:%M:%S");
    let mut about = vec![
        job.id.to_string(),
        match job.state {
            JobStanding::Dead => format!("dead since {when}"),
            JobStanding::Pending => format!("due {when}"),
        },
        one_line(&job.kind),
    ];
    about.extend(job.user_id.as_deref().map(|user| format!("of {}", one_line(user))));
    about.extend(job.tenant_id.as_deref().map(|tenant| format!("in {}", one_line(tenant))));
    if job.tries > 0 {
        about.push(format!("failed {}×", job.tries));
    }
    let head = cut(&about.join("  "), width).into_owned();
    match &job.last_error {
        None => head,
        Some(error) => {
            let room = width.map(|width| width.saturating_sub(INDENT.len()));
            format!("{head}\n{INDENT}{}", cut(&one_line(error), room))
        }
    }
}

/// The number of jobs that will run again.
pub(crate) fn retried(done: &RetriedView) -> String {
    match done.retried {
        0 => "No dead jobs.".to_owned(),
        1 => "1 job will run again.".to_owned(),
        many => format!("{many} jobs will run again."),
    }
}

/// A page of sessions.
pub(crate) fn sessions(page: &SessionsView, width: Width) -> String {
    if page.sessions.is_empty() {
        return "No sessions.".to_owned();
    }
    let mut lines: Vec<_> =
        page.sessions.iter().map(|one| cut(&session(one), width).into_owned()).collect();
    lines.extend(more(page.next_cursor.as_deref()));
    lines.join("\n")
}

fn session(session: &SessionView) -> String {
    let minute = "%Y-%m-%d %H:%M";
    let until = match session.ended_at {
        Some(ended) => format!("ended {}", ended.strftime(minute)),
        None => format!("active {}", session.active_at.strftime(minute)),
    };
    let turns = if session.turns == 1 { "turn" } else { "turns" };
    format!(
        "{}  {} {turns}  from {}  {until}",
        one_line(&session.id),
        session.turns,
        session.started_at.strftime(minute),
    )
}

/// The result of ending a session.
pub(crate) fn ended(done: &EndedView) -> String {
    let turns = if done.turns == 1 { "turn" } else { "turns" };
    format!("Ended the session; it has {} {turns}.", done.turns)
}

fn more(cursor: Option<&str>) -> Option<String> {
    cursor.map(|cursor| format!("More: --cursor {}", one_line(cursor)))
}
