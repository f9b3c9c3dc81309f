"""All requests except the two POST routes pass untouched and cause no call to memgate."""

import http.client

import pytest

from harness.http import request
from harness.wait import until

BODY = '{"model":"echo","input":"hi","messages":[],"auto_store":true,"memory_config":5}'


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/v1/models"),
        ("HEAD", "/v1/models"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/completions"),
        ("GET", "/v1/chat/completions"),
        ("GET", "/v1/responses/resp_1"),
        ("DELETE", "/v1/responses/resp_1"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "/V1/chat/completions"),
        ("GET", "/v1/models/org%2Fname?x=%20y"),
        ("OPTIONS", "/v1/responses"),
    ],
)
def test_another_path_or_method_passes_untouched(stack, method, path):
    person = stack.person()
    calls = stack.envoy.grpc_calls()
    body = BODY if method in ("POST", "PUT") else None
    headers = {**person.headers, "accept-encoding": "gzip", "x-memory": "off"}
    answer = request(stack.envoy.port, method, path, body, headers)
    received = person.received()
    assert len(received) == 1, answer
    assert (received[0].method, received[0].path) == (method, path)
    assert received[0].body == (body or "").encode()
    assert {**dict(received[0].headers), **headers} == dict(received[0].headers)
    assert answer.decision is None
    assert stack.envoy.grpc_calls() == calls


def test_the_two_routes_cost_two_calls(stack):
    person = stack.person()
    calls = stack.envoy.grpc_calls()
    person.say("Hello!")
    person.respond("Hello!")
    until(lambda: stack.envoy.grpc_calls() == calls + 4, "two calls a request", 30)


def test_a_query_string_does_not_keep_memory_away(stack):
    person = stack.person()
    answer = person.post("/v1/chat/completions?api-version=1", {"model": "echo", "messages": [
        {"role": "user", "content": "What is my name?"}]})
    assert answer.decision == "searched"
    assert person.received()[0].path.endswith("?api-version=1")


def test_an_upgrade_is_passed_on(stack):
    """The double has no websockets; the test checks that the request for one reaches it."""
    person = stack.person()
    calls = stack.envoy.grpc_calls()
    connection = http.client.HTTPConnection("127.0.0.1", stack.envoy.port, timeout=10)
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    connection.request("GET", "/v1/realtime", headers={**person.headers, **upgrade})
    connection.getresponse().read()
    connection.close()
    assert person.received()[0].header("upgrade") == "websocket"
    assert stack.envoy.grpc_calls() == calls
