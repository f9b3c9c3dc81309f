//! The steps of `cargo xtask test`: their commands, output and counts.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::counts::Counts;
use super::servers::{self, Servers};
use crate::assets::progress::say;
use crate::assets::{self, Kind, repository};
use crate::build::{self, cargo};

/// Assets that the steps require.
const NEEDED: [Kind; 6] =
    [Kind::Envoy, Kind::Runtime, Kind::Model, Kind::Python, Kind::Milvus, Kind::CargoTools];

/// How many end-to-end tests run at a time, on two cores.
const WORKERS: &str = "4";

/// One step.
pub(super) struct Step {
    pub name: &'static str,
    run: fn(&mut Servers) -> Result<(bool, Counts)>,
}

impl Step {
    /// All steps, fast ones first.
    pub(super) fn all(long: bool) -> Vec<Self> {
        let mut steps = vec![
            Self { name: "assets", run: fetch },
            Self { name: "fmt", run: fmt },
            Self { name: "dependencies", run: dependencies },
            Self { name: "clippy", run: clippy },
            Self { name: "milvus start", run: start_servers },
            Self { name: "nextest", run: unit },
        ];
        if long {
            steps.push(Self { name: "nextest long", run: unit_long });
        }
        steps.push(Self { name: "milvus end", run: end_servers });
        steps.push(Self { name: "envoy configs", run: envoy_configs });
        steps.push(Self { name: "end to end", run: end_to_end });
        if long {
            steps.push(Self { name: "end to end long", run: end_to_end_long });
        }
        steps
    }

    /// Runs the step; returns whether it passed, and its counts.
    ///
    /// # Errors
    /// When it could not be run at all.
    pub(super) fn run(&self, servers: &mut Servers) -> Result<(bool, Counts)> {
        (self.run)(servers)
    }
}

fn fetch(_: &mut Servers) -> Result<(bool, Counts)> {
    build::check_compiler()?;
    assets::ensure(&NEEDED)?;
    if let Err(error) = assets::ensure(&[Kind::MilvusLite]) {
        say(&format!("Milvus Lite is not available, its tests are skipped: {error:#}"));
    }
    Ok((true, Counts::default()))
}

fn fmt(_: &mut Servers) -> Result<(bool, Counts)> {
    show(cargo().args(["fmt", "--all", "--check"]))
}

fn clippy(_: &mut Servers) -> Result<(bool, Counts)> {
    show(cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
}

/// Licences, bans and sources; known vulnerabilities where the database can be fetched.
fn dependencies(_: &mut Servers) -> Result<(bool, Counts)> {
    // Crates of other platforms, too: deny reads them all.
    show(cargo().args(["fetch", "--locked", "--quiet"]))?;
    let (kept, _) = show(subcommand("deny")?.args([
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
        return Ok((kept, Counts::default()));
    }
    let (safe, _) = show(subcommand("deny")?.args(["--offline", "check", "advisories"]))?;
    Ok((kept && safe, Counts::default()))
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
    command.arg(name).current_dir(repository());
    Ok(command)
}

/// Real servers for the tests that follow; end-to-end tests start their own, to kill them.
fn start_servers(servers: &mut Servers) -> Result<(bool, Counts)> {
    servers.start(servers::Kind::Milvus)?;
    if let Err(error) = servers.start(servers::Kind::Lite) {
        say(&format!("Milvus Lite does not start, its tests are skipped: {error:#}"));
    }
    Ok((true, Counts::default()))
}

/// Stopped before timing matters: even idle servers use CPU time.
fn end_servers(servers: &mut Servers) -> Result<(bool, Counts)> {
    servers.end();
    Ok((true, Counts::default()))
}

fn unit(servers: &mut Servers) -> Result<(bool, Counts)> {
    nextest(servers, "default")
}

fn unit_long(servers: &mut Servers) -> Result<(bool, Counts)> {
    nextest(servers, "only")
}

/// Runs the Rust tests that are not marked `#[ignore]`, or only those.
fn nextest(servers: &mut Servers, ignored: &str) -> Result<(bool, Counts)> {
    let mut nextest = subcommand("nextest")?;
    servers.tell(&mut nextest);
    nextest.args(["run", "--workspace", "--profile", "ci", "--run-ignored", ignored]);
    show(&mut nextest)
}

/// Validates with Envoy the configurations that users copy.
fn envoy_configs(_: &mut Servers) -> Result<(bool, Counts)> {
    let envoy = assets::ensure(&[Kind::Envoy])?.envoy();
    let mut counts = Counts::default();
    for file in ["envoy/development.yaml", "envoy/production.yaml"] {
        let mut validate = Command::new(&envoy);
        validate
            .args(["--mode", "validate", "--log-level", "error", "--config-path", file])
            .current_dir(repository());
        let (valid, _) = show(&mut validate)?;
        if valid {
            counts.passed += 1;
        } else {
            counts.failed += 1;
        }
    }
    Ok((counts.failed == 0, counts))
}

/// Most tests wait for a process or a deadline, so several files run at a time. The tests of a file share one stack.
fn end_to_end(_: &mut Servers) -> Result<(bool, Counts)> {
    pytest("not long", &["--numprocesses", WORKERS, "--dist", "loadfile"])
}

/// One after another: these measure.
fn end_to_end_long(_: &mut Servers) -> Result<(bool, Counts)> {
    pytest("long", &[])
}

fn pytest(which: &str, options: &[&str]) -> Result<(bool, Counts)> {
    let assets = assets::ensure(&NEEDED)?;
    let binaries = build::binaries_and_tests()?;
    let mut pytest = Command::new(assets.python());
    pytest
        .args(["-m", "pytest", "-m", which])
        .args(options)
        .current_dir(repository().join("e2e"))
        .env("MEMGATE_E2E_MEMGATE", &binaries.memgate)
        .env("MEMGATE_E2E_DOUBLE", &binaries.model_double)
        .env("MEMGATE_E2E_ENVOY", assets.envoy())
        .env("MEMGATE_E2E_XTASK", &binaries.xtask);
    show(&mut pytest)
}

/// Runs a command, prints its output line by line, and adds up the counts in it.
#[expect(clippy::print_stdout, reason = "the runners' own output is what a reader wants")]
fn show(command: &mut Command) -> Result<(bool, Counts)> {
    let program = command.get_program().to_string_lossy().into_owned();
    // Both streams, in the order of their lines: nextest counts on stderr, pytest on stdout.
    let (output, input) = std::io::pipe().context("cannot make a pipe")?;
    command.stdin(Stdio::null()).stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    // The command holds the pipe's other end, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut counts = Vec::new();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.with_context(|| format!("cannot read what {program} says"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts.extend(Counts::in_line(&line));
    }
    let status = child.wait().with_context(|| format!("cannot wait for {program}"))?;
    Ok((status.success(), counts.into_iter().sum()))
}
