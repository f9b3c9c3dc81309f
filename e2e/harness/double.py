"""The model double: the upstream of the tests. It keeps every request that it received."""

import base64
import json
import re
from dataclasses import dataclass

from . import http, paths
from .process import Process

MARK = "x-test"


@dataclass
class Received:
    """A request as the upstream received it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def json(self):
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def header_names(self) -> set[str]:
        return {name for name, _ in self.headers}


class Double:
    """The model double's process; with `port`, it listens on that port."""

    def __init__(self, port: int = 0):
        self.process = Process("model-double", [paths.double(), "--port", str(port)])
        line = self.process.wait_line("listening")
        self.port = int(re.search(r":(\d+)$", line).group(1))

    def requests(self, mark: str | None = None) -> list[Received]:
        """The requests received so far, oldest first; with `mark`, only those with this mark."""
        query = f"?header={MARK}&value={mark}" if mark else ""
        return [
            Received(
                one["method"],
                one["path"],
                [(name, value) for name, value in one["headers"]],
                base64.b64decode(one["body_base64"]),
            )
            for one in http.request(self.port, "GET", f"/_double/requests{query}").json()
        ]

    def forget(self):
        http.request(self.port, "DELETE", "/_double/requests")

    def script(self, *rules: dict):
        """Replaces the scripted replies."""
        answer = http.request(self.port, "POST", "/_double/script", json.dumps(rules))
        assert answer.status == 204, answer.body

    def stop(self):
        self.process.stop()
