"""Envoy's configuration in the compose network: the files that the tests run, with the network's names."""

import json
import os
import subprocess

import pytest

from harness import compose, http, paths
from harness.context import context_of
from harness.envoy import cluster, render
from harness.issuer import Issuer
from harness.production import stack_with_gateway_key
from harness.stack import CHAT

FACT = "My boat is called Halcyon"
QUESTION = "What is my boat called?"
ISSUER = {"JWT_ISSUER": "https://issuer.test/", "JWT_AUDIENCE": "chat"}


def rendered(folder, **environment) -> tuple[subprocess.CompletedProcess, dict | None]:
    """The configuration that the service `envoy-config` writes, and its exit status."""
    service = compose.example(**environment)["services"]["envoy-config"]
    entrypoint = compose.argv(compose.last(compose.stages()["envoy-config"], "ENTRYPOINT"))
    assert entrypoint[0] == "xtask"
    out = folder / "envoy.json"
    words = [
        word.replace("/usr/share/memgate/envoy", str(paths.REPOSITORY / "envoy"))
        .replace("/var/lib/envoy-config/envoy.json", str(out))
        for word in service["command"]
    ]
    done = subprocess.run(
        [paths.xtask(), *entrypoint[1:], *words],
        env={**os.environ, **service["environment"]}, capture_output=True, text=True,
    )
    return done, json.loads(out.read_text()) if done.returncode == 0 else None


def differences(one, other, at="") -> dict:
    """The paths at which two configurations differ, with the second one's values."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = {}
        for key in sorted({*one, *other}):
            found |= differences(one.get(key), other.get(key), f"{at}/{key}")
        return found
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = {}
        for index, (left, right) in enumerate(zip(one, other)):
            found |= differences(left, right, f"{at}/{index}")
        return found
    return {} if one == other else {at: other}


@pytest.mark.parametrize("identity", ["development", "production"])
def test_only_names_differ_from_what_the_tests_run(tmp_path, identity):
    done, here = rendered(tmp_path, IDENTITY=identity, **ISSUER)
    assert done.returncode == 0, done.stderr
    tested = render(tmp_path, f"{identity}.yaml", upstream="http://127.0.0.1:8000")
    changed = differences(tested, here)
    values = {json.dumps(value) for at, value in changed.items()}
    allowed = {"0.0.0.0", "echo", "echo:8000", "STRICT_DNS", "V4_PREFERRED"}
    # memgate's two clusters use a socket instead of an address.
    allowed_objects = [{"path": "/run/memgate/grpc.sock"}, None]
    if identity == "production":
        allowed |= {ISSUER["JWT_ISSUER"], ISSUER["JWT_AUDIENCE"], "/etc/envoy/jwks.json", "memgate"}
    assert values == {json.dumps(value) for value in [*allowed, *allowed_objects]}, changed


@pytest.mark.parametrize("upstream", ["http://echo:8000", "https://models.example.com/prefix"])
def test_envoy_accepts_the_configuration(tmp_path, upstream):
    for identity in ("development", "production"):
        done, config = rendered(tmp_path, IDENTITY=identity, UPSTREAM=upstream, **ISSUER)
        assert done.returncode == 0, done.stderr
        # The keys have a path in the container.
        text = json.dumps(config).replace("/etc/envoy/jwks.json", str(paths.REPOSITORY / "envoy/jwks.example.json"))
        file = tmp_path / "checked.json"
        file.write_text(text)
        done = subprocess.run(
            [paths.envoy(), "--mode", "validate", "--log-level", "error", "--config-path", file],
            capture_output=True, text=True,
        )
        assert done.returncode == 0, done.stderr


def test_production_without_an_issuer_is_refused_with_a_reason(tmp_path):
    done, _ = rendered(tmp_path, IDENTITY="production", JWT_ISSUER="", JWT_AUDIENCE="chat")
    assert done.returncode == 1 and "JWT_ISSUER" in done.stderr
    done, _ = rendered(tmp_path, IDENTITY="development", JWT_ISSUER="", JWT_AUDIENCE="")
    assert done.returncode == 0, "development verifies nothing"


def test_an_unknown_identity_mode_is_refused(tmp_path):
    done, _ = rendered(tmp_path, IDENTITY="other")
    assert done.returncode == 1 and "other.yaml" in done.stderr


def test_memgate_is_found_by_its_name(start):
    stack = start(envoy={"memgate": "localhost", "listen": "0.0.0.0"})
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    assert alice.later().say(QUESTION).decision == "searched"
    assert "Halcyon" in context_of(alice.received()[-1].json())


def test_users_reach_their_memories_where_rest_has_a_name(tmp_path):
    issuer = Issuer()
    config = {"memory": {"identity": {"mode": "production"}}}
    stack = stack_with_gateway_key(tmp_path, issuer, config, envoy={"rest": "localhost"})
    try:
        api = cluster(stack.envoy.config, "memgate_api")
        assert api["type"] == "STRICT_DNS", "the name is resolved"
        alice = {"authorization": f"Bearer {issuer.token('alice')}"}
        told = http.request(stack.envoy.port, "POST", "/v1/memory", {"content": FACT}, alice)
        assert told.status == 201, told.body
        memories = http.request(stack.envoy.port, "GET", "/v1/memory", None, alice).json()["memories"]
        assert [memory["content"] for memory in memories] == [FACT]
    finally:
        stack.stop()


def test_only_tokens_of_the_configured_issuer_are_accepted(start, tmp_path):
    issuer = Issuer()
    issuer.write_jwks(tmp_path / "jwks.json")
    options = {"jwt_issuer": ISSUER["JWT_ISSUER"], "jwt_audience": ISSUER["JWT_AUDIENCE"]}
    config = {"memory": {"identity": {"mode": "production"}}}
    stack = start(config, base="production.yaml", envoy={**options, "jwks": tmp_path / "jwks.json"})
    body = {"model": "echo", "messages": [{"role": "user", "content": QUESTION}]}

    def ask(**claims) -> http.Answer:
        token = {"authorization": f"Bearer {issuer.token('alice', **claims)}"}
        return http.request(stack.envoy.port, "POST", CHAT, body, token)

    answer = ask(iss=ISSUER["JWT_ISSUER"], aud=ISSUER["JWT_AUDIENCE"])
    assert (answer.status, answer.decision) == (200, "searched")
    assert ask().status == 401, "the example's issuer"
    assert ask(iss=ISSUER["JWT_ISSUER"]).status == 403, "the example's audience"


def test_requests_pass_while_memgates_name_is_unknown(start):
    stack = start(envoy={"memgate": "memgate.invalid"}, memgate=False)
    alice = stack.person()
    answer = alice.say(QUESTION)
    assert (answer.status, answer.decision) == (200, None)
    assert http.request(stack.envoy.port, "POST", CHAT, {"model": "echo", "messages": []}).status == 200
