//! Writing an exchange: into a new turn, or into the turn it goes on with.
//!
//! A turn is known by its session, ordinal and user message. An exchange's
//! depth is the number of tool calls before its reply: one that goes deeper
//! continues a tool loop, one at a depth that has a reply regenerates it, and
//! what was deeper falls away.

use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension, named_params, params};

use crate::{
    journal::{
        columns::millis,
        edits,
        entry::Entry,
        jobs::{self, JobKind},
        orders::{self, ForgetOrder},
        read,
        sessions::{self, Session},
        tools,
    },
    session::{Place, digest},
    settings::Rules,
};
use memgate_core::memory::Space;
use memgate_dialect::Ending;

/// Result of recording an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// A new turn is durable.
    New,
    /// A known turn goes on, or has another reply.
    Known,
    /// It goes on with a turn that is not in the journal; nothing is written.
    Orphan,
}

pub(crate) fn record(c: &Connection, entry: &Entry, rules: &Rules) -> rusqlite::Result<Recorded> {
    if !entry.learn {
        return orders_alone(c, entry);
    }
    let (turn, recorded) = match &entry.place {
        Place::Within(id) => match read::turn_of_response(c, &entry.owner, id)? {
            Some(found) => (found.turn, Recorded::Known),
            None => return Ok(Recorded::Orphan),
        },
        Place::Latest => match latest(c, entry)? {
            Some(turn) => (turn, Recorded::Known),
            None => return Ok(Recorded::Orphan),
        },
        Place::Numbered(_) | Place::After(_) | Place::Next => {
            let session = sessions::resolve(c, entry, rules)?;
            find_or_begin(c, entry, &session, rules)?
        }
    };
    let depth = depth(c, entry, turn)?;
    let replaced = c
        .prepare_cached("DELETE FROM replies WHERE turn = ?1 AND depth >= ?2")?
        .execute(params![turn, depth])?;
    tools::write(c, entry, turn, depth)?;
    write_reply(c, entry, turn, depth)?;
    touch(c, entry, turn, replaced > 0, rules)?;
    if !entry.leaves_open() {
        sessions::complete(c, turn, rules, entry.ended)?;
    }
    if entry.ends_session {
        sessions::end(c, read::session_of(c, turn)?, rules, entry.ended)?;
    }
    Ok(recorded)
}

/// Owes the forget requests of an exchange. They apply even if the user opted out of learning; nothing else is written.
fn orders_alone(c: &Connection, entry: &Entry) -> rusqlite::Result<Recorded> {
    let forget = entry.orders.forget.clone();
    if !forget.is_empty() && !entry.leaves_open() {
        let requests = entry.orders.requests.clone();
        let order = ForgetOrder { forget, requests, asked_at: millis(entry.began) };
        orders::owe_without_turn(c, &entry.owner, &order, entry.ended)?;
    }
    Ok(Recorded::Orphan)
}

fn find_or_begin(
    c: &Connection,
    entry: &Entry,
    session: &Session,
    rules: &Rules,
) -> rusqlite::Result<(i64, Recorded)> {
    let ordinal = ordinal(c, entry, session)?;
    let known = c
        .prepare_cached("SELECT id FROM turns WHERE session = ?1 AND ordinal = ?2 AND digest = ?3")?
        .query_row(params![session.id, ordinal, entry.digest], |row| row.get(0))
        .optional()?;
    if let Some(turn) = known {
        edits::keep(c, turn)?;
        return Ok((turn, Recorded::Known));
    }
    let number = ordinal.to_string();
    // A session that was removed with all its turns may begin again by its name.
    let began: i64 = c
        .prepare_cached("SELECT started_at FROM sessions WHERE id = ?1")?
        .query_row([session.id], |row| row.get(0))?;
    let session_key = format!("{} {began}", session.name);
    let edited = edits::edited(c, entry, session.id, ordinal, rules)?;
    // The memories of a first version are hidden under its own key when its words come back.
    let owner = entry.owner.key();
    let mut made_of = vec![&*owner, &session_key, &number, &entry.digest];
    made_of.extend(edited.as_ref().map(|edited| &*edited.key));
    let key = digest(&made_of);
    let follows = match &entry.place {
        Place::After(id) => Some(id),
        _ => None,
    };
    let zone = entry.zone.iana_name().filter(|_| entry.zone != TimeZone::UTC);
    c.prepare_cached(
        "INSERT INTO turns (key, tenant, user, session, ordinal, digest, project, agent, follows,
                            user_text, speaker, zone, had_media, state, began_at, ended_at, orders, withheld,
                            history)
         VALUES (:key, :tenant, :user, :session, :ordinal, :digest, :project, :agent, :follows,
                 :text, :speaker, :zone, :media, 'open', :began, :ended, :orders, :withheld, :history)",
    )?
    .execute(named_params! {
        ":key": key, ":tenant": entry.owner.tenant(), ":user": entry.owner.name(),
        ":session": session.id, ":ordinal": ordinal, ":digest": entry.digest,
        ":project": entry.project, ":agent": entry.agent, ":follows": follows,
        ":text": entry.user_text, ":speaker": entry.speaker, ":zone": zone, ":media": entry.had_media,
        ":began": millis(entry.began), ":ended": millis(entry.ended),
        ":orders": entry.orders.json(), ":withheld": !entry.orders.forget.is_empty(),
        ":history": entry.history.as_ref().map(|history| &history.whole),
    })?;
    let turn = c.last_insert_rowid();
    if let Some(edited) = edited {
        edits::owe(c, entry, &edited, turn)?;
    }
    Ok((turn, Recorded::New))
}

fn ordinal(c: &Connection, entry: &Entry, session: &Session) -> rusqlite::Result<i64> {
    match &entry.place {
        Place::Numbered(ordinal) => Ok(i64::from(*ordinal)),
        Place::After(id) => {
            let before = read::turn_of_response(c, &entry.owner, id)?;
            Ok(before.map_or(1, |before| before.ordinal + 1))
        }
        Place::Within(_) | Place::Next | Place::Latest => c
            .prepare_cached("SELECT coalesce(max(ordinal), 0) + 1 FROM turns WHERE session = ?1")?
            .query_row([session.id], |row| row.get(0)),
    }
}

fn latest(c: &Connection, entry: &Entry) -> rusqlite::Result<Option<i64>> {
    let Some(session) = sessions::find(c, &entry.owner, entry.session.name())? else {
        return Ok(None);
    };
    c.prepare_cached("SELECT max(id) FROM turns WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
}

/// Tool calls before this reply. A request that brings the whole conversation
/// brings them; else they are what the reply that it follows had called.
fn depth(c: &Connection, entry: &Entry, turn: i64) -> rusqlite::Result<i64> {
    let called = |reply: Option<(i64, i64)>| reply.map_or(0, |(depth, calls)| depth + calls);
    match &entry.place {
        Place::Numbered(_) | Place::After(_) | Place::Next => {
            Ok(i64::try_from(entry.before.len()).unwrap_or(i64::MAX))
        }
        Place::Within(id) => c
            .prepare_cached(
                "SELECT depth, calls FROM replies WHERE turn = ?1 AND response_id = ?2",
            )?
            .query_row(params![turn, id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map(called),
        Place::Latest => c
            .prepare_cached(
                "SELECT depth, calls FROM replies WHERE turn = ?1 ORDER BY depth DESC LIMIT 1",
            )?
            .query_row([turn], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map(called),
    }
}

fn write_reply(c: &Connection, entry: &Entry, turn: i64, depth: i64) -> rusqlite::Result<()> {
    let reply = &entry.reply;
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    c.prepare_cached(
        "INSERT INTO replies (turn, depth, tenant, user, response_id, model, text, refusal, ending,
                              calls, input_tokens, output_tokens, request_id, ended_at)
         VALUES (:turn, :depth, :tenant, :user, :response, :model, :text, :refusal, :ending,
                 :calls, :input, :output, :request, :ended)",
    )?
    .execute(named_params! {
        ":turn": turn, ":depth": depth,
        ":tenant": entry.owner.tenant(), ":user": entry.owner.name(),
        ":response": reply.response_id, ":model": reply.model, ":text": reply.text,
        ":refusal": reply.refusal, ":ending": ending(&reply.ending),
        ":calls": i64::try_from(reply.calls.len()).unwrap_or(i64::MAX),
        ":input": reply.usage.map(|usage| tokens(usage.input)),
        ":output": reply.usage.map(|usage| tokens(usage.output)),
        ":request": entry.request_id, ":ended": millis(entry.ended),
    })?;
    Ok(())
}

/// The turn is open until it is said to be complete, and its session will be idle later.
fn touch(
    c: &Connection,
    entry: &Entry,
    turn: i64,
    repeated: bool,
    rules: &Rules,
) -> rusqlite::Result<()> {
    let session: i64 = c
        .prepare_cached(
            "UPDATE turns SET state = 'open', ended_at = max(ended_at, ?2), repeated = repeated OR ?3
             WHERE id = ?1 RETURNING session",
        )?
        .query_row(params![turn, millis(entry.ended), repeated], |row| row.get(0))?;
    let active: i64 = c
        .prepare_cached(
            "UPDATE sessions SET active_at = max(active_at, ?2), ended_at = NULL, left_at = NULL
             WHERE id = ?1 RETURNING active_at",
        )?
        .query_row(params![session, millis(entry.ended)], |row| row.get(0))?;
    if let Space::Session(_) = entry.owner.space() {
        jobs::ask_for_turn(c, JobKind::KeepSession, turn, entry.ended)?;
    }
    jobs::ask_for_end(c, session, &entry.owner, rules.idle_at(active), entry.ended)
}

/// The name of an ending; a stop's own reason is the server's text, not ours to keep.
fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Length => "length",
        Ending::ToolCalls => "tool_calls",
        Ending::Refused => "refused",
        Ending::ContentFilter => "content_filter",
        Ending::Incomplete(_) => "incomplete",
        Ending::Failed => "failed",
        Ending::Background => "background",
        Ending::CutOff => "cut_off",
    }
}
