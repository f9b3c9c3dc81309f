"""A real Milvus server, run by `cargo xtask milvus`; tests can start, freeze and kill it."""

import os
import signal
from pathlib import Path

from . import http, paths
from .process import Process, children, free_port, freeze


class Milvus:
    """A server with a data folder. It can be started again on the same port with the same data."""

    def __init__(self, folder: Path, *options):
        self.folder = folder
        self.port = free_port()
        self.runner: Process | None = None
        self._options = options

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> "Milvus":
        """Starts the server and returns when it answers. After a kill, searches can still fail for some seconds."""
        command = [paths.xtask(), "milvus", "--port", self.port, "--data", self.folder, *self._options]
        self.runner = Process("milvus", command)
        self.runner.wait_line("ready milvus", 120)
        return self

    def pid(self) -> int:
        """The process id of the server itself."""
        server, = children(self.runner.pid)
        return server

    def kill(self):
        """Kills the server, as a crash would; `cargo xtask milvus` ends with it."""
        os.kill(self.pid(), signal.SIGKILL)
        self.runner.wait_end()

    def freeze(self):
        """Freezes the server. Only for a short time: after ten seconds it no longer recovers."""
        freeze(self.pid(), "milvus")

    def thaw(self):
        os.kill(self.pid(), signal.SIGCONT)

    def stop(self) -> int | None:
        """Stops the server. Returns the exit status of `cargo xtask milvus`; None when it had to be killed."""
        return self.runner.stop() if self.runner else None

    # -- as its administrator -----------------------------------------------------------------------------------

    def collections(self) -> list[str]:
        return self._ask("GET", "/v1/vector/collections")

    def drop(self, collection: str):
        self._ask("POST", "/v1/vector/collections/drop", {"collectionName": collection})

    def _ask(self, method: str, path: str, body: dict | None = None):
        answer = http.request(self.port, method, path, body).json()
        assert answer["code"] == 200, answer
        return answer["data"]
