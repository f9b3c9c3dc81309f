"""Sessions without a user: their memory is theirs alone, and ends with them."""

import secrets
import sqlite3

import pytest

from harness import http
from harness.context import context_of
from harness.memgate import BEARER, KEY_ENV
from harness.stack import CHAT, Stack
from harness.wait import until

FACT = "My boat is called Heron"
QUESTION = "What is my boat called?"


def config(**sessions) -> dict:
    memory = {"identity": {"mode": "production"}, "anonymous_sessions": sessions, "store": "sqlite"}
    return {"memory": memory, "api": {"key_env": KEY_ENV}}


class Visitor:
    """Somebody who has nothing but a session id."""

    def __init__(self, stack: Stack, session: str | None, header: str = "x-session-id"):
        self.stack, self.session, self.header = stack, session, header

    def say(self, text: str) -> http.Answer:
        body = {"model": "echo", "messages": [{"role": "user", "content": text}]}
        headers = {self.header: self.session} if self.session else {}
        return http.request(self.stack.envoy.port, "POST", CHAT, body, headers)

    def is_told(self) -> bool:
        answer = self.say(QUESTION)
        assert answer.status == 200
        return "Heron" in (context_of(self.stack.double.requests()[-1].json()) or "")

    def learns(self):
        assert self.say(FACT).status == 200
        until(self.is_told, "the session to know its own words")


@pytest.fixture
def stack(tmp_path, request):
    made = Stack(tmp_path, config(**request.param))
    yield made
    made.stop()


def kept(stack: Stack) -> list[str]:
    """The stored memories of sessions without a user."""
    with sqlite3.connect(f"file:{stack.memgate.data / 'memories.db'}?mode=ro", uri=True) as memories:
        found = memories.execute("SELECT content FROM memories WHERE instr(owner, '/%session:')")
        return [content for (content,) in found]


@pytest.mark.parametrize("stack", [{"enabled": True}], indirect=True)
def test_two_sessions_never_meet_and_a_weak_id_has_no_memory(stack):
    one, other = Visitor(stack, secrets.token_hex(16)), Visitor(stack, secrets.token_urlsafe(24))
    one.learns()
    assert not other.is_told()
    for id_ in ["session-1", one.session[:-1], one.session.upper(), "a" * 64, None]:
        weak = Visitor(stack, id_)
        assert not weak.is_told(), id_
    assert Visitor(stack, "session-1").say(FACT).decision == "skipped:no_identity"
    user = stack.person()
    user.say(QUESTION)
    assert "Heron" not in (context_of(user.received()[-1].json()) or "")
    files = [file.read_bytes() for file in stack.memgate.data.rglob("*") if file.is_file()]
    assert not any(one.session.encode() in content for content in files), "the id is a secret"
    assert any("Heron" in content for content in kept(stack))
    export = stack.memgate.api("GET", "/admin/memory/export").body.decode()
    assert "Heron" not in export and one.session not in export, "it is never long-term"


@pytest.mark.parametrize("stack", [{"enabled": True, "ttl_seconds": 2, "max_memories": 5}], indirect=True)
def test_what_a_session_told_is_gone_with_it_and_bounded_before(stack):
    visitor = Visitor(stack, secrets.token_hex(16))
    visitor.learns()
    until(lambda: not any("Heron" in content for content in kept(stack)), "the session to be erased", seconds=90)
    assert not visitor.is_told()
    for n in range(8):
        visitor.say(f"The cupboard number {n} holds {secrets.token_hex(4)}")
    until(lambda: any("cupboard number 7" in content for content in kept(stack)), "the last cupboard")
    assert sum("cupboard" in content for content in kept(stack)) <= 5


@pytest.mark.parametrize("stack", [{}], indirect=True)
def test_there_are_none_unless_they_are_asked_for(stack):
    visitor = Visitor(stack, secrets.token_hex(16))
    answer = visitor.say(FACT)
    assert (answer.status, answer.decision) == (200, "skipped:no_identity")
    assert not visitor.is_told()


@pytest.mark.parametrize("stack", [{"enabled": True, "header": "x-gateway-session"}], indirect=True)
def test_where_envoy_names_the_session_the_clients_word_does_not_count(stack):
    by_envoy = Visitor(stack, "s1", header="x-gateway-session")
    by_envoy.learns()
    client = Visitor(stack, secrets.token_hex(16))
    assert client.say(FACT).decision == "skipped:no_identity"
    assert not Visitor(stack, "s1").is_told()
    assert not Visitor(stack, "s2", header="x-gateway-session").is_told()
