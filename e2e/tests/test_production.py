"""production.yaml: only what Envoy verified identifies the user."""

import time

import pytest

from harness.context import context_of
from harness.issuer import Issuer
from harness.memgate import Memgate
from harness.production import trusting
from harness.stack import CHAT, Person, Stack

FACT = "My secret word is kestrel"
QUESTION = "What is my secret word?"


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture(scope="module")
def production(tmp_path_factory, issuer):
    folder = tmp_path_factory.mktemp("production")
    # No mode is named: production is the default.
    stack = Stack(folder, {"memory": {"identity": {}}}, base="production.yaml", edit=trusting(issuer, folder))
    yield stack
    stack.stop()


class Bearer(Person):
    """A person who is identified by a token instead of a header."""

    token = ""

    @property
    def headers(self):
        named = super().headers
        del named["x-authz-user-id"]
        return {**named, "authorization": f"Bearer {self.token}"}


@pytest.fixture
def bearer(production, issuer):
    def make(subject=None, **claims) -> Bearer:
        person = Bearer(production, subject or production.person().id)
        person.token = issuer.token(person.id, **claims)
        return person

    return make


def later(person: Bearer) -> Bearer:
    again = Bearer(person.stack, person.id, mark=person.mark)
    again.token = person.token
    return again


def recalled(person) -> str:
    return context_of(person.received()[-1].json()) or ""


def test_the_token_says_whose_memory_it_is(bearer):
    alice, bob = bearer(), bearer()
    alice.say(FACT)
    alice.learn()
    assert later(alice).say(QUESTION).decision == "searched"
    assert "kestrel" in recalled(alice)
    bob.say(QUESTION)
    assert recalled(bob) == ""


@pytest.mark.parametrize("token", ["none", "garbage", "expired", "other audience", "other issuer", "unsigned key"])
@pytest.mark.parametrize("method, path", [("POST", CHAT), ("GET", "/v1/models")])
def test_without_a_valid_token_nothing_passes(production, issuer, bearer, token, method, path):
    from harness.http import request

    alice = bearer()
    alice.token = {
        "none": "",
        "garbage": "a.b.c",
        "expired": issuer.token(alice.id, exp=int(time.time()) - 3600),
        "other audience": issuer.token(alice.id, aud="elsewhere"),
        "other issuer": issuer.token(alice.id, iss="https://evil.example.com/"),
        "unsigned key": Issuer().token(alice.id),
    }[token]
    body = {"model": "echo", "messages": [{"role": "user", "content": FACT}]} if method == "POST" else None
    answer = request(production.envoy.port, method, path, body, alice.headers)
    assert answer.status == 401 or (token == "other audience" and answer.status == 403)
    assert alice.received() == []
    assert production.memgate.process.running()


def test_a_rejected_token_is_not_learned_from(bearer):
    alice = bearer()
    good, alice.token = alice.token, "a.b.c"
    assert alice.say(FACT).status == 401
    alice.token = good
    alice.say("My boat is called Halcyon")
    alice.learn()
    assert alice.turns() == 1


def test_a_forged_identity_header_has_no_effect(bearer):
    alice, mallory = bearer(), bearer()
    alice.say(FACT)
    alice.learn()
    for forged in ({"x-authz-user-id": alice.id}, {"X-Authz-User-Id": alice.id, "x-authz-tenant-id": "default"}):
        assert later(mallory).say(QUESTION, forged).decision == "searched"
        assert recalled(mallory) == ""
        assert not [name for name in mallory.received()[-1].header_names() if name.startswith("x-authz")]


def test_signals_are_not_taken_from_clients(bearer):
    alice = bearer()
    answer = alice.say(QUESTION, {"x-memgate-signal-tool": "true"})
    assert answer.decision == "searched"


def test_a_user_id_in_the_body_that_differs_turns_memory_off(bearer):
    alice, mallory = bearer(), bearer()
    alice.say(FACT)
    alice.learn()
    answer = mallory.say(QUESTION, memory_context={"user_id": alice.id})
    assert (answer.status, answer.decision) == (200, "failed:identity")
    assert recalled(mallory) == "" and "memory_context" not in mallory.received()[-1].json()
    answer = later(alice).say(QUESTION, memory_context={"user_id": alice.id})
    assert answer.decision == "searched" and "kestrel" in recalled(alice)


def test_other_ids_in_the_body_are_ignored(bearer):
    alice, mallory = bearer(), bearer()
    alice.say(FACT)
    alice.learn()
    answer = mallory.say(QUESTION, user=alice.id, metadata={"user_id": alice.id})
    assert answer.decision == "searched" and recalled(mallory) == ""


def test_tenants_are_kept_apart(bearer):
    red = bearer("shared-name", tenant="red")
    blue = bearer("shared-name", tenant="blue")
    red.say(FACT)
    # The REST API's flush is by user; this checks what a request of the tenant gets.
    from harness.wait import until

    def found():
        later(red).say(QUESTION, {"x-memory-auto-store": "false"})
        return "kestrel" in recalled(red)

    until(found, "red remembers", 30)
    blue.say(QUESTION)
    assert recalled(blue) == ""


def test_the_token_does_not_reach_the_upstream(bearer):
    alice = bearer()
    alice.say("Hello!")
    assert alice.received()[0].header("authorization") is None


def test_a_token_without_a_user_gets_no_memory(production, issuer):
    nobody = Bearer(production, "nobody")
    nobody.token = issuer.token(None)
    answer = nobody.say(QUESTION)
    assert (answer.status, answer.decision) == (200, "failed:identity")


def test_while_memgate_is_down_identity_headers_do_not_pass_either(start, issuer, tmp_path):
    stack = start(base="production.yaml", edit=trusting(issuer, tmp_path), memgate=False)
    alice = Bearer(stack, "alice")
    alice.token = issuer.token("alice")
    assert alice.say("Hello!", {"x-authz-user-id": "bob", "x-authz-roles": "admin"}).status == 200
    received = alice.received()[0]
    assert not [name for name in received.header_names() if name.startswith("x-authz")]


VICTIM = [
    {"user": "alice"},
    {"metadata": {"user_id": "alice"}},
    {"memory_context": {"user_id": "alice"}},
    {"user": "alice", "metadata": {"user_id": "alice"}, "memory_context": {"user_id": "alice"}},
]


@pytest.mark.parametrize("mode", ["default", "development", "production"])
def test_a_token_opens_only_its_own_users_memory_in_every_mode(start, issuer, tmp_path, mode):
    identity = {} if mode == "default" else {"mode": mode}
    stack = start({"memory": {"identity": identity}}, base="production.yaml", edit=trusting(issuer, tmp_path))
    alice, mallory = Bearer(stack, "alice"), Bearer(stack, "mallory")
    alice.token, mallory.token = issuer.token("alice"), issuer.token("mallory")
    alice.say(FACT)
    alice.learn()
    assert later(alice).say(QUESTION).decision == "searched" and "kestrel" in recalled(alice)
    for naming in VICTIM:
        answer = later(mallory).say(QUESTION, {"x-authz-user-id": "alice"}, **naming)
        assert answer.status == 200
        assert "kestrel" not in mallory.received()[-1].body.decode(), naming
    mallory.say("My boat is called Halcyon", user="alice")
    mallory.learn()
    assert "Halcyon" not in stack.memgate.texts("alice")


@pytest.mark.parametrize("mode", ["default", "development", "production"])
def test_the_identity_mode_is_shown(tmp_path, mode):
    memgate = Memgate(tmp_path, {"memory": {"identity": {} if mode == "default" else {"mode": mode}}})
    try:
        memgate.start()
        shown = "production" if mode == "default" else mode
        assert memgate.api("GET", "/readyz").json()["identity_mode"] == shown
        assert memgate.metric("memgate_identity_mode", mode=shown) == 1
        assert memgate.metric("memgate_identity_mode") == 1
    finally:
        memgate.stop()
