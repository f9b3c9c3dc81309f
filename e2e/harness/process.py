"""A real process that a test can start, watch, stop, freeze or kill; it never outlives the tests."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

from . import paths
from .wait import until


def _ports():
    """Ports below those that the kernel gives to outgoing connections; each worker of pytest has its own range. So nobody
    takes a port between its choice and its use."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first, start = 12_000 + worker % 10 * 2_000, os.getpid() % 2_000
    return itertools.cycle(first + (start + step) % 2_000 for step in range(2_000))


PORTS = _ports()


def free_port() -> int:
    """A free port of the loopback address."""
    for port in PORTS:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def children(pid: int) -> list[int]:
    """The child processes of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end meanwhile.
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def freeze(pid: int, name: str):
    """Freezes a process: it keeps its connections and answers nothing."""
    os.kill(pid, signal.SIGSTOP)

    def stands_still():
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    until(stands_still, f"{name} stands still")


class Process:
    """One run of a program. Its output is kept line by line."""

    def __init__(self, name: str, command: list, *, keep_signals: bool = True, env: dict | None = None):
        self.name = name
        self.lines: list[str] = []
        # With the leash, the kernel ends the program when this process ends.
        leashed = [paths.xtask(), "leash", os.getpid(), "--", *command]
        self._process = subprocess.Popen(
            [str(part) for part in leashed],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            restore_signals=keep_signals,
            env={**os.environ, **(env or {})},
            cwd=paths.REPOSITORY,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.decode(errors="replace").rstrip("\n"))

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        return self._process.poll() is None

    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_line(self, part: str, seconds: float = 20) -> str:
        """Waits for the first line that contains `part`; fails at once when the process ends without it."""

        def found():
            ended = not self.running()
            if ended:
                self._reader.join(timeout=5)
            line = next((line for line in self.lines if part in line), None)
            if line is None and ended:
                raise AssertionError(f"{self.name} ended without saying {part!r}:\n{self.output()}")
            return line

        return until(found, f"{self.name} says {part!r}", seconds)

    def wait_end(self, seconds: float = 30) -> int:
        """Waits for the exit status; fails when the process does not end in time."""
        status = self._process.wait(timeout=seconds)
        self._reader.join(timeout=5)
        return status

    def signal(self, number: int):
        os.kill(self.pid, number)

    def freeze(self):
        freeze(self.pid, self.name)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """Kills the process, as a crash would."""
        self._process.kill()
        self.wait_end()

    def stop(self, seconds: float = 30) -> int | None:
        """Sends SIGTERM, then kills; returns the exit status of a process that ended by itself."""
        if self.running():
            self.thaw()
            self._process.terminate()
            try:
                return self.wait_end(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                return None
        return self._process.returncode
