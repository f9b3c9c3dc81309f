//! `cargo xtask postgres`: runs a PostgreSQL server with pgvector in the foreground. It has the
//! database `memgate` of the role `memgate`, and asks nobody on this machine for a password but the
//! members of the role `with_password`.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tokio::net::TcpStream;

use crate::assets::{self, Assets, Kind};
use crate::ports;
use crate::process::Program;
use crate::server::{LOG, Server, run_in, serve};

/// The user and group `nobody`: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;
/// Runs what follows as nobody, who can still reach a data folder inside a private one. The kernel
/// drops the parent's death signal with the user, so it is requested again.
const AS_NOBODY: [&str; 8] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
    "--pdeathsig=KILL",
    "--",
];
/// The server's data, in its folder.
const DATA: &str = "data";
/// Written when the data is complete.
const MADE: &str = "made";
/// Its output goes to its folder.
const START: &str = r#"log="$1"; shift; exec "$@" >"$log" 2>&1"#;

/// The first content of the databases: statements of the single-user mode, one a line. Databases
/// are copies of `template1`, so each has the extension.
const TEMPLATE: &str = "CREATE EXTENSION vector;\n";
const SETUP: &str = "CREATE ROLE memgate LOGIN;\nCREATE ROLE with_password;\n\
    CREATE DATABASE memgate OWNER memgate;\n";
const HBA: &str = "host all +with_password 127.0.0.1/32 scram-sha-256\n\
    host all all 127.0.0.1/32 trust\n";

/// Arguments of `cargo xtask postgres`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Port for clients; 0 picks a free one.
    #[arg(long, default_value_t = 5432)]
    port: u16,
    /// Folder of its data [default: a temporary folder, where nothing waits for the disk].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Args {
    /// Runs the server until a signal. Prints `ready postgres 127.0.0.1:PORT` when it answers.
    ///
    /// # Errors
    /// When it does not start, or ends unexpectedly.
    pub(crate) fn run(self) -> Result<()> {
        let assets = assets::ensure(&[Kind::Postgres])?;
        let durable = self.data.is_some();
        run_in("postgres", self.data.as_ref(), async |folder| {
            serve(Postgres::prepare(&assets, folder, self.port, durable)?).await
        })
    }
}

/// How to start it.
struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    durable: bool,
}

impl Postgres {
    /// Creates the data if there is none, and chooses a port if none is given.
    ///
    /// # Errors
    /// When no port is free or the data cannot be created.
    fn prepare(assets: &Assets, folder: &Path, port: u16, durable: bool) -> Result<Self> {
        let free = ports::free(1)?.pop().context("no port is free")?;
        let port = if port == 0 { free } else { port };
        let server = Self { programs: assets.postgres(), folder: folder.to_owned(), port, durable };
        if !folder.join(MADE).exists() {
            server.make_data().context("cannot create the data of PostgreSQL")?;
        }
        Ok(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.join(DATA)
    }

    fn make_data(&self) -> Result<()> {
        let data = self.data();
        if data.exists() {
            std::fs::remove_dir_all(&data)?;
        }
        std::fs::create_dir(&data)?;
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700))?;
        if is_root() {
            chown(&data, Some(NOBODY), Some(NOBODY))?;
        }
        let options =
            ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
        let mut initdb = vec!["initdb".into(), "--pgdata".into(), data.clone().into()];
        initdb.extend(options.map(OsString::from));
        self.run(&initdb, "")?;
        std::fs::write(data.join("pg_hba.conf"), HBA)?;
        for (database, statements) in [("template1", TEMPLATE), ("postgres", SETUP)] {
            let single = ["postgres", "--single", "-F", "-D"].map(OsString::from).into_iter();
            let arguments: Vec<_> = single.chain([data.clone().into(), database.into()]).collect();
            self.run(&arguments, statements)?;
        }
        std::fs::write(self.folder.join(MADE), "")?;
        Ok(())
    }

    /// The words of a command line: one of the programs, as a user that it accepts.
    fn words(&self, arguments: &[OsString]) -> Vec<OsString> {
        let before = if is_root() { &AS_NOBODY[..] } else { &[] };
        let mut words: Vec<OsString> = before.iter().map(OsString::from).collect();
        for (place, argument) in arguments.iter().enumerate() {
            words.push(match place {
                0 => self.programs.join("bin").join(argument).into(),
                _ => argument.clone(),
            });
        }
        words
    }

    /// Runs a program to its end with this input.
    fn run(&self, arguments: &[OsString], input: &str) -> Result<()> {
        let words = self.words(arguments);
        let Some((program, rest)) = words.split_first() else { bail!("no program given") };
        let mut child = Command::new(program)
            .args(rest)
            // Only initdb needs it: for libpq.
            .env("LD_LIBRARY_PATH", self.programs.join("lib"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        // The single-user mode goes on after an error.
        if !output.status.success() || said.contains("ERROR:") {
            bail!("{} failed ({}): {}", program.display(), output.status, said.trim());
        }
        Ok(())
    }
}

impl Server for Postgres {
    const NAME: &'static str = "postgres";
    /// Immediate shutdown: at SIGTERM it waits for its clients, and at SIGINT for the disk.
    /// Acknowledged writes are in its log, which the next start reads.
    const END: Signal = Signal::QUIT;

    fn program(&self) -> Program {
        let settings = [
            format!("port={}", self.port),
            "listen_addresses=127.0.0.1".to_owned(),
            // A socket's path would be too long in some folders.
            "unix_socket_directories=".to_owned(),
            // In files of its folder: nothing is left elsewhere after a kill.
            "dynamic_shared_memory_type=mmap".to_owned(),
            format!("fsync={}", if self.durable { "on" } else { "off" }),
        ];
        let mut words = vec!["postgres".into(), "-D".into(), self.data().into()];
        for setting in settings {
            words.extend(["-c".into(), setting.into()]);
        }
        let shell = ["-c", START, "sh", LOG].map(OsString::from).into_iter();
        let arguments = shell.chain(self.words(&words)).collect();
        Program { path: "/bin/sh".into(), arguments, folder: self.folder.clone() }
    }

    fn port(&self) -> u16 {
        self.port
    }

    /// Its file says so. After a kill the file of the last run says it, too, until the server listens.
    async fn is_ready(&self) -> bool {
        let listens = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.is_ok();
        let status = std::fs::read_to_string(self.data().join("postmaster.pid"));
        listens && status.is_ok_and(|status| status.lines().any(|line| line.trim() == "ready"))
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
