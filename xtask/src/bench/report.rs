//! Renders the results as Markdown.

use std::fmt::Write as _;

use anyhow::Result;

use super::plan::{
    AT_ONCE, Case, FIRST_TOKEN_MS, MEMORIES, Message, Plan, SIZES, Subject, kinds, streams,
};
use super::proc::Memory;
use super::rounds::{Measured, Results};
use crate::assets::MODEL;
use crate::machine::Machine;

/// Renders a run.
///
/// # Errors
/// None in practice: it writes to a string.
pub(super) fn render(
    plan: &Plan,
    machine: &Machine,
    results: &Results,
    memory: &[(Subject, Memory)],
) -> Result<String> {
    let mut text = String::new();
    head(&mut text, plan, machine, results)?;
    for at_once in [1, AT_ONCE] {
        let title = if at_once == 1 { "One request at a time" } else { "Eight requests at a time" };
        write!(text, "\n### {title}\n\n")?;
        whole_replies(&mut text, plan, results, at_once)?;
    }
    write!(
        text,
        "\n### First chunk of a stream, first token of the model after {FIRST_TOKEN_MS} ms\n\n"
    )?;
    first_chunks(&mut text, plan, results)?;
    write!(text, "\n### Where memgate's time goes\n\n")?;
    phases(&mut text, plan, results)?;
    write!(text, "\n### Memory of the process\n\n")?;
    processes(&mut text, plan, memory)?;
    Ok(text)
}

fn head(text: &mut String, plan: &Plan, machine: &Machine, results: &Results) -> Result<()> {
    let Machine { processor, cores, memory, kernel, date, commit, rustc, load_average } = machine;
    if plan.quick {
        write!(
            text,
            "**A quick run (`--quick`): few users, rounds and requests. It shows that everything works.**\n\n"
        )?;
    }
    write!(
        text,
        "{date}, commit {commit}, {rustc}, Envoy 1.40.0, model {MODEL} (int8).\n\
         {processor}, {cores} cores, {memory} GiB, Linux {kernel}; load average before the first round: {load_average}.\n\
         Load generator, model server, Envoys and all servers share these cores.\n\n\
         {} requests in {} rounds, {} failed. Times are in milliseconds; P50 and P99 are medians over the rounds.\n",
        results.requests(),
        plan.rounds,
        results.failed(),
    )?;
    Ok(())
}

fn name(plan: &Plan, case: &Case) -> String {
    let what = match (case.subject, case.message) {
        (Subject::Nobody, _) => return "Envoy alone".to_owned(),
        (Subject::NoOp, _) => return "no-op ext_proc".to_owned(),
        (_, Message::Greeting) => "memgate, greeting".to_owned(),
        (subject, Message::Question) => format!("memgate, search, {} users", plan.users(subject)),
    };
    if case.learns { format!("{what}, learning") } else { what }
}

fn whole_replies(text: &mut String, plan: &Plan, results: &Results, at_once: usize) -> Result<()> {
    writeln!(text, "| body | path | P50 | P99 | P50 − no-op | P99 − no-op | P50 ÷ no-op |")?;
    writeln!(text, "|---|---|--:|--:|--:|--:|--:|")?;
    for bytes in SIZES {
        let at = |case: Case| Case { bytes, at_once, ..case };
        let noop = kinds().map(at).find(|case| case.subject == Subject::NoOp);
        let noop = noop.and_then(|case| results.of(&case));
        for case in kinds().map(at) {
            let Some(measured) = results.of(&case) else { continue };
            let (p50, p99) = (measured.percentile(0.5), measured.percentile(0.99));
            let (base50, base99) = (of(noop, 0.5), of(noop, 0.99));
            writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                size(bytes),
                name(plan, &case),
                millis(p50),
                millis(p99),
                difference(p50, base50),
                difference(p99, base99),
                ratio(p50, base50),
            )?;
        }
    }
    Ok(())
}

fn first_chunks(text: &mut String, plan: &Plan, results: &Results) -> Result<()> {
    writeln!(text, "| at a time | path | P50 | P99 | P50 ÷ Envoy alone | P50 ÷ no-op |")?;
    writeln!(text, "|--:|---|--:|--:|--:|--:|")?;
    for at_once in [1, AT_ONCE] {
        let at = |case: Case| Case { at_once, ..case };
        let base = |subject| {
            let case = streams().map(at).find(|case| case.subject == subject);
            of(case.and_then(|case| results.of(&case)), 0.5)
        };
        let (alone, noop) = (base(Subject::Nobody), base(Subject::NoOp));
        for case in streams().map(at) {
            let Some(measured) = results.of(&case) else { continue };
            let p50 = measured.percentile(0.5);
            writeln!(
                text,
                "| {at_once} | {} | {} | {} | {} | {} |",
                name(plan, &case),
                millis(p50),
                millis(measured.percentile(0.99)),
                thousandths(p50, alone),
                thousandths(p50, noop),
            )?;
        }
    }
    Ok(())
}

fn phases(text: &mut String, plan: &Plan, results: &Results) -> Result<()> {
    writeln!(
        text,
        "Means that memgate measured itself (`memgate_phase_seconds`): embedding the question, the store, all that the \
         request waited for. *Not as expected*: the deadline passed, for example; the request went on without memories. \
         *By words*: the vector came too late and the words were searched.\n"
    )?;
    writeln!(
        text,
        "| body | at a time | path | embedding | store | all | memories presented | not as expected | by words | not learnt | requests |"
    )?;
    writeln!(text, "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|")?;
    for case in plan.cases() {
        let Some(measured) = results.of(&case).filter(|_| case.subject.is_memgate()) else {
            continue;
        };
        let streamed = if case.streamed { ", streamed" } else { "" };
        writeln!(
            text,
            "| {} | {} | {}{streamed} | {} | {} | {} | {:.1} | {} | {} | {} | {} |",
            size(case.bytes),
            case.at_once,
            name(plan, &case),
            millis(measured.own(|b| b.embed_ms)),
            millis(measured.own(|b| b.search_ms)),
            millis(measured.own(|b| b.total_ms)),
            measured.hits(),
            measured.undecided(),
            measured.count(|b| b.by_words),
            measured.count(|b| b.dropped),
            measured.requests(),
        )?;
    }
    Ok(())
}

fn processes(text: &mut String, plan: &Plan, memory: &[(Subject, Memory)]) -> Result<()> {
    writeln!(text, "| memories in the store | RSS at the end, MiB | at most, MiB |")?;
    writeln!(text, "|--:|--:|--:|")?;
    for (subject, Memory { now, most }) in memory {
        writeln!(text, "| {} | {now} | {most} |", plan.users(*subject) * MEMORIES)?;
    }
    Ok(())
}

fn of(measured: Option<&Measured>, part: f64) -> Option<f64> {
    measured?.percentile(part)
}

fn size(bytes: usize) -> String {
    if bytes < 1_000_000 {
        format!("{} KB", bytes / 1_000)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}

fn millis(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

fn difference(value: Option<f64>, base: Option<f64>) -> String {
    value.zip(base).map_or_else(|| "–".to_owned(), |(value, base)| format!("{:+.2}", value - base))
}

fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    value.zip(base).map_or_else(|| "–".to_owned(), |(value, base)| format!("{:.2}", value / base))
}

/// For ratios close to one.
fn thousandths(value: Option<f64>, base: Option<f64>) -> String {
    value.zip(base).map_or_else(|| "–".to_owned(), |(value, base)| format!("{:.3}", value / base))
}
