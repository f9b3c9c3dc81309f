//! One story in detail, for a person who looks for the cause of a figure.

use std::fmt::{Display, Write as _};

use super::{
    figures::{is_found, is_kept, is_shown_as_active},
    judged::Judged,
    matching::Text,
    play::{Answer, Played},
    row::{Ask, State, Story},
    stored::Stored,
};

/// Everything in the store with what it matched, the facts that were missed, and every question with its context.
pub(super) fn story(story: &Story, played: &Played) -> String {
    let memories: Vec<Stored<'_>> =
        played.memories.iter().map(|it| Stored::of(it, story, played.ended)).collect();
    let mut text = format!("{} ({})\n\nMEMORIES\n", story.id, story.lang);
    for memory in &memories {
        text.push_str(&told(story, memory));
    }
    text.push_str("\nFACTS\n");
    for (at, fact) in story.facts.iter().enumerate() {
        let verdict = match fact.state {
            State::Now if is_found(at, &memories) => "found",
            State::Now => "MISSED",
            State::Past if is_shown_as_active(at, story, &memories) => "SHOWN AS ACTIVE",
            State::Gone if is_kept(at, &memories) => "KEPT",
            State::Past | State::Gone => "ok",
        };
        _ = writeln!(
            text,
            "  #{at} {:?} {}: {verdict}: {}",
            fact.state,
            fact.kind.name(),
            fact.says
        );
    }
    text.push_str("\nASKS\n");
    for (ask, answer) in story.asks.iter().zip(&played.answers) {
        text.push_str(&question(story, ask, answer));
    }
    text
}

/// A memory with its class and what it matched.
fn told(story: &Story, stored: &Stored<'_>) -> String {
    let memory = stored.memory;
    let mut notes = vec![format!("{:?}/{:?}", memory.kind, stored.class)];
    notes.push(memory.status.name().to_owned());
    if let Some(until) = memory.valid_until {
        notes.push(format!("until {}", until.strftime("%Y-%m-%d")));
    }
    if let Some(fragment) = stored.fragment.filter(|_| stored.is_clean()) {
        notes.push(format!("FRAGMENT {fragment:?}"));
    }
    match () {
        () if stored.is_junk() && stored.is_clean() => notes.push("JUNK".to_owned()),
        () if stored.facts.is_empty() && stored.acceptable => notes.push("acceptable".to_owned()),
        () => {
            let facts =
                stored.facts.iter().filter_map(|at| Some((at, story.facts.get(*at)?.state)));
            notes.extend(facts.map(|(at, state)| match state {
                State::Now => format!("#{at}"),
                State::Past | State::Gone => format!("#{at} {state:?}"),
            }));
        }
    }
    format!(
        "  {} [{}] {}\n",
        memory.created_at.strftime("%Y-%m-%d"),
        notes.join(", "),
        memory.text().replace('\n', " / ")
    )
}

fn question(story: &Story, ask: &Ask, answer: &Answer) -> String {
    let judged = Judged::of(story, ask, answer);
    let mut text = String::new();
    for turn in &ask.turns {
        _ = writeln!(text, "  (before) {}", one_line(&turn.user));
    }
    let silence = if ask.want_silence { " (wants silence)" } else { "" };
    let decision = answer.skipped.map_or("search".to_owned(), |why| format!("skip: {why:?}"));
    _ = writeln!(text, "  {} ?{silence} {} [{decision}]", ask.date, one_line(&ask.user));
    for (line, judged) in answer.lines.iter().zip(&judged.lines) {
        let mut notes = Vec::new();
        notes.push(if judged.relevant { "relevant" } else { "IRRELEVANT" });
        notes.extend(judged.wrong.then_some("MUST NOT"));
        notes.extend(judged.repeats.then_some("REPEATED"));
        notes.extend(judged.is_turn.then_some("turn"));
        _ = writeln!(text, "      - {} <{}>", line.text, notes.join(", "));
    }
    for (item, _) in ask.must.iter().zip(&judged.met).filter(|(_, met)| !**met) {
        let held = answer.ranked.iter().zip(1..);
        let mut held = held.filter(|(hit, _)| Text::new(&hit.memory.text()).holds_any(item));
        let place = held.next().map_or("no candidate holds it".to_owned(), |(hit, rank)| {
            format!("rank {rank}, score {:.2}: {}", hit.score, one_line(&hit.memory.text()))
        });
        _ = writeln!(text, "      MISSED {}; {place}", item.join(" | "));
    }
    text
}

fn one_line(text: &str) -> impl Display {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
