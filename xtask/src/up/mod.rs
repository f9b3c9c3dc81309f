//! `cargo xtask up`: runs the whole stack in the foreground, for use with `curl` or an OpenAI
//! client; `--demo` plays a short conversation.

mod dashboard;
mod demo;
mod memgate_config;
mod ports;
mod stack;
mod store;
mod supervisor;

use std::path::PathBuf;
use std::{panic, thread};

use anyhow::{Context, Result, bail};

use self::ports::Ports;
use self::stack::{Plan, Stack};
use self::store::Store;
use self::supervisor::Output;
use crate::assets::progress::say;
use crate::assets::{self, Kind, repository};
use crate::build::{self, Binaries, Profile};
use crate::envoy_config::Upstream;
use crate::signals::{Signals, until_signal};

/// Arguments of `cargo xtask up`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Play a conversation that shows what memgate does, on free ports and in a temporary data
    /// folder, then exit.
    #[arg(long, conflicts_with_all = ["upstream", "helper_model", "data", "port", "grpc_port", "http_port"])]
    demo: bool,
    /// URL of the model server: origin and optional prefix before /v1 [default: a server that
    /// echoes requests].
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Name of a model at --upstream that also extracts facts for memgate, after the conversation. Its API key is read
    /// from MODEL_API_KEY, if that is set.
    #[arg(long, value_name = "NAME", requires = "upstream")]
    helper_model: Option<String>,
    /// memgate's configuration [default: the project's config/config.yaml]. Its identity mode counts only with
    /// --production.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run in identity mode production [default: development, which trusts user ids from clients].
    #[arg(long, conflicts_with = "demo")]
    production: bool,
    /// Data folder.
    #[arg(long, value_name = "DIR", default_value = "./data")]
    data: PathBuf,
    /// Memory store; for milvus and postgres, a server is started too [default: from the
    /// configuration].
    #[arg(long, value_enum)]
    store: Option<Store>,
    /// Envoy's port for clients; 0 picks a free port, also below.
    #[arg(long, default_value_t = 8888)]
    port: u16,
    /// Port of memgate's ext_proc service.
    #[arg(long, default_value_t = 50051)]
    grpc_port: u16,
    /// Port of memgate's REST API.
    #[arg(long, default_value_t = 8080)]
    http_port: u16,
    /// Cargo profile of memgate [default: release; dev, which is built sooner, with --demo].
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Run memgate and the echo server from this program's folder as they are, and build nothing.
    #[arg(long, conflicts_with = "profile")]
    no_build: bool,
}

impl Args {
    /// Runs the command until a signal (or the end of the demo).
    ///
    /// # Errors
    /// One sentence: what is missing, in use, or failed.
    pub(crate) fn run(self) -> Result<()> {
        crate::tls::provide()?;
        // Arguments are checked before anything is downloaded or built.
        let upstream = self.upstream.as_deref().map(Upstream::parse).transpose()?;
        let config = self.config()?;
        if !self.demo {
            Ports::choose(self.port, self.grpc_port, self.http_port)?;
        }
        let mut needed = vec![Kind::Envoy, Kind::Runtime, Kind::Model];
        match self.store {
            Some(Store::Milvus) => needed.push(Kind::Milvus),
            Some(Store::Postgres) => needed.push(Kind::Postgres),
            Some(Store::Sqlite) | None => {}
        }
        let profile =
            self.profile.unwrap_or(if self.demo { Profile::Dev } else { Profile::Release });
        // Downloads wait for the network, and building for the processor.
        let (assets, binaries) = thread::scope(|scope| {
            let fetch =
                || assets::ensure(&needed).inspect_err(|error| say(&format!("error: {error:#}")));
            let fetched = scope.spawn(fetch);
            let built = if self.no_build {
                Binaries::beside_this_program()
            } else {
                build::binaries(profile)
            };
            let fetched = fetched.join().unwrap_or_else(|payload| panic::resume_unwind(payload));
            Ok::<_, anyhow::Error>((fetched?, built?))
        })?;

        // A single thread, because children are tied to the thread that starts them.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            if self.demo {
                let ports = Ports::choose(0, 0, 0)?;
                let demo = demo::run(binaries, assets, ports, config, self.store);
                return until_signal(demo).await;
            }
            let plan = Plan {
                ports: Ports::choose(self.port, self.grpc_port, self.http_port)?,
                data: std::path::absolute(&self.data)
                    .context("the data folder cannot be resolved")?,
                binaries,
                assets,
                config,
                production: self.production,
                store: self.store,
                upstream,
                helper_model: self.helper_model,
                output: Output::Terminal,
            };
            serve(plan).await
        })
    }

    fn config(&self) -> Result<PathBuf> {
        let config = match &self.config {
            Some(config) => std::path::absolute(config)
                .context("the configuration's path cannot be resolved")?,
            None => repository().join("config/config.yaml"),
        };
        if !config.is_file() {
            bail!("no configuration file {}", config.display());
        }
        Ok(config)
    }
}

/// Keeps the stack running until a signal.
#[expect(clippy::print_stdout, reason = "the ready line is for whoever started us")]
async fn serve(plan: Plan) -> Result<()> {
    let ports = plan.ports;
    let mut end = Signals::new()?;
    let mut stack = tokio::select! {
        stack = Stack::start(plan) => stack?,
        // Dropping the stack's programs kills them.
        () = end.next() => return Ok(()),
    };
    println!("ready http://127.0.0.1:{}/v1 api http://127.0.0.1:{}", ports.envoy, ports.http);
    println!("dashboard {}", stack.dashboard.link(&ports));
    let outcome = tokio::select! {
        error = stack.failure() => Err(error),
        () = end.next() => Ok(()),
    };
    say("stopping …");
    stack.end().await;
    outcome
}
