"""The environment of a command: a configuration, a data folder, and a memgate that may run on them."""

import json
import os
import subprocess
from pathlib import Path

from . import paths
from .memgate import Memgate


class Place:
    """A configuration and its data folder, with or without a memgate that runs on them."""

    def __init__(self, folder: Path, config: dict | None = None):
        self.folder = folder
        self.memgate = Memgate(folder)
        self.configure(config or {})

    def configure(self, config: dict):
        ports = {"http": f"127.0.0.1:{self.memgate.http_port}", "grpc": f"127.0.0.1:{self.memgate.grpc_port}"}
        usual = {"listen": ports, "data_dir": str(self.memgate.data), "assets_dir": str(paths.ASSETS)}
        self.memgate.configure({**usual, **config})

    def command(self, *args) -> list[str]:
        return [str(part) for part in (paths.memgate(), *args)]

    def environment(self, env: dict) -> dict:
        return {**os.environ, "MEMGATE_CONFIG": str(self.memgate.config_file), **env}

    def run(self, *args, env: dict | None = None, timeout: float = 90) -> subprocess.CompletedProcess:
        """Runs a command to its end."""
        # In a folder without a configuration file, so that only named files are used.
        return subprocess.run(
            self.command(*args), env=self.environment(env or {}), cwd=self.folder,
            capture_output=True, timeout=timeout,
        )

    def ok(self, *args, **options) -> str:
        done = self.run(*args, **options)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def json(self, *args, **options):
        return json.loads(self.ok(*args, "--json", **options))

    def fails(self, status: int, *args, **options) -> str:
        done = self.run(*args, **options)
        said = done.stderr.decode()
        assert done.returncode == status, done
        assert "error: " in said and "panicked" not in said, said
        return said
