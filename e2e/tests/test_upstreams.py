"""Model servers under a prefix and behind TLS, as `--upstream URL` configures them."""

import os

import pytest

from harness.envoy import Envoy
from harness.http import request
from harness.process import free_port
from harness.tls import TlsServer
from harness.wait import until


@pytest.fixture
def envoy(tmp_path):
    """Starts Envoy before an upstream; memgate is not part of this."""
    started = []

    def start(upstream, ca_file=None):
        env = {**os.environ, **({"SSL_CERT_FILE": str(ca_file)} if ca_file else {})}
        started.append(Envoy(tmp_path, upstream, free_port(), env=env))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def tls(tmp_path):
    servers = []

    def start(name):
        servers.append(TlsServer(tmp_path, name))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_every_route_works_behind_a_prefix_and_tls(envoy, tls):
    server = tls("localhost")
    gateway = envoy(f"https://localhost:{server.port}/team/a", server.ca_file)
    for method, path in [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses?x=1"),
        ("GET", "/v1/models"),
        ("GET", "/v1/responses/r_1"),
    ]:
        answer = request(gateway.port, method, path, b"{}" if method == "POST" else None)
        assert answer.status == 200, answer.body
        assert answer.json() == {"path": f"/team/a{path}", "host": f"localhost:{server.port}"}


def test_a_certificate_of_an_unknown_authority_is_refused(envoy, tls, tmp_path):
    server = tls("localhost")
    other = tmp_path / "other"
    other.mkdir()
    stranger = TlsServer(other)
    gateway = envoy(f"https://localhost:{server.port}", stranger.ca_file)
    stranger.stop()
    answer = request(gateway.port, "POST", "/v1/chat/completions", b"{}")
    assert answer.status == 503
    logged = until(gateway.access_log, "the access log has the request")
    assert "CERTIFICATE_VERIFY_FAILED" in logged[0]["upstream_failure"]


def test_a_certificate_for_another_name_is_refused(envoy, tls):
    server = tls("models.example.com")
    gateway = envoy(f"https://localhost:{server.port}", server.ca_file)
    answer = request(gateway.port, "POST", "/v1/chat/completions", b"{}")
    assert answer.status == 503
    logged = until(gateway.access_log, "the access log has the request")
    assert "CERTIFICATE_VERIFY_FAILED" in logged[0]["upstream_failure"]
