//! Milvus as one process, with its etcd and message queue inside. It is started directly, because
//! the launcher in its package changes ports and leaves the server running when it is stopped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::assets::Assets;
use crate::ports;
use crate::process::Program;
use crate::server::{LOG, Server};

/// Its libraries are older than the system's and only for itself; its output goes to its folder.
const START: &str = r#"
export LD_LIBRARY_PATH="$0" METRICS_PORT="$2" DEPLOY_MODE=STANDALONE
exec "$0/milvus" run standalone -alias "$1" >"$3" 2>&1"#;
/// Folders where it leaves a lock (the first as root, else the second) and a process id file, which
/// it never removes.
const RUNTIME_FOLDERS: [&str; 2] = ["/run/milvus", "/tmp/milvus"];
/// The ports of the last run, in its folder of configurations.
const PORTS: &str = "ports.json";
const GLOG: &str = "--logtostderr=true\n--minloglevel=2\n";
/// Timeout of a readiness check.
const ASK_WITHIN: Duration = Duration::from_secs(2);

/// How to start it.
pub(super) struct Milvus {
    program: PathBuf,
    folder: PathBuf,
    ports: Ports,
}

/// The ports. Only etcd can be restricted to loopback; the other parts listen on all interfaces.
struct Ports {
    /// Port for clients.
    proxy: u16,
    /// Ports of its parts, in the order used below.
    inner: [u16; 10],
}

impl Ports {
    /// Reuses the inner ports of the last run if they are free: after a crash its parts look for
    /// each other at the old ports, and it takes 25 s instead of 9 s to answer with new ones.
    fn choose(folder: &Path, proxy: u16) -> Result<Self> {
        let file = folder.join(PORTS);
        let last = std::fs::read(&file).ok();
        let last: Option<[u16; 10]> = last.and_then(|last| serde_json::from_slice(&last).ok());
        let free = ports::free(11)?;
        let Some((&free, new)) = free.split_first() else { bail!("no port is free") };
        let inner = match last.filter(ports::are_free) {
            Some(last) => last,
            None => new.try_into().context("no port is free")?,
        };
        std::fs::write(&file, json!(inner).to_string())
            .with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Self { proxy: if proxy == 0 { free } else { proxy }, inner })
    }

    fn metrics(&self) -> u16 {
        let [metrics, ..] = self.inner;
        metrics
    }
}

impl Milvus {
    /// Chooses ports and writes the configuration.
    ///
    /// # Errors
    /// When no port is free or the folder cannot be written.
    pub(super) fn prepare(assets: &Assets, folder: &Path, port: u16) -> Result<Self> {
        let configs = folder.join("configs");
        std::fs::create_dir_all(&configs)
            .with_context(|| format!("cannot create {}", configs.display()))?;
        let ports = Ports::choose(&configs, port)?;
        // JSON is YAML.
        for (name, text) in [
            ("milvus.yaml", milvus(folder, &ports).to_string()),
            ("etcd.yaml", etcd(folder, &ports).to_string()),
            ("glog.conf", GLOG.to_owned()),
        ] {
            let file = configs.join(name);
            std::fs::write(&file, text)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(Self { program: assets.milvus(), folder: folder.to_owned(), ports })
    }

    /// Two servers with the same alias exclude each other.
    fn alias(&self) -> String {
        format!("memgate-{}", self.ports.proxy)
    }
}

impl Server for Milvus {
    const NAME: &'static str = "milvus";

    fn program(&self) -> Program {
        let arguments = [
            "-c".into(),
            START.into(),
            self.program.clone().into(),
            self.alias().into(),
            self.ports.metrics().to_string().into(),
            LOG.into(),
        ];
        Program { path: "/bin/sh".into(), arguments: arguments.into(), folder: self.folder.clone() }
    }

    fn port(&self) -> u16 {
        self.ports.proxy
    }

    /// Whether it answers a call that involves all its parts. Searches of collections loaded before
    /// a kill can still fail for some seconds.
    async fn is_ready(&self) -> bool {
        let url = format!("http://127.0.0.1:{}/v1/vector/collections", self.ports.proxy);
        let answer = reqwest::Client::new().get(url).timeout(ASK_WITHIN).send().await;
        let Ok(answer) = answer else { return false };
        let Ok(answer) = answer.json::<Value>().await else { return false };
        answer["code"] == 200
    }

    fn tidy(&self, pid: u32) {
        for folder in RUNTIME_FOLDERS.map(Path::new) {
            for name in [format!("standalone-{}.pid", self.alias()), format!("server_id_{pid}")] {
                // Most do not exist, and one that cannot be removed does no harm.
                drop(std::fs::remove_file(folder.join(name)));
            }
        }
    }
}

/// The settings that differ from Milvus' defaults.
fn milvus(folder: &Path, ports: &Ports) -> Value {
    let [
        _,
        etcd_client,
        _,
        internal,
        root_coord,
        query_coord,
        query_node,
        index_node,
        data_coord,
        data_node,
    ] = ports.inner;
    let part = |port: u16| json!({"ip": "127.0.0.1", "port": port});
    json!({
        "etcd": {
            "endpoints": format!("127.0.0.1:{etcd_client}"),
            "use": {"embed": true},
            "config": {"path": folder.join("configs/etcd.yaml")},
            "data": {"dir": folder.join("data/etcd")},
            "log": {"level": "error", "path": "stderr"},
        },
        "localStorage": {"path": folder.join("data")},
        "mq": {"type": "rocksmq"},
        "rocksmq": {"path": folder.join("data/rocksmq")},
        "proxy": {
            "ip": "127.0.0.1",
            "port": ports.proxy,
            "internalPort": internal,
            // Milliseconds, default 200: a write becomes visible to others after two of these.
            "timeTickInterval": 20,
        },
        "rootCoord": part(root_coord),
        "queryCoord": part(query_coord),
        "queryNode": part(query_node),
        "indexNode": part(index_node),
        "dataCoord": part(data_coord),
        "dataNode": part(data_node),
        "common": {
            "storageType": "local",
            "gracefulStopTimeout": 3,
            // Seconds, default 30. After a kill the parts wait for their own old sessions to
            // expire; and a server that hangs for longer never recovers.
            "session": {"ttl": 10},
        },
    })
}

/// Otherwise its etcd uses 2379 and 2380, so that only one Milvus could run.
fn etcd(folder: &Path, ports: &Ports) -> Value {
    let [_, client, peer, ..] = ports.inner.map(|port| format!("http://127.0.0.1:{port}"));
    json!({
        "name": "default",
        "data-dir": folder.join("data/etcd"),
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": format!("default={peer}"),
    })
}
