"""API keys and the audit log, on the command line and by what users say."""

import pytest

from harness import http
from harness.memgate import KEY_ENV
from harness.place import Place

PRODUCTION = {"memory": {"identity": {"mode": "production"}}}


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.memgate.stop()


@pytest.fixture(params=["alone", "served"])
def either(place, request):
    """A place with and without a running memgate: commands must behave the same."""
    if request.param == "served":
        place.memgate.start()
    return place


def test_keys_are_created_listed_and_revoked(either):
    scopes = ("--scope", "read,write", "--user", "alice", "--expires", "2999-01-01")
    made = either.json("key", "create", "--name", "app", *scopes)
    assert made["key"].startswith("mgk_") and len(made["key"]) == 47
    assert (made["scopes"], made["user_id"], made["tenant_id"]) == (["read", "write"], "alice", "default")
    second = either.ok("key", "create", "--name", "app", "--scope", "read").splitlines()
    assert second[0].startswith("mgk_") and "app  read  all users" in second[1]
    assert "two valid keys" in either.fails(1, "key", "create", "--name", "app", "--scope", "read")
    listed = either.ok("key", "list")
    assert len(listed.splitlines()) == 2 and made["key"] not in listed
    assert either.ok("key", "revoke", made["id"]) == f"Revoked key {made['id']}.\n"
    assert "no such key" in either.fails(1, "key", "revoke", made["id"])
    assert either.fails(2, "key", "create", "--name", "x", "--scope", "admin", "--user", "alice")
    actions = [entry["action"] for entry in either.json("audit")["entries"]]
    assert actions == ["key.revoke", "key.create", "key.create"]


def test_in_production_the_command_line_needs_a_key_and_takes_it_from_memgate_key(place):
    place.configure({**PRODUCTION, "api": {}})
    alices = place.ok("key", "create", "--name", "app", "--scope", "read", "--user", "alice").splitlines()[0]
    place.memgate.start()
    assert "key" in place.fails(1, "list", "--user", "alice", env={KEY_ENV: ""})
    assert "MEMGATE_KEY" in place.fails(1, "list", "--user", "alice", env={"MEMGATE_KEY": "mgk_wrong"})
    own = {"MEMGATE_KEY": alices}
    assert place.json("list", "--user", "alice", env=own)["memories"] == []
    assert place.fails(1, "list", "--user", "bob", env=own)
    assert "scope write" in place.fails(1, "remember", "x y", "--user", "alice", env=own)
    assert "scope admin" in place.fails(1, "jobs", env=own)
    assert http.request(place.memgate.http_port, "GET", "/v1/memory?user_id=alice").status == 401


def test_a_key_made_while_memgate_runs_is_valid_at_once_and_after_a_restart(place):
    place.memgate.start()
    key = place.json("key", "create", "--name", "app", "--scope", "read")["key"]
    ask = lambda: http.request(place.memgate.http_port, "GET", "/v1/memory?user_id=u", None,
                               {"authorization": f"Bearer {key}"}).status
    assert ask() == 200
    place.memgate.restart()
    assert ask() == 200
    place.ok("key", "revoke", 1)
    assert ask() == 401
    place.memgate.restart()
    assert ask() == 401


def test_what_a_user_asks_to_forget_is_audited_without_their_words(stack):
    alice = stack.person()
    alice.say("My boat is called Halcyon")
    alice.learn()
    alice.later().say("Forget that my boat is called Halcyon")
    alice.learn()
    entries = stack.memgate.api("GET", f"/admin/audit?user_id={alice.id}").json()["entries"]
    hidden = next(entry for entry in entries if entry["action"] == "forget.hide")
    assert hidden["actor"] == "message" and hidden["count"] >= 1
    stack.memgate.api("DELETE", f"/v1/memory?user_id={alice.id}")
    after = stack.memgate.api("GET", f"/admin/audit?user_id={alice.id}").json()["entries"]
    assert after[0]["action"] == "scope.erase" and hidden in after
    assert "Halcyon" not in str(after) and "boat" not in str(after)


def test_the_first_key_is_made_while_memgate_runs_in_production_without_any_key(place):
    place.configure({**PRODUCTION, "api": {}})
    place.memgate.start()
    nobody = {KEY_ENV: "", "MEMGATE_KEY": ""}
    assert "memgate key create" in place.fails(1, "list", "--user", "alice", env=nobody)
    key = place.json("key", "create", "--name", "ops", "--scope", "admin", env=nobody)["key"]
    assert place.json("list", "--user", "alice", env={"MEMGATE_KEY": key})["memories"] == []
    assert place.fails(1, "audit", env=nobody)
    assert [entry["action"] for entry in place.json("audit", env={"MEMGATE_KEY": key})["entries"]] == ["key.create"]
