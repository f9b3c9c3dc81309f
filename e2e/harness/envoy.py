"""Envoy with one of the project's own configurations, in which xtask replaces ports and upstream."""

import json
import subprocess
from pathlib import Path
from typing import Callable, Iterable
from urllib.parse import quote

from . import http, paths
from .process import Process, free_port
from .wait import until


def render(folder: Path, base: str, **options) -> dict:
    """The configuration that `cargo xtask envoy-config` writes."""
    out = folder / "envoy.json"
    command = [paths.xtask(), "envoy-config", "--base", paths.REPOSITORY / "envoy" / base, "--out", out]
    env = options.pop("env", None)
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", value]
    subprocess.run([str(part) for part in command], check=True, env=env)
    return json.loads(out.read_text())


def http_filter(config: dict, name: str) -> dict:
    """The configuration of one filter."""
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    return next(one for one in manager["http_filters"] if one["name"] == name)["typed_config"]


def cluster(config: dict, name: str) -> dict:
    return next(one for one in config["static_resources"]["clusters"] if one["name"] == name)


def wait_for_memgate(config: dict, seconds: str = "10s"):
    """Lets a request wait longer for memgate than the shipped configuration."""
    http_filter(config, "recall").update(message_timeout=seconds)


class Envoy:
    def __init__(
        self,
        folder: Path,
        upstream: str,
        grpc_port: int,
        base: str = "development.yaml",
        edits: Iterable[Callable[[dict], None]] = (),
        env: dict | None = None,
        **options,
    ):
        """`options`: further options of `cargo xtask envoy-config`."""
        self.port = free_port()
        config = render(
            folder, base, upstream=upstream, port=self.port, grpc_port=grpc_port, admin_port=0, env=env, **options
        )
        for edit in edits:
            edit(config)
        self.config = config
        file = folder / "envoy.json"
        file.write_text(json.dumps(config))
        admin = folder / "envoy-admin"
        self.process = Process(
            "envoy",
            [
                paths.envoy(),
                *("--config-path", file),
                *("--admin-address-path", admin),
                *("--log-level", "warning"),
                *("--file-flush-interval-msec", "50"),
                *("--concurrency", "2"),
                "--disable-hot-restart",
            ],
        )

        def started():
            assert self.process.running(), f"Envoy ended:\n{self.process.output()}"
            return admin.is_file() and admin.read_text().count(":") == 1 and self._ready(admin)

        until(started, "Envoy is ready", 60)

    def _ready(self, admin: Path) -> bool:
        self.admin_port = int(admin.read_text().rsplit(":", 1)[1])
        try:
            return http.request(self.admin_port, "GET", "/ready").status == 200
        except OSError:
            return False

    def stat(self, name: str) -> int:
        """The value of a counter or gauge, by its full name; 0 when Envoy has not created it yet."""
        only = quote("^" + name.replace(".", r"\.") + "$", safe="")
        answer = http.request(self.admin_port, "GET", f"/stats?format=json&filter={only}").json()
        return next((stat["value"] for stat in answer.get("stats", []) if stat.get("name") == name), 0)

    def grpc_calls(self) -> int:
        """How many streams to memgate were opened or tried so far."""
        return sum(self.stat(f"cluster.memgate_{name}.upstream_rq_total") for name in ("capture", "recall"))

    def access_log(self) -> list[dict]:
        """The access log so far."""
        lines = [line for line in self.process.lines if line.startswith("{")]
        return [json.loads(line) for line in lines]

    def stop(self):
        self.process.stop()
