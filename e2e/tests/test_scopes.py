"""Whose memories a request is given: the user's own, and of those that others of the tenant share the ones that this
user, in these roles and by this agent, may read. In production, behind Envoy, on every store that needs no server."""

import pytest

from harness import http
from harness.context import context_of
from harness.issuer import Issuer
from harness.memgate import KEY_ENV
from harness.postgres import Postgres
from harness.production import stack_with_gateway_key
from harness.stack import CHAT, Stack

QUESTION = "Where is the key to the boat house?"


def config(store: dict, **memory) -> dict:
    memory = {"identity": {"mode": "production"}, "scopes": {"shared": True}, "debug_metadata": True, **store, **memory}
    return {"memory": memory, "api": {"key_env": KEY_ENV}}


class Office:
    """A stack with users of two tenants."""

    def __init__(self, folder, settings: dict):
        self.issuer = Issuer()
        self.stack: Stack = stack_with_gateway_key(folder, self.issuer, settings)

    def put(self, content: str, **members):
        made = self.stack.memgate.api("POST", "/v1/memory", {"content": content, **members})
        assert made.status == 201, made.body
        return made.json()

    def ask(self, user: str, *, tenant="acme", roles=(), agent=None, claims=None, question=QUESTION, **fields) -> str:
        """The context that the model server gets."""
        token = self.issuer.token(user, tenant=tenant, roles=list(roles), **(claims or {}))
        context = {"memory_context": {"agent_id": agent}} if agent else {}
        body = {"model": "echo", "messages": [{"role": "user", "content": question}], **context, **fields}
        before = len(self.stack.double.requests())
        headers = {"authorization": f"Bearer {token}", "x-session-id": f"{user}-{before}"}
        answer = http.request(self.stack.envoy.port, "POST", CHAT, body, headers)
        assert answer.status == 200, answer.body
        return context_of(self.stack.double.requests()[-1].json()) or ""


@pytest.fixture(params=["sqlite", "postgres"])
def office(request, tmp_path):
    server = Postgres(tmp_path / "postgres").start() if request.param == "postgres" else None
    made = Office(tmp_path, config(server.config if server else {"store": "sqlite"}))
    yield made
    made.stack.stop()
    if server:
        server.stop()


def test_a_request_is_given_what_others_share_with_it_and_nothing_else(office):
    acme = {"tenant_id": "acme"}
    office.put("The key to the boat house hangs behind the amber door", space="organisation", **acme)
    office.put("Harbour staff find the spare boat house key inside the birch safe", space="organisation", **acme,
               visibility={"kind": "shared", "roles": ["harbour"]})
    office.put("Skippers turn the boat house key twice, then pull the cedar lever", space="agent:skipper", **acme)
    office.put("I keep a copy of the boat house key under a damson tree", user_id="alice", **acme,
               visibility={"kind": "shared", "users": ["bob"]})
    office.put("My own boat house key lies in the elder box at home", user_id="alice", **acme)
    office.put("Our boat house key is kept by the fennel shop", space="organisation", tenant_id="other")
    marks = ["amber", "birch", "cedar", "damson", "elder", "fennel"]
    for asks, expected in [
        ({"user": "bob"}, {"amber", "damson"}),
        ({"user": "bob", "roles": ["harbour"]}, {"amber", "birch", "damson"}),
        ({"user": "bob", "agent": "skipper"}, {"amber", "cedar", "damson"}),
        ({"user": "bob", "agent": "other"}, {"amber", "damson"}),
        ({"user": "carol", "roles": ["bob"]}, {"amber"}),
        ({"user": "alice"}, {"amber", "damson", "elder"}),
        ({"user": "bob", "tenant": "other"}, {"fennel"}),
        ({"user": "bob", "tenant": None}, set()),
    ]:
        shown = office.ask(**asks)
        assert {mark for mark in marks if mark in shown} == expected, (asks, shown)
    shown = office.ask("bob", roles=["harbour"], agent="skipper")
    lines = {mark: line for mark in marks for line in shown.splitlines() if mark in line}
    assert "the organisation's" in lines["amber"] and "the agent's" in lines["cedar"]
    assert "shared by another user" in lines["damson"]
    own = office.ask("alice").splitlines()
    assert not any("shared" in line for line in own if "elder" in line)


def test_what_is_taken_back_or_deleted_is_shown_to_nobody_at_once(office):
    memory = office.put("I keep a copy of the boat house key under a damson tree", user_id="alice", tenant_id="acme",
                        visibility={"kind": "public"})
    assert memory["visibility"] == {"kind": "public"}
    path = f"/v1/memory/{memory['id']}?user_id=alice&tenant_id=acme"
    assert "damson" in office.ask("bob")
    for change, shown in [
        ({"visibility": {"kind": "private"}}, False),
        ({"visibility": {"kind": "shared", "users": ["carol"], "roles": []}}, False),
        ({"visibility": {"kind": "shared", "users": ["bob"], "roles": []}}, True),
    ]:
        assert office.stack.memgate.api("PATCH", path, change).status == 200
        assert ("damson" in office.ask("bob")) == shown, change
    assert office.stack.memgate.api("DELETE", path).json()["deleted"] == 1
    assert "damson" not in office.ask("bob")
    assert "damson" not in office.ask("alice")


def test_each_scope_has_its_limit(office):
    content = "The key to the boat house number {n} of {whose} has the colour {colour}"
    colours = ["red", "blue", "green", "black", "white", "pink", "grey"]
    for n, colour in enumerate(colours):
        for whose, members in [("bob", {"user_id": "bob"}), ("the office", {"space": "organisation"}),
                               ("the skipper", {"space": "agent:skipper"})]:
            office.put(content.format(n=n, whose=whose, colour=colour), tenant_id="acme", **members)
    shown = office.ask("bob", agent="skipper", memory_config={"retrieval_limit": 40, "similarity_threshold": 0.0})
    counts = [shown.count(f"of {whose} has") for whose in ("bob", "the office", "the skipper")]
    assert counts[0] >= 5 and counts[1] <= 5 and counts[2] <= 3, shown


def test_only_a_key_that_reaches_the_tenant_writes_to_its_spaces(office):
    def key(**bound) -> dict:
        body = {"name": ".".join(bound.values()).replace(":", "-"), "scopes": ["read", "write"], **bound}
        made = office.stack.memgate.api("POST", "/admin/keys", body)
        return {"authorization": f"Bearer {made.json()['key']}"}

    def write(headers: dict, space="organisation", tenant="acme") -> int:
        body = {"content": "The boat house is closed in winter", "space": space, "tenant_id": tenant}
        return http.request(office.stack.memgate.http_port, "POST", "/v1/memory", body, headers).status

    of_acme = key(tenant_id="acme")
    assert write(of_acme) == 201
    assert write(of_acme, space="agent:skipper") == 201
    assert write(key(tenant_id="other")) == 404
    assert write(key(user_id="alice", tenant_id="acme")) == 404
    of_agent = key(space="agent:skipper", tenant_id="acme")
    assert write(of_agent, space="agent:skipper") == 201
    for space, tenant in [("organisation", "acme"), ("agent:other", "acme"), ("agent:skipper", "default")]:
        assert write(of_agent, space=space, tenant=tenant) == 404
    port = office.stack.memgate.http_port
    assert http.request(port, "GET", "/v1/memory?user_id=alice&tenant_id=acme", None, of_agent).status == 404
    known = http.request(port, "GET", "/v1/memory?space=agent:skipper", None, of_agent).json()["memories"]
    assert known and all(one["space"] == "agent:skipper" for one in known)
    token = office.issuer.token("alice", tenant="acme", roles=["admin"])
    body = {"content": "The boat house is mine", "space": "organisation"}
    answer = http.request(office.stack.envoy.port, "POST", "/v1/memory", body, {"authorization": f"Bearer {token}"})
    assert answer.status in (400, 404)
    for body, param in [
        ({"space": "organisation", "visibility": {"kind": "private"}}, "visibility"),
        ({"space": "team"}, "space"),
        ({"space": "organisation", "user_id": "alice"}, "space"),
        ({}, "user_id"),
        ({"user_id": "alice", "visibility": {"kind": "shared", "users": ["a\nb"]}}, "visibility.users"),
    ]:
        answer = office.stack.memgate.api("POST", "/v1/memory", {"content": "x y z", **body})
        assert (answer.status, answer.json()["error"]["param"]) == (400, param), body


def test_where_the_token_names_the_agent_the_clients_word_does_not_count(tmp_path):
    identity = {"mode": "production", "jwt": {"agent_claim": "agent"}}
    office = Office(tmp_path, config({"store": "sqlite"}, identity=identity))
    try:
        office.put("Skippers turn the boat house key twice, then pull the cedar lever", space="agent:skipper", tenant_id="acme")
        assert "cedar" in office.ask("bob", claims={"agent": "skipper"})
        assert "cedar" not in office.ask("bob", agent="skipper")
        assert "cedar" not in office.ask("bob", agent="skipper", claims={"agent": "other"})
    finally:
        office.stack.stop()


def test_a_tool_loop_shows_what_is_taken_back_no_longer(office):
    memory = office.put("I keep a copy of the boat house key under a damson tree", user_id="alice", tenant_id="acme",
                        visibility={"kind": "public"})
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    results = [{"role": "assistant", "content": None, "tool_calls": [call]},
               {"role": "tool", "tool_call_id": "c1", "content": "nothing"}]
    token = office.issuer.token("bob", tenant="acme")

    def calls(*more) -> str:
        body = {"model": "echo", "messages": [{"role": "user", "content": QUESTION}, *more], "tools": [tool]}
        headers = {"authorization": f"Bearer {token}", "x-session-id": "loop"}
        assert http.request(office.stack.envoy.port, "POST", CHAT, body, headers).status == 200
        return context_of(office.stack.double.requests()[-1].json()) or ""

    first = calls()
    assert "damson" in first and calls(*results) == first
    path = f"/v1/memory/{memory['id']}?user_id=alice&tenant_id=acme"
    assert office.stack.memgate.api("PATCH", path, {"visibility": {"kind": "private"}}).status == 200
    assert "damson" not in calls(*results)


def test_nothing_shared_is_searched_unless_it_is_configured(tmp_path):
    office = Office(tmp_path, config({"store": "sqlite"}, scopes={"shared": False}))
    try:
        office.put("The key to the boat house hangs behind the amber door", space="organisation", tenant_id="acme")
        assert "amber" not in office.ask("bob")
    finally:
        office.stack.stop()
