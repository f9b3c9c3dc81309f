//! The stack: its programs, their arguments, and its readiness.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::dashboard::Dashboard;
use super::memgate_config::Changes;
use super::ports::Ports;
use super::store::Store;
use super::supervisor::{Output, Service, Supervisor};
use crate::assets::{Assets, repository};
use crate::build::Binaries;
use crate::envoy_config::{self, Upstream};
use crate::process::Program;

/// Timeout for the whole stack to become ready: loading the model on a slow machine takes seconds.
const READY_WITHIN: Duration = Duration::from_secs(90);
/// Interval between two readiness checks.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// memgate finishes pending writes; together with the other timeouts this stays below ten seconds.
const MEMGATE_PATIENCE: Duration = Duration::from_secs(6);
const OTHERS_PATIENCE: Duration = Duration::from_secs(1);
/// This process stops the store's server itself, and kills it after half a second.
const STORE_PATIENCE: Duration = Duration::from_millis(1500);

/// Everything needed to start the stack.
pub(super) struct Plan {
    pub binaries: Binaries,
    pub assets: Assets,
    pub ports: Ports,
    /// memgate's configuration file.
    pub config: PathBuf,
    /// Whether the identity mode is production, and not development.
    pub production: bool,
    /// The store; `None` for the configured one.
    pub store: Option<Store>,
    /// memgate's data folder; the data of the store's server is inside it.
    pub data: PathBuf,
    /// The model server; `None` for the double.
    pub upstream: Option<Upstream>,
    /// Name of the model there that also helps memgate to learn.
    pub helper_model: Option<String>,
    pub output: Output,
}

/// A running stack that is ready.
pub(super) struct Stack {
    supervisor: Supervisor,
    ports: Ports,
    pub(super) dashboard: Dashboard,
    /// Folder of the configurations; removed with the stack.
    _scratch: TempDir,
}

impl Stack {
    /// Starts everything and waits until it is ready. On failure everything is stopped.
    ///
    /// # Errors
    /// One sentence: a program cannot be started, has ended, or is not ready in time.
    pub(super) async fn start(plan: Plan) -> Result<Self> {
        let scratch =
            TempDir::with_prefix("memgate-up-").context("cannot create a temporary folder")?;
        std::fs::create_dir_all(&plan.data)
            .with_context(|| format!("cannot create {}", plan.data.display()))?;
        let (memgate, dashboard) = memgate(&plan, &scratch).await?;
        let envoy = envoy(&plan, &scratch)?;
        let mut supervisor = Supervisor::new(plan.output.clone());
        match plan.store {
            Some(Store::Milvus) => supervisor.start(server(&plan, "milvus")),
            Some(Store::Postgres) => supervisor.start(server(&plan, "postgres")),
            Some(Store::Sqlite) | None => {}
        }
        supervisor.start(memgate);
        if plan.upstream.is_none() {
            supervisor.start(double(&plan));
        }
        supervisor.start(envoy);
        let outcome = tokio::select! {
            error = supervisor.failure() => Err(error),
            outcome = ready(&plan.ports) => outcome,
        };
        if let Err(error) = outcome {
            supervisor.end().await;
            return Err(error);
        }
        supervisor.all_is_ready();
        Ok(Self { supervisor, ports: plan.ports, dashboard, _scratch: scratch })
    }

    /// Waits for a failure that a restart cannot fix.
    pub(super) async fn failure(&mut self) -> anyhow::Error {
        self.supervisor.failure().await
    }

    /// Stops everything.
    pub(super) async fn end(self) {
        self.dashboard.close(&self.ports).await;
        self.supervisor.end().await;
    }
}

/// memgate, and the way to its dashboard.
async fn memgate(plan: &Plan, scratch: &TempDir) -> Result<(Service, Dashboard)> {
    let changes = Changes {
        store: plan.store.map(|store| (store, plan.ports.store)),
        helper: plan.upstream.clone().zip(plan.helper_model.clone()),
    };
    let config = if changes.are_none() {
        plan.config.clone()
    } else {
        write(scratch, "memgate.json", &changes.render(&plan.config)?)?
    };
    let config_and_data: [OsString; 4] =
        ["--config".into(), config.into(), "--data".into(), plan.data.clone().into()];
    // A store's server is not started yet, and nobody reads the link of a demo.
    let with_key = !plan.production
        && matches!(plan.store, None | Some(Store::Sqlite))
        && matches!(plan.output, Output::Terminal);
    let dashboard = match with_key {
        true => Dashboard::open(plan.binaries.memgate.as_os_str(), &config_and_data).await,
        false => Dashboard::locked(),
    };
    let mut arguments: Vec<OsString> = vec!["serve".into()];
    arguments.extend(config_and_data);
    arguments.extend([
        "--assets".into(),
        repository().join(".assets").into(),
        "--grpc".into(),
        format!("127.0.0.1:{}", plan.ports.grpc).into(),
        "--http".into(),
        format!("127.0.0.1:{}", plan.ports.http).into(),
    ]);
    let mode = if plan.production { "production" } else { "development" };
    arguments.extend(["--identity".into(), mode.into()]);
    let program = program(plan.binaries.memgate.clone(), arguments);
    Ok((Service { name: "memgate", program, patience: MEMGATE_PATIENCE }, dashboard))
}

/// The store's server, by the command that runs it.
fn server(plan: &Plan, name: &'static str) -> Service {
    let arguments = [
        name.into(),
        "--port".into(),
        plan.ports.store.to_string().into(),
        "--data".into(),
        plan.data.join(name).into(),
    ];
    Service {
        name,
        program: program(plan.binaries.xtask.clone(), arguments.into()),
        patience: STORE_PATIENCE,
    }
}

fn double(plan: &Plan) -> Service {
    let arguments = ["--port".into(), plan.ports.double.to_string().into()];
    Service {
        name: "model",
        program: program(plan.binaries.model_double.clone(), arguments.into()),
        patience: OTHERS_PATIENCE,
    }
}

fn envoy(plan: &Plan, scratch: &TempDir) -> Result<Service> {
    let upstream = match &plan.upstream {
        Some(upstream) => upstream.clone(),
        None => Upstream::parse(&format!("http://127.0.0.1:{}", plan.ports.double))?,
    };
    let settings = envoy_config::Settings {
        port: plan.ports.envoy,
        grpc_port: plan.ports.grpc,
        http_port: plan.ports.http,
        admin_port: 0,
        upstream,
    };
    let config = envoy_config::render(&repository().join("envoy/development.yaml"), &settings)?;
    let arguments = [
        "--config-path".into(),
        write(scratch, "envoy.json", &config)?.into(),
        // Several stacks may run on one machine.
        "--disable-hot-restart".into(),
        "--log-level".into(),
        "warning".into(),
        "--file-flush-interval-msec".into(),
        "200".into(),
    ];
    Ok(Service {
        name: "envoy",
        program: program(plan.assets.envoy(), arguments.into()),
        patience: OTHERS_PATIENCE,
    })
}

/// Writes a configuration with one key per line, so that errors in it can be located.
fn write(scratch: &TempDir, name: &str, config: &Value) -> Result<PathBuf> {
    let file = scratch.path().join(name);
    std::fs::write(&file, format!("{config:#}"))
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

fn program(path: PathBuf, arguments: Vec<std::ffi::OsString>) -> Program {
    Program { path, arguments, folder: repository() }
}

/// Waits until memgate is ready and Envoy listens.
async fn ready(ports: &Ports) -> Result<()> {
    let deadline = Instant::now() + READY_WITHIN;
    let url = format!("http://127.0.0.1:{}/readyz", ports.http);
    let client = reqwest::Client::new();
    loop {
        let missing = match client.get(&url).timeout(Duration::from_secs(2)).send().await {
            Ok(answer) if answer.status().is_success() => {
                match TcpStream::connect((Ipv4Addr::LOCALHOST, ports.envoy)).await {
                    Ok(_) => return Ok(()),
                    Err(_) => "Envoy does not listen".to_owned(),
                }
            }
            Ok(answer) => {
                format!("memgate says: {}", answer.text().await.unwrap_or_default().trim())
            }
            Err(_) => "memgate does not answer".to_owned(),
        };
        if Instant::now() >= deadline {
            bail!("not ready within {} s: {missing}", READY_WITHIN.as_secs());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}
