//! The steps of `cargo xtask test` and their commands.

use std::process::{Command, Stdio};
use std::{panic, thread};

use anyhow::{Context, Result, bail};

use super::counts::Counts;
use super::runner::{Report, show};
use super::servers::{self, Servers};
use crate::assets::progress::say;
use crate::assets::{self, Kind, repository};
use crate::build::{self, cargo};

/// Assets that the steps require.
const NEEDED: [Kind; 8] = [
    Kind::Envoy,
    Kind::Runtime,
    Kind::Model,
    Kind::Minilm,
    Kind::Python,
    Kind::Milvus,
    Kind::Postgres,
    Kind::CargoTools,
];

/// Number of pytest processes: most end-to-end tests wait for a process or a deadline. Measured on two cores.
pub(super) const WORKERS: &str = "6";
/// No further process: the long tests measure.
const ALONE: &str = "0";

type Run = Box<dyn Fn(&mut Servers) -> Result<Report>>;

/// One step.
pub(super) struct Step {
    pub name: String,
    run: Run,
}

impl Step {
    /// A step.
    pub(super) fn new(
        name: impl Into<String>,
        run: impl Fn(&mut Servers) -> Result<Report> + 'static,
    ) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// All steps, fast ones first.
    pub(super) fn all(long: bool) -> Vec<Self> {
        let mut steps = vec![
            Self::new("fmt", fmt),
            Self::new("build and assets", build_and_fetch),
            Self::new("dependencies", dependencies),
            Self::new("servers start", start_servers),
            Self::new("nextest", |servers| show(&mut nextest(servers, "all()", &[])?)),
        ];
        if long {
            steps.push(Self::new("stores at random", |servers| {
                let random = "test(/nobody_sees_anything|no_sequence_of_operations/)";
                show(nextest(servers, random, &[])?.env("MEMGATE_CASES", "40"))
            }));
            steps.push(Self::new("screening at random", |servers| {
                let random = "test(/no_text_panics_in_the_screening/)";
                show(nextest(servers, random, &[])?.env("MEMGATE_CASES", "20000"))
            }));
        }
        steps.push(Self::new("servers end", end_servers));
        steps.push(Self::new("envoy configs", envoy_configs));
        steps.push(Self::new("end to end", |_| show(&mut pytest("not long", WORKERS)?)));
        if long {
            steps.push(Self::new("end to end long", |_| show(&mut pytest("long", ALONE)?)));
        }
        steps
    }

    /// Runs the step.
    ///
    /// # Errors
    /// When it could not be run at all.
    pub(super) fn run(&self, servers: &mut Servers) -> Result<Report> {
        (self.run)(servers)
    }
}

/// Compiles and lints everything while the assets are fetched: one waits for the processor, the other for the network.
pub(super) fn build_and_fetch(_: &mut Servers) -> Result<Report> {
    build::check_compiler()?;
    thread::scope(|scope| {
        let fetched = scope.spawn(fetch);
        let built =
            show(build::linted(&mut cargo()).args(["build", "--workspace", "--all-targets"]));
        fetched.join().unwrap_or_else(|payload| panic::resume_unwind(payload))?;
        built
    })
}

fn fetch() -> Result<()> {
    assets::ensure(&NEEDED)?;
    for (kind, name) in [(Kind::MilvusLite, "Milvus Lite"), (Kind::Browser, "a browser")] {
        if let Err(error) = assets::ensure(&[kind]) {
            say(&format!("{name} is not available, its tests are skipped: {error:#}"));
        }
    }
    Ok(())
}

fn fmt(_: &mut Servers) -> Result<Report> {
    show(cargo().args(["fmt", "--all", "--check"]))
}

/// Licences, bans and sources; known vulnerabilities where the database can be fetched.
fn dependencies(_: &mut Servers) -> Result<Report> {
    // Crates of other platforms, too: deny reads them all.
    show(cargo().args(["fetch", "--locked", "--quiet"]))?;
    let kept = show(subcommand("deny")?.args([
        "--offline",
        "--log-level",
        "error",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))?;
    if let Err(error) = advisories_fetched() {
        say(&format!("known vulnerabilities are not checked: {error:#}"));
        return Ok(kept);
    }
    let safe = show(subcommand("deny")?.args(["--offline", "check", "advisories"]))?;
    Ok(kept.and(safe))
}

/// Fetches the database of known vulnerabilities.
fn advisories_fetched() -> Result<()> {
    let output = subcommand("deny")?
        .args(["--log-level", "off", "fetch", "db"])
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo deny")?;
    if !output.status.success() {
        bail!("the advisory database cannot be fetched from here");
    }
    Ok(())
}

/// A cargo subcommand of the assets, run by its own program: with another `PATH`, cargo would compile again what
/// reads it.
fn subcommand(name: &str) -> Result<Command> {
    let mut command = Command::new(assets::ensure(&[Kind::CargoTools])?.cargo_tool(name));
    build::as_from_a_shell(&mut command).arg(name).current_dir(repository());
    Ok(command)
}

/// Real servers for the tests that follow; end-to-end tests start their own, to kill them.
pub(super) fn start_servers(servers: &mut Servers) -> Result<Report> {
    servers.start(servers::Kind::Postgres)?;
    servers.start(servers::Kind::Milvus)?;
    if let Err(error) = servers.start(servers::Kind::Lite) {
        say(&format!("Milvus Lite does not start, its tests are skipped: {error:#}"));
    }
    Ok(Report::of(true))
}

/// Stopped before timing matters: even idle servers use CPU time.
pub(super) fn end_servers(servers: &mut Servers) -> Result<Report> {
    servers.end();
    Ok(Report::of(true))
}

/// nextest over these tests of the whole workspace, with the objects of [`build_and_fetch`]. Tests that need a server are
/// `#[ignore]`d, and run here where it runs.
///
/// # Errors
/// When nextest cannot be installed.
pub(super) fn nextest(servers: &Servers, tests: &str, options: &[&str]) -> Result<Command> {
    let mut nextest = subcommand("nextest")?;
    servers.tell(&mut nextest);
    build::linted(&mut nextest)
        .args(["run", "--workspace", "--profile", "ci"])
        .args(["--run-ignored", "all", "-E", &servers.among(tests)])
        .args(options);
    Ok(nextest)
}

/// Validates with Envoy the configurations that users copy.
fn envoy_configs(_: &mut Servers) -> Result<Report> {
    let envoy = assets::ensure(&[Kind::Envoy])?.envoy();
    let mut counts = Counts::default();
    for file in ["envoy/development.yaml", "envoy/production.yaml"] {
        let mut validate = Command::new(&envoy);
        validate
            .args(["--mode", "validate", "--log-level", "error", "--config-path", file])
            .current_dir(repository());
        if show(&mut validate)?.passed {
            counts.passed += 1;
        } else {
            counts.failed += 1;
        }
    }
    Ok(Report { counts, ..Report::of(counts.failed == 0) })
}

/// The end-to-end tests with a marker, with a number of processes, each of which runs one file at a time: the tests of a
/// file share their stacks.
///
/// # Errors
/// When an asset is missing or the programs cannot be built.
pub(super) fn pytest(marker: &str, workers: &str) -> Result<Command> {
    let assets = assets::ensure(&NEEDED)?;
    let binaries = build::linted_binaries()?;
    let mut pytest = Command::new(assets.python());
    pytest
        .args(["-m", "pytest", "-m", marker])
        .args(["--numprocesses", workers, "--dist", "loadfile", "--no-loadscope-reorder"])
        .args(["--reruns", "2", "--rerun-show-tracebacks"])
        .current_dir(repository().join("e2e"))
        .env("MEMGATE_E2E_MEMGATE", &binaries.memgate)
        .env("MEMGATE_E2E_DOUBLE", &binaries.model_double)
        .env("MEMGATE_E2E_ENVOY", assets.envoy())
        .env("MEMGATE_E2E_XTASK", &binaries.xtask);
    Ok(pytest)
}
