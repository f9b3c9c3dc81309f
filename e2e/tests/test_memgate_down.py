"""memgate is not running: requests pass as if it did not exist."""

import pytest

from harness.http import request
from harness.stack import CHAT, RESPONSES


@pytest.fixture(scope="module")
def down(tmp_path_factory):
    from harness.stack import Stack

    stack = Stack(tmp_path_factory.mktemp("down"), memgate=False)
    yield stack
    stack.stop()


def test_requests_succeed_at_once_with_their_own_bytes(down):
    person = down.person()
    body = b'{"model":"echo", "messages":[{"role":"user","content":"hello"}], "big": 12345678901234567890}'
    answer = person.post(CHAT, body)
    assert answer.status == 200
    assert answer.decision is None
    assert answer.seconds < 5
    assert person.received()[0].body == body


def test_streams_are_complete(down):
    answer = down.person().respond("hello", stream=True)
    assert answer.status == 200 and answer.complete
    assert b"response.completed" in answer.body


def test_large_bodies_pass(down):
    person = down.person()
    body = {"model": "echo", "input": "x" * (10 << 20)}
    assert person.post(RESPONSES, body).status == 200
    assert person.received()[0].json() == body


def test_our_headers_still_do_not_reach_the_upstream(down):
    person = down.person()
    ours = {
        "x-memory": "off",
        "x-memory-auto-store": "false",
        "x-memory-types": "semantic",
        "x-memory-limit": "3",
        "x-memory-standing": "on",
        "x-memory-threshold": "0.5",
        "x-memory-project": "p",
        "x-disable-router-memory": "true",
        "x-session-end": "true",
        "accept-encoding": "gzip, br",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }
    assert person.say("hello", ours).status == 200
    received = person.received()[0]
    assert received.header_names() & {*ours, "x-authz-user-id", "x-session-id"} == {"traceparent"}
    assert received.header("traceparent") == ours["traceparent"]


def test_a_decision_header_of_the_upstream_is_removed(down):
    answer = down.person().say("hello", {"x-double": "spoof"})
    assert answer.status == 200
    assert answer.decision is None and "x-memgate-hits" not in answer.headers


def test_other_paths_pass_too(down):
    assert request(down.envoy.port, "GET", "/v1/models").json()["data"][0]["id"] == "echo"
