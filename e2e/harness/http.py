"""A plain HTTP/1.1 client that sends exactly the test's bytes."""

import http.client
import json
import time
from dataclasses import dataclass


@dataclass
class Answer:
    """A response. `complete` is false when the connection broke before its end."""

    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool
    seconds: float

    def json(self):
        return json.loads(self.body)

    @property
    def decision(self) -> str | None:
        return self.headers.get("x-memgate-decision")


def request(
    port: int,
    method: str,
    path: str,
    body: bytes | str | dict | None = None,
    headers: dict | list | None = None,
    *,
    chunked: bool = False,
    timeout: float = 60,
) -> Answer:
    """Sends one request to 127.0.0.1 and reads the whole answer.

    A dict is sent as JSON. With `chunked` the body has no content-length.
    """
    if isinstance(body, dict):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
    names = {name.lower() for name, _ in pairs}
    started = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        if body is not None and "content-type" not in names:
            connection.putheader("content-type", "application/json")
        for name, value in pairs:
            connection.putheader(name, value.encode() if isinstance(value, str) else value)
        if chunked:
            connection.putheader("transfer-encoding", "chunked")
            connection.endheaders(_pieces(body or b""), encode_chunked=True)
        else:
            if body is not None:
                connection.putheader("content-length", str(len(body)))
            try:
                connection.endheaders(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # an early answer: read it
        answer = connection.getresponse()
        complete = True
        try:
            content = answer.read()
        except http.client.IncompleteRead as error:
            content, complete = error.partial, False
        headers_read = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, headers_read, content, complete, time.monotonic() - started)
    finally:
        connection.close()


def _pieces(body: bytes, size: int = 60_000):
    for start in range(0, len(body), size):
        yield body[start : start + size]


def events(body: bytes) -> list:
    """The data of each event of a stream, read as JSON; `[DONE]` stays text."""
    out = []
    for block in body.decode().replace("\r\n", "\n").split("\n\n"):
        data = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if data:
            text = "\n".join(data)
            out.append(text if text == "[DONE]" else json.loads(text))
    return out
