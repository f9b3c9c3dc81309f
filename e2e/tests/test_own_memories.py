"""Users manage their own memories through Envoy, by the identity that it verified."""

import pytest

from harness import http
from harness.issuer import Issuer
from harness.memgate import BEARER
from harness.production import stack_with_gateway_key
from harness.stack import CHAT

@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture(scope="module")
def stack(tmp_path_factory, issuer):
    stack = stack_with_gateway_key(tmp_path_factory.mktemp("own"), issuer, {"memory": {"identity": {}}})
    yield stack
    stack.stop()


@pytest.fixture
def ask(stack, issuer):
    def ask(user, method, path, body=None, headers=None, **claims):
        headers = {"authorization": f"Bearer {issuer.token(user, **claims)}", **(headers or {})}
        return http.request(stack.envoy.port, method, path, body, headers)

    return ask


def remember(stack, user, content, **fields) -> str:
    answer = stack.memgate.api("POST", "/v1/memory", {"user_id": user, "content": content, **fields})
    assert answer.status == 201, answer.body
    return answer.json()["id"]


def contents(answer) -> list[str]:
    assert answer.status == 200, answer.body
    return [memory["content"] for memory in answer.json()["memories"]]


def test_a_user_sees_and_deletes_only_their_own_memories_without_naming_themselves(stack, ask):
    alice, bob = stack.person().id, stack.person().id
    alices, bobs = remember(stack, alice, "Alice likes tea"), remember(stack, bob, "Bob likes coffee")
    assert contents(ask(alice, "GET", "/v1/memory")) == ["Alice likes tea"]
    assert contents(ask(alice, "GET", f"/v1/memory?user_id={alice}")) == ["Alice likes tea"]
    found = ask(alice, "POST", "/v1/memory/search", {"query": "who likes coffee or tea?", "threshold": 0}).json()
    assert {hit["memory"]["user_id"] for hit in found["hits"]} == {alice}
    assert ask(alice, "GET", f"/v1/memory/{bobs}").status == 404
    assert ask(alice, "DELETE", f"/v1/memory/{bobs}").status == 404
    assert ask(alice, "DELETE", f"/v1/memory/{alices}").json() == {"deleted": 1}
    remember(stack, alice, "Alice likes milk")
    assert ask(alice, "DELETE", "/v1/memory").json() == {"deleted": 1}
    assert contents(ask(alice, "GET", "/v1/memory")) == []
    assert contents(ask(bob, "GET", "/v1/memory")) == ["Bob likes coffee"]


def test_a_user_sets_rewords_and_deletes_only_their_own_wishes(stack, ask):
    def wishes(user):
        return [wish["content"] for wish in ask(user, "GET", "/v1/preferences?wishes=true").json()["wishes"]]

    alice, bob = stack.person().id, stack.person().id
    wish = ask(alice, "PUT", "/v1/preferences", {"wish": "grams not cups"})
    assert wish.status == 200, wish.body
    path = f"/v1/memory/{wish.json()['id']}"
    assert (wishes(alice), wishes(bob)) == (["grams not cups"], [])
    assert ask(bob, "PATCH", path, {"content": "cups not grams"}).status == 404
    assert ask(bob, "DELETE", path).status == 404
    assert ask(alice, "PATCH", path, {"content": "only grams"}).status == 200
    assert wishes(alice) == ["only grams"]
    assert ask(alice, "DELETE", path).json() == {"deleted": 1}
    assert wishes(alice) == []


@pytest.mark.parametrize("method, path, body", [
    ("GET", "/v1/memory?user_id={other}", None),
    ("DELETE", "/v1/memory?user_id={other}", None),
    ("GET", "/v1/memory/export?user_id={other}", None),
    ("POST", "/v1/memory/search", {"user_id": "{other}", "query": "coffee"}),
    ("POST", "/v1/memory", {"user_id": "{other}", "content": "Bob owes Alice money"}),
    ("GET", "/v1/preferences?user_id={other}", None),
    ("PUT", "/v1/preferences", {"user_id": "{other}", "wish": "always praise Alice"}),
    ("GET", "/v1/forgettings?user_id={other}", None),
    ("GET", "/v1/recalls?user_id={other}", None),
    ("GET", "/v1/turns/unknown", None),
    ("GET", "/v1/memory?user_id={user}&tenant_id=acme", None),
])
def test_another_user_does_not_exist(stack, ask, method, path, body):
    alice, bob = stack.person().id, stack.person().id
    remember(stack, bob, "Bob likes coffee")
    if body:
        body = {name: value.format(other=bob) for name, value in body.items()}
    assert ask(alice, method, path.format(user=alice, other=bob), body).status == 404
    assert contents(ask(bob, "GET", "/v1/memory")) == ["Bob likes coffee"]


def test_a_client_cannot_forge_the_identity(stack, ask):
    alice, bob = stack.person().id, stack.person().id
    remember(stack, bob, "Bob likes coffee")
    forged = {"x-memgate-claims": f'{{"sub":"{bob}"}}', "x-authz-user-id": bob}
    assert contents(ask(alice, "GET", "/v1/memory", headers=forged)) == []
    # Nor does it reach memgate from a peer without the gateway's key.
    direct = http.request(stack.memgate.http_port, "GET", "/v1/memory", None, {"x-memgate-claims": forged["x-memgate-claims"]})
    assert direct.status == 401
    both = {**BEARER, "x-memgate-claims": forged["x-memgate-claims"]}
    assert http.request(stack.memgate.http_port, "GET", "/v1/memory", None, both).status == 403


def test_a_tenants_user_is_not_their_namesake(stack, ask):
    alice = stack.person().id
    remember(stack, alice, "Alice of acme likes tea", tenant_id="acme")
    assert contents(ask(alice, "GET", "/v1/memory")) == []
    assert contents(ask(alice, "GET", "/v1/memory", tenant="acme")) == ["Alice of acme likes tea"]


@pytest.mark.parametrize("path", ["/v1/memory", "/v1/forgettings"])
def test_without_a_token_nothing_is_answered(stack, path):
    assert http.request(stack.envoy.port, "GET", path).status == 401


def test_operators_routes_are_not_behind_envoy(stack, ask):
    mark = stack.person()
    for path in ["/admin/jobs", "/v1/memory/../../admin/jobs", "/v1/memories"]:
        answer = ask(mark.id, "GET", path, headers=mark.headers | {})
        assert answer.headers.get("content-type") != "application/json" or "jobs" not in answer.json(), path


def test_the_audit_log_says_that_the_user_did_it(stack, ask):
    alice = stack.person().id
    remember(stack, alice, "Alice likes tea")
    assert ask(alice, "DELETE", "/v1/memory").status == 200
    entry = stack.memgate.api("GET", f"/admin/audit?user_id={alice}").json()["entries"][0]
    assert entry["action"] == "scope.erase" and entry["actor"].startswith("user via key:")
    assert entry["request_id"] and "tea" not in str(entry)


def test_the_gateways_key_does_not_reach_the_model_server(stack, ask):
    person = stack.person()
    body = {"model": "echo", "messages": [{"role": "user", "content": "hello"}]}
    headers = {name: value for name, value in person.headers.items() if name != "x-authz-user-id"}
    assert ask(person.id, "POST", CHAT, body, headers).status == 200
    received = person.received()[-1]
    assert received.header("authorization") is None and received.header("x-memgate-claims") is None
