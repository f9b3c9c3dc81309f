"""The whole stack (Envoy, memgate, model double), and the persons who talk through it."""

import uuid
from pathlib import Path
from typing import Callable

import openai

from . import http
from .double import MARK, Double, Received
from .envoy import Envoy, wait_for_memgate
from .memgate import Memgate

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"


class Stack:
    """Envoy before the model double, with memgate; all real.

    `config` may be a function of the double, for a memgate that asks it for help too. A patient stack waits longer
    for memory than what is shipped: a busy machine must not make tests fail whose matter is not time. `envoy` are
    further options of `cargo xtask envoy-config`. memgate and Envoy start at the same time, unless `edit` needs memgate's
    REST API (`memgate_first`).
    """

    def __init__(self, folder: Path, config: dict | Callable[[Double], dict] | None = None, *,
                 base: str = "development.yaml", edit=None, memgate: bool = True, patient: bool = True,
                 envoy: dict | None = None, memgate_first: bool = False):
        self.folder = folder
        self._stops = []
        try:
            self.double = self._keep(Double())
            config = config(self.double) if callable(config) else config
            self.memgate = self._keep(Memgate(folder, config, patient=patient))
            if memgate:
                self.memgate.start(ready=memgate_first)
            upstream = f"http://127.0.0.1:{self.double.port}"
            edits = [wait_for_memgate] if patient else []
            self.envoy = self._keep(
                Envoy(folder, upstream, self.memgate.grpc_port, base, [*edits, *([edit] if edit else [])],
                      http_port=self.memgate.http_port, **(envoy or {}))
            )
            if memgate:
                self.memgate.wait_ready()
        except BaseException:
            self.stop()
            raise

    def _keep(self, part):
        self._stops.append(part.stop)
        return part

    def stop(self):
        while self._stops:
            self._stops.pop()()

    def person(self, name: str = "user") -> "Person":
        """A new user."""
        return Person(self, f"{name}-{uuid.uuid4().hex[:12]}")

    def flush(self, *people: "Person"):
        for person in people:
            self.memgate.flush(person.id)


class Person:
    """A user with an id of its own, whose requests can be recognised at the upstream."""

    def __init__(self, stack: Stack, id_: str, session: str | None = None, mark: str | None = None):
        self.stack, self.id = stack, id_
        self.session = session or uuid.uuid4().hex
        self.mark = mark or uuid.uuid4().hex

    def later(self) -> "Person":
        """The same user in another session."""
        return Person(self.stack, self.id, mark=self.mark)

    @property
    def headers(self) -> dict[str, str]:
        return {"x-authz-user-id": self.id, "x-session-id": self.session, MARK: self.mark}

    # -- with the official client -------------------------------------------------------------------------------

    def openai(self, **headers) -> openai.OpenAI:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return openai.OpenAI(
            base_url=f"http://127.0.0.1:{self.stack.envoy.port}/v1",
            api_key="unused",
            max_retries=0,
            timeout=60,
            default_headers={**self.headers, **named},
        )

    # -- with plain HTTP ----------------------------------------------------------------------------------------

    def post(self, path: str, body, headers: dict | None = None, **options) -> http.Answer:
        """Sends a request as given; a header that is None is left out."""
        merged = {**self.headers, **(headers or {})}
        merged = {name: value for name, value in merged.items() if value is not None}
        return http.request(self.stack.envoy.port, "POST", path, body, merged, **options)

    def say(self, text: str, headers: dict | None = None, **fields) -> http.Answer:
        """Sends one user message by Chat Completions."""
        body = {"model": "echo", "messages": [{"role": "user", "content": text}], **fields}
        return self.post(CHAT, body, headers)

    def respond(self, text: str, headers: dict | None = None, **fields) -> http.Answer:
        """Sends one user message by Responses."""
        return self.post(RESPONSES, {"model": "echo", "input": text, **fields}, headers)

    # -- the result --------------------------------------------------------------------------------------

    def received(self) -> list[Received]:
        """The requests that the upstream received from this person, in any session."""
        return self.stack.double.requests(self.mark)

    def learn(self):
        """Waits until memgate has learned from this person's turns."""
        self.stack.memgate.flush(self.id)

    def turns(self) -> int:
        """How many complete turns of this person were journaled, in all sessions."""
        return self.stack.memgate.turns_of(self.id)

    def memories(self) -> list[dict]:
        return self.stack.memgate.memories(self.id)

    def remembered_turns(self) -> list[dict]:
        """The turn memories, without statements and summaries."""
        said = [memory for memory in self.memories() if memory["source"] != "system_generated"]
        return [memory for memory in said if memory["type"] == "episodic"]

    def knows(self, text: str) -> bool:
        """Whether any memory of this person contains this text."""
        return text in self.stack.memgate.texts(self.id)
