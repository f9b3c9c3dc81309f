//! The steps of `cargo xtask test --stress`: the tests again and again beside other work, and at dates on which programs
//! go wrong. Nothing is retried. It finds tests that depend on a free core, on order or on the date.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};

use super::runner::{Report, show};
use super::steps::{self, Step};
use crate::assets::{self, Kind};

/// Runs of the Rust tests beside [`BUSY`] busy loops, with twice as many tests at a time as two cores run.
const RUNS: u32 = 10;
/// Busy loops beside the Rust tests; the end-to-end tests, of which several run at a time, get one.
const BUSY: usize = 2;
/// Runs of the end-to-end tests.
const END_TO_END_RUNS: u32 = 3;

/// Times at which each test's process starts, in a time zone: just before the year's turn, the leap day, the day after
/// it, summer time, and a Monday.
const TIMES: [(&str, &str); 5] = [
    ("2026-12-31 23:59:59", "UTC"),
    ("2028-02-28 23:59:59", "UTC"),
    ("2028-02-29 23:59:59", "UTC"),
    ("2027-03-28 01:59:59", "Europe/Berlin"),
    ("2026-11-29 23:59:59", "UTC"),
];

/// All steps.
pub(super) fn steps() -> Vec<Step> {
    let mut all = vec![Step::new("build and assets", steps::build_and_fetch)];
    for (time, zone) in TIMES {
        all.push(Step::new(format!("nextest at {time}"), move |servers| {
            show(&mut at(steps::nextest(servers, "all()", &["--retries", "0"])?, time, zone)?)
        }));
    }
    all.push(Step::new("servers start", steps::start_servers));
    for run in 1..=RUNS {
        all.push(Step::new(format!("nextest {run} of {RUNS}"), |servers| {
            let options = ["--retries", "0", "--test-threads", "4"];
            beside(BUSY, &mut steps::nextest(servers, "all()", &options)?)
        }));
    }
    all.push(Step::new("servers end", steps::end_servers));
    for run in 1..=END_TO_END_RUNS {
        all.push(Step::new(format!("end to end {run} of {END_TO_END_RUNS}"), |_| {
            beside(1, steps::pytest("not long", steps::WORKERS)?.args(["--reruns", "0"]))
        }));
    }
    all
}

/// Runs a command beside busy loops.
fn beside(loops: usize, command: &mut Command) -> Result<Report> {
    let ended = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..loops)
        .map(|_| {
            let ended = ended.clone();
            thread::spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let report = show(command);
    ended.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().ok().context("a busy loop panicked")?;
    }
    report
}

/// Lets every test of a nextest command start at a time. Only the tests see it: with nextest and cargo in another time,
/// their own bounds would be wrong.
fn at(mut nextest: Command, time: &str, zone: &str) -> Result<Command> {
    let library = assets::ensure(&[Kind::FakeTime])?.fake_time();
    // Only what is shown as the date is changed: timeouts use the monotonic clock.
    let runner =
        format!("/usr/bin/env LD_PRELOAD={} FAKETIME_DONT_FAKE_MONOTONIC=1", library.display());
    nextest
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner)
        .env("FAKETIME", format!("@{time}"))
        .env("TZ", zone);
    Ok(nextest)
}
