//! The rounds: every case once in each, in another order each time, so that no case always follows the same one.

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

/// Requests at the head of a case in each round that do not count: connections are opened, pages read again.
const WARM_UP: usize = 10;

/// What was measured.
pub struct Results {
    measured: Vec<Measured>,
    /// How long all rounds took, in seconds.
    pub seconds: u64,
}

/// One case over all rounds that count.
pub struct Measured {
    pub case: Case,
    rounds: Vec<Round>,
    between: Vec<Between>,
}

impl Results {
    /// What was measured of a case.
    pub fn of(&self, case: &Case) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.case == *case)
    }

    /// Requests that failed, of all.
    pub fn failed(&self) -> usize {
        self.measured.iter().map(Measured::failed).sum()
    }

    /// Requests that count, of all.
    pub fn requests(&self) -> usize {
        self.measured.iter().map(Measured::requests).sum()
    }
}

impl Measured {
    /// The median over the rounds of a percentile within each, in milliseconds.
    pub fn percentile(&self, part: f64) -> Option<f64> {
        median(self.rounds.iter().filter_map(|round| percentile(&round.times, part)))
    }

    /// The median over the rounds of one of memgate's own figures.
    pub fn own(&self, figure: impl Fn(&Between) -> Option<f64>) -> Option<f64> {
        median(self.between.iter().filter_map(figure))
    }

    /// One of memgate's own counts, over all rounds.
    pub fn count(&self, figure: impl Fn(&Between) -> u64) -> u64 {
        self.between.iter().map(figure).sum()
    }

    pub fn failed(&self) -> usize {
        self.rounds.iter().map(|round| round.failed).sum()
    }

    pub fn undecided(&self) -> usize {
        self.rounds.iter().map(|round| round.undecided).sum()
    }

    pub fn requests(&self) -> usize {
        self.rounds.iter().map(|round| round.times.len() + round.failed).sum()
    }

    /// Memories presented with a request, on average.
    pub fn hits(&self) -> f64 {
        let hits: usize = self.rounds.iter().map(|round| round.hits).sum();
        hits as f64 / self.requests().max(1) as f64
    }
}

/// Measures all cases in all rounds; the first round only warms up.
///
/// # Errors
/// When a program ended or cannot be asked. A request that fails is counted, not an error.
pub async fn run(plan: &Plan, servers: &Servers) -> Result<Results> {
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

/// One case, once.
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
