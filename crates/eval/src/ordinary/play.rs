//! Plays a story: learns its sessions at their dates, reads the store, then puts every question on its date.

use anyhow::Result;
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{
    matching::Text,
    row::{Ask, Story},
};
use crate::{
    evaluation::Services,
    replay::{Asked, Recalled, Session, learn_all, selection, stored},
};
use memgate_core::memory::{Memory, MemoryId, MemoryKind, Owner};
use memgate_recall::{Hit, MAY_HAVE_CHANGED, Skip};

/// The hour at which a session begins.
const SESSION_HOUR: i8 = 9;
/// The hour at which a question is asked.
const ASK_HOUR: i8 = 18;

/// The result of a story.
#[derive(Debug)]
pub(super) struct Played {
    /// Everything in the store after the last session, whatever its status.
    pub(super) memories: Vec<Memory>,
    /// When the last session had ended.
    pub(super) ended: Timestamp,
    /// One for each question.
    pub(super) answers: Vec<Answer>,
}

/// The result of a question.
#[derive(Debug)]
pub(super) struct Answer {
    /// Why memory was not searched.
    pub(super) skipped: Option<Skip>,
    /// The context for the model; empty if there is none.
    pub(super) context: String,
    pub(super) lines: Vec<Line>,
    /// All candidates with their relevance, best first, before threshold and limit; only where they are asked for.
    pub(super) ranked: Vec<Hit>,
}

/// A memory in a context.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// As the model reads it.
    pub(super) text: String,
    /// `None` if the memory was not in the store after the last session.
    pub(super) kind: Option<MemoryKind>,
}

impl Line {
    /// The line without the marks that recall put before it, and these marks.
    fn parts(&self) -> (&str, &str) {
        match self.text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((marks, content)) => (marks, content),
            None => ("", &self.text),
        }
    }

    /// The text with its marks.
    pub(super) fn marked(&self) -> Text {
        Text::new(&self.text)
    }

    /// The text without its marks.
    pub(super) fn content(&self) -> Text {
        Text::new(self.parts().1)
    }

    /// The content, as it is written.
    pub(super) fn words(&self) -> &str {
        self.parts().1
    }

    /// Whether its marks say that it is over, or may be.
    pub(super) fn has_end(&self) -> bool {
        let ends = |mark: &str| mark.starts_with("until ") || mark.starts_with(MAY_HAVE_CHANGED);
        self.parts().0.split(", ").any(ends)
    }
}

/// Plays a story in the memory of a user of its own.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn play(memory: &Services, story: &Story, explain: bool) -> Result<Played> {
    let owner = Owner::of_user(&story.id)?;
    let sessions = story.sessions.iter().map(|session| {
        let turns = session.turns.iter().map(|said| said.turn.clone()).collect();
        Ok(Session { date: at(session.date, SESSION_HOUR)?, turns })
    });
    learn_all(memory, &owner, &story.id, &sessions.collect::<Result<Vec<_>>>()?).await?;
    let ended = memory.clock.now();
    let memories = stored(memory, &owner).await?;
    let mut answers = Vec::with_capacity(story.asks.len());
    for ask in &story.asks {
        answers.push(answer(memory, &owner, ask, &memories, explain).await?);
    }
    Ok(Played { memories, ended, answers })
}

fn at(date: Date, hour: i8) -> Result<Timestamp> {
    Ok(date.at(hour, 0, 0, 0).to_zoned(TimeZone::UTC)?.timestamp())
}

async fn answer(
    memory: &Services,
    owner: &Owner,
    ask: &Ask,
    memories: &[Memory],
    explain: bool,
) -> Result<Answer> {
    let at = at(ask.date, ASK_HOUR)?;
    let selection = selection(&memory.config);
    let (before, user) = (&ask.turns, &ask.user);
    let asked = Asked { owner, at, before, user, selection, ranked: explain };
    let Recalled { context, ranked, skipped, .. } = asked.recall(memory).await?;
    let texts = context.text.lines().filter_map(|line| line.strip_prefix("- "));
    let kind =
        |id: &MemoryId| memories.iter().find(|memory| memory.id == *id).map(|memory| memory.kind);
    let lines = texts.zip(&context.shown);
    Ok(Answer {
        skipped,
        lines: lines.map(|(text, id)| Line { text: text.to_owned(), kind: kind(id) }).collect(),
        context: context.text,
        ranked,
    })
}
