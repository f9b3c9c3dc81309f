//! The servers of a benchmark: the model double, the no-op server, two memgates, and an Envoy for
//! each (and one without filters), all at the same time on free ports.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::time::Instant;

use super::plan::{Plan, Subject};
use super::proc::{self, Memory};
use super::seed::{self, Programs};
use crate::assets::repository;
use crate::envoy_config::{self, Settings, Upstream};
use crate::ports;
use crate::process::{self, Program};

const READY_WITHIN: Duration = Duration::from_secs(90);
const ASK_EVERY: Duration = Duration::from_millis(100);
/// Maximum time for each server to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The running servers.
pub(super) struct Servers {
    running: Vec<Running>,
    ports: Vec<(Subject, Ports)>,
    double: u16,
}

struct Running {
    name: String,
    subject: Option<Subject>,
    child: Child,
}

#[derive(Clone, Copy)]
struct Ports {
    envoy: u16,
    grpc: u16,
    http: u16,
}

impl Servers {
    /// Starts everything and waits until it is ready.
    ///
    /// # Errors
    /// When a program cannot be started or is not ready in time. Running ones are killed then.
    pub(super) async fn start(programs: &Programs, plan: &Plan, folder: &Path) -> Result<Self> {
        let free = ports::free(3 * Subject::ALL.len() + 1)?;
        let (double, rest) = free.split_last().context("no ports")?;
        let ports = rest.chunks_exact(3).map(|p| Ports { envoy: p[0], grpc: p[1], http: p[2] });
        let ports = Subject::ALL.into_iter().zip(ports).collect();
        let mut servers = Self { running: Vec::new(), ports, double: *double };
        servers.start_all(programs, plan, folder)?;
        servers.ready().await?;
        Ok(servers)
    }

    fn start_all(&mut self, programs: &Programs, plan: &Plan, folder: &Path) -> Result<()> {
        let double = ["--port".into(), self.double.to_string().into()];
        let path = programs.binaries.model_double.clone();
        self.spawn(folder, "double", None, path, double.into())?;
        for store in plan.stores() {
            let ports = self.ports(store.subject);
            let arguments = [
                "serve".into(),
                "--identity".into(),
                "development".into(),
                "--config".into(),
                repository().join("config/config.yaml").into(),
                "--data".into(),
                seed::folder(folder, &store).into(),
                "--assets".into(),
                repository().join(".assets").into(),
                "--grpc".into(),
                format!("127.0.0.1:{}", ports.grpc).into(),
                "--http".into(),
                format!("127.0.0.1:{}", ports.http).into(),
            ];
            let path = programs.binaries.memgate.clone();
            self.spawn(folder, "memgate", Some(store.subject), path, arguments.into())?;
        }
        let grpc = format!("127.0.0.1:{}", self.ports(Subject::NoOp).grpc);
        let arguments = ["--grpc".into(), grpc.into()];
        self.spawn(folder, "server", Some(Subject::NoOp), programs.noop.clone(), arguments.into())?;
        for subject in Subject::ALL {
            let config = folder.join(format!("{}-envoy.json", subject.name()));
            std::fs::write(&config, self.envoy_config(subject)?.to_string())
                .with_context(|| format!("cannot write {}", config.display()))?;
            let arguments = [
                "--config-path".into(),
                config.into(),
                "--disable-hot-restart".into(),
                "--log-level".into(),
                "warning".into(),
            ];
            let path = programs.assets.envoy();
            self.spawn(folder, "envoy", Some(subject), path, arguments.into())?;
        }
        Ok(())
    }

    /// The development configuration with the benchmark's ports; for the subject without a server,
    /// without the filters.
    fn envoy_config(&self, subject: Subject) -> Result<Value> {
        let ports = self.ports(subject);
        let settings = Settings {
            port: ports.envoy,
            grpc_port: ports.grpc,
            http_port: ports.http,
            admin_port: 0,
            upstream: Upstream::parse(&format!("http://127.0.0.1:{}", self.double))?,
        };
        let mut config =
            envoy_config::render(&repository().join("envoy/development.yaml"), &settings)?;
        if subject == Subject::Nobody {
            let routes = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config\
                          /route_config/virtual_hosts/0/routes";
            let routes = config.pointer_mut(routes).and_then(Value::as_array_mut);
            for route in routes.context("the Envoy configuration has no routes")? {
                if let Some(route) = route.as_object_mut() {
                    route.remove("typed_per_filter_config");
                }
            }
        }
        Ok(config)
    }

    fn spawn(
        &mut self,
        folder: &Path,
        what: &str,
        subject: Option<Subject>,
        path: std::path::PathBuf,
        arguments: Vec<std::ffi::OsString>,
    ) -> Result<()> {
        let name = subject.map_or_else(|| what.to_owned(), |s| format!("{}-{what}", s.name()));
        let log = folder.join(format!("{name}.log"));
        let log = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Program { path, arguments, folder: repository() }.command();
        let child = command
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log))
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        self.running.push(Running { name, subject, child });
        Ok(())
    }

    async fn ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        let client = Client::new();
        let mut listening = vec![self.double, self.ports(Subject::NoOp).grpc];
        listening.extend(self.ports.iter().map(|(_, ports)| ports.envoy));
        for port in listening {
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
                self.wait_on(deadline).await?;
            }
        }
        for subject in Subject::ALL.into_iter().filter(|subject| subject.is_memgate()) {
            let url = format!("{}/readyz", self.api(subject));
            loop {
                let answer = client.get(&url).timeout(Duration::from_secs(5)).send().await;
                if answer.is_ok_and(|answer| answer.status().is_success()) {
                    break;
                }
                self.wait_on(deadline).await?;
            }
        }
        // All replies are the same and short, because the model is not measured.
        let url = format!("http://127.0.0.1:{}/_double/script", self.double);
        let script = json!([{"contains": "", "reply": "All right, that is noted."}]);
        client.post(url).json(&script).send().await?.error_for_status()?;
        Ok(())
    }

    async fn wait_on(&mut self, deadline: Instant) -> Result<()> {
        for running in &mut self.running {
            if let Some(ended) = running.child.try_wait()? {
                bail!("{} ended before it was ready ({ended})", running.name);
            }
        }
        if Instant::now() > deadline {
            bail!("not everything was ready within {} s", READY_WITHIN.as_secs());
        }
        tokio::time::sleep(ASK_EVERY).await;
        Ok(())
    }

    fn ports(&self, subject: Subject) -> Ports {
        let found = self.ports.iter().find(|(of, _)| *of == subject);
        found.map_or(Ports { envoy: 0, grpc: 0, http: 0 }, |(_, ports)| *ports)
    }

    /// The URL for requests of a subject.
    pub(super) fn completions(&self, subject: Subject) -> String {
        format!("http://127.0.0.1:{}/v1/chat/completions", self.ports(subject).envoy)
    }

    /// The REST API of a memgate.
    pub(super) fn api(&self, subject: Subject) -> String {
        format!("http://127.0.0.1:{}", self.ports(subject).http)
    }

    /// Processes that may still be busy after a reply.
    pub(super) fn workers(&self) -> Vec<u32> {
        let memgates = self.running.iter().filter(|r| r.name.ends_with("memgate"));
        memgates.filter_map(|running| running.child.id()).collect()
    }

    /// Memory of each memgate.
    pub(super) fn memory(&self) -> Result<Vec<(Subject, Memory)>> {
        let memgates = self.running.iter().filter(|r| r.name.ends_with("memgate"));
        memgates
            .filter_map(|running| Some((running.subject?, running.child.id()?)))
            .map(|(subject, pid)| Ok((subject, proc::memory(pid)?)))
            .collect()
    }

    /// Stops everything, the Envoys first.
    pub(super) async fn end(mut self) {
        while let Some(mut running) = self.running.pop() {
            // If waiting fails, dropping it kills it.
            drop(process::end(&mut running.child, PATIENCE).await);
        }
    }
}
