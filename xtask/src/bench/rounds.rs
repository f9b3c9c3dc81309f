//! The rounds: each measures every case once, in a different order, so that no case always follows
//! the same one.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use anyhow::Result;
use reqwest::Client;

use super::figures::{Between, Figures};
use super::load::Load;
use super::plan::{Case, Plan};
use super::proc;
use super::samples::{Round, median, percentile};
use super::servers::Servers;
use crate::assets::progress::{say, step};

/// Number of unmeasured requests at the start of a case: they open connections and load pages.
const WARM_UP: usize = 10;

/// The results.
pub(super) struct Results {
    measured: Vec<Measured>,
    /// Duration of all rounds, in seconds.
    pub seconds: u64,
}

/// One case over all measured rounds.
pub(super) struct Measured {
    pub case: Case,
    rounds: Vec<Round>,
    between: Vec<Between>,
}

impl Results {
    /// The results of a case.
    pub(super) fn of(&self, case: &Case) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.case == *case)
    }

    /// Number of failed requests.
    pub(super) fn failed(&self) -> usize {
        self.measured.iter().map(Measured::failed).sum()
    }

    /// Number of measured requests.
    pub(super) fn requests(&self) -> usize {
        self.measured.iter().map(Measured::requests).sum()
    }
}

impl Measured {
    /// Median over the rounds of a percentile within each, in milliseconds.
    pub(super) fn percentile(&self, part: f64) -> Option<f64> {
        median(self.rounds.iter().filter_map(|round| percentile(&round.times, part)))
    }

    /// Median over the rounds of one of memgate's own metrics.
    pub(super) fn own(&self, figure: impl Fn(&Between) -> Option<f64>) -> Option<f64> {
        median(self.between.iter().filter_map(figure))
    }

    /// Sum over all rounds of one of memgate's own counters.
    pub(super) fn count(&self, figure: impl Fn(&Between) -> u64) -> u64 {
        self.between.iter().map(figure).sum()
    }

    pub(super) fn failed(&self) -> usize {
        self.rounds.iter().map(|round| round.failed).sum()
    }

    pub(super) fn undecided(&self) -> usize {
        self.rounds.iter().map(|round| round.undecided).sum()
    }

    pub(super) fn requests(&self) -> usize {
        self.rounds.iter().map(|round| round.times.len() + round.failed).sum()
    }

    /// Mean number of presented memories per request.
    pub(super) fn hits(&self) -> f64 {
        let hits: usize = self.rounds.iter().map(|round| round.hits).sum();
        hits as f64 / self.requests().max(1) as f64
    }
}

/// Measures all cases in all rounds; the first round is a warm-up.
///
/// # Errors
/// When a program has ended or does not answer. Failed requests are counted instead.
pub(super) async fn run(plan: &Plan, servers: &Servers) -> Result<Results> {
    let next = Arc::new(AtomicU64::new(0));
    let client = Client::new();
    let mut cases = Vec::new();
    for case in plan.cases() {
        let users = plan.users(case.subject);
        let load = Load::new(case, servers.completions(case.subject), users, Arc::clone(&next))?;
        cases.push((Arc::new(load), Measured { case, rounds: Vec::new(), between: Vec::new() }));
    }
    let started = Instant::now();
    for round in 0..=plan.rounds {
        let what = if round == 0 { "warming up" } else { "measuring" };
        step(round, plan.rounds, &format!("{what}, {} cases", cases.len()));
        let first = (round * cases.len()) / (plan.rounds + 1);
        for place in 0..cases.len() {
            let at = (first + place) % cases.len();
            let (load, measured) = &mut cases[at];
            let (times, between) = one(plan, servers, &client, load, &measured.case).await?;
            if round > 0 {
                measured.rounds.push(times);
                measured.between.extend(between);
            }
        }
    }
    let measured = cases.into_iter().map(|(_, measured)| measured).collect();
    let results = Results { measured, seconds: started.elapsed().as_secs() };
    say(&format!("{} requests in {} s", results.requests(), results.seconds));
    Ok(results)
}

/// Measures one case once.
async fn one(
    plan: &Plan,
    servers: &Servers,
    client: &Client,
    load: &Arc<Load>,
    case: &Case,
) -> Result<(Round, Option<Between>)> {
    let api = servers.api(case.subject);
    load.send(WARM_UP.max(case.at_once)).await;
    proc::settled(&servers.workers()).await?;
    let before = match case.subject.is_memgate() {
        true => Some(Figures::look(client, &api).await?),
        false => None,
    };
    let round = load.send(plan.requests(case)).await;
    let between = match before {
        Some(before) => Some(Figures::look(client, &api).await?.since(&before)),
        None => None,
    };
    proc::settled(&servers.workers()).await?;
    Ok((round, between))
}
