"""The real memgate process: its REST API, its log, its metrics, and ways to stop it."""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote

from . import http, log, paths
from .process import Process, free_port
from .wait import until


# Enough for an unoptimised build on a busy machine, in tests that are not about time.
PATIENT_MS = 8000


# The API's key in all tests. Without one, /admin answers to nobody.
KEY_ENV, KEY = "MEMGATE_E2E_KEY", "0123456789abcdef0123456789abcdef"
os.environ[KEY_ENV] = KEY
BEARER = {"authorization": f"Bearer {KEY}"}


class Memgate:
    """A process with a data folder. It can be started again on the same ports with the same data.

    A patient one has a longer deadline than what is shipped.
    """

    def __init__(self, folder: Path, config: dict | None = None, *, data: Path | None = None, patient: bool = True):
        self.folder = folder
        self.patient = patient
        self.data = data or folder / "data"
        self.grpc_port, self.http_port = free_port(), free_port()
        self.config_file = folder / "config.yaml"
        self.process: Process | None = None
        self.configure(config or {})

    def configure(self, config: dict):
        """Writes the configuration (JSON is YAML). Logs are JSON at debug, so that levels can be asserted.

        Clients are believed about their user unless `config` says otherwise: most tests send no token.
        """
        usual = {"telemetry": {"log": "debug", "log_format": "json"}, "api": {"key_env": KEY_ENV}}
        config = {**usual, **config}
        memory = {"identity": {"mode": "development"}, **config.get("memory", {})}
        config["memory"] = {"deadline_ms": PATIENT_MS, **memory} if self.patient else memory
        # Envoy connects to the port, unless the configuration names an address.
        self.grpc = config.get("listen", {}).get("grpc", f"127.0.0.1:{self.grpc_port}")
        self.config_file.write_text(json.dumps(config, indent=2))

    def start(self, *, ready: bool = True, env: dict | None = None) -> "Memgate":
        self.process = Process(
            "memgate",
            [
                *(paths.memgate(), "serve"),
                *("--config", self.config_file),
                *("--data", self.data),
                *("--assets", paths.ASSETS),
                *("--grpc", self.grpc),
                *("--http", f"127.0.0.1:{self.http_port}"),
            ],
            # Exceeding a file size limit must be an error for memgate and not a fatal signal.
            keep_signals=False,
            env=env,
        )
        log.WATCH.add(self.process)
        if not self.patient:
            # A busy machine exceeds the shipped deadline now and then.
            log.WATCH.expect("Memory search timeout, skipping")
        if ready:
            self.wait_ready()
        return self

    def refuses(self) -> str:
        """Starts memgate, which must refuse its configuration or its data; returns what it says."""
        self.start(ready=False)
        try:
            assert self.process.wait_end() == 1, self.process.output()
        finally:
            self.stop()
        return self.process.output()

    def wait_ready(self, seconds: float = 60):
        def ready():
            assert self.process.running(), f"memgate ended:\n{self.process.output()}"
            return self.status("/readyz") == 200

        until(ready, "memgate is ready", seconds)

    def status(self, path: str) -> int | None:
        """The status of a GET; None when no process listens."""
        try:
            return http.request(self.http_port, "GET", path).status
        except OSError:
            return None

    # -- REST ---------------------------------------------------------------------------------------------------

    def api(self, method: str, path: str, body: dict | None = None) -> http.Answer:
        return http.request(self.http_port, method, path, body, BEARER)

    def memories(self, user: str, **filters) -> list[dict]:
        """All memories of a user, newest first."""
        query = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in {"user_id": user, **filters}.items())
        found, cursor = [], None
        while True:
            after = f"&cursor={quote(cursor, safe='')}" if cursor else ""
            answer = self.api("GET", f"/v1/memory?limit=100&{query}{after}")
            assert answer.status == 200, answer.body
            page = answer.json()
            found += page["memories"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def texts(self, user: str) -> str:
        """The content of all of a user's memories."""
        return "\n".join(memory["content"] for memory in self.memories(user))

    def flush(self, user: str) -> dict:
        """Waits until memgate has learned from all of the user's turns so far."""
        answer = self.api("POST", "/v1/memory/flush", {"user_id": user, "timeout_ms": 50_000})
        assert answer.status == 200, answer.body
        flushed = answer.json()
        assert flushed["jobs_pending"] == 0, flushed
        return flushed

    def search(self, user: str, query: str, **options) -> list[dict]:
        answer = self.api("POST", "/v1/memory/search", {"user_id": user, "query": query, **options})
        assert answer.status == 200, answer.body
        return answer.json()["hits"]

    # -- metrics and log -----------------------------------------------------------------------------------------

    def metric(self, name: str, **labels) -> float:
        """The sum of a metric's samples that have these labels; 0 when there is none."""
        text = http.request(self.http_port, "GET", "/metrics").body.decode()
        total = 0.0
        for line in text.splitlines():
            match = re.fullmatch(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)", line)
            if not match or match[1] != name:
                continue
            found = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
            if all(found.get(key) == value for key, value in labels.items()):
                total += float(match[3])
        return total

    def turns(self) -> float:
        """How many turns of all users were journaled since the start; a late one of an earlier test counts too."""
        return self.metric("memgate_turns_journaled_total")

    def turns_of(self, user: str) -> int:
        """How many complete turns of this user were journaled, also before a restart."""
        answer = self.api("GET", f"/v1/sessions?limit=100&user_id={quote(user, safe='')}")
        assert answer.status == 200, answer.body
        page = answer.json()
        assert page["next_cursor"] is None, "more sessions than a page holds"
        return sum(session["turns"] for session in page["sessions"])

    def log(self) -> list[tuple[str, str]]:
        """(level, message) of each log line."""
        return [found for found in map(log.entry, self.process.lines) if found]

    def logged(self, level: str, message: str) -> int:
        """How many log lines of this level have `message` in them; the test allows them."""
        log.WATCH.expect(message)
        return sum(found == level and message in text for found, text in self.log())

    def wait_log(self, level: str, message: str, seconds: float = 30, *, after: int = 0):
        """Waits for a log line of this level with `message` in it, beyond the `after` that `logged` counted before."""
        until(
            lambda: self.logged(level, message) > after,
            f"memgate logs [{level}] {message!r}; it logged {self.log()[-8:]}",
            seconds,
        )

    # -- ending it -----------------------------------------------------------------------------------------------

    def kill(self):
        self.process.kill()

    def stop(self) -> int | None:
        """Stops memgate. Returns its exit status; None when it did not end in time and was killed."""
        return self.process.stop() if self.process else None

    def restart(self):
        self.stop()
        self.start()
