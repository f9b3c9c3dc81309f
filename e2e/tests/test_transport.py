"""A client of memgate's gRPC can read any user's memory, so only Envoy may connect."""

import socket
import ssl
import stat
import subprocess

import pytest
import trustme

from harness import paths
from harness.context import context_of
from harness.memgate import Memgate
from harness.shared import running
from harness.stack import Stack

FACT = "My boat is called Halcyon"
QUESTION = "What is my boat called?"

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"  # and an empty SETTINGS frame
SETTINGS = 4


def remembers(stack):
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    assert alice.later().say(QUESTION).decision == "searched"
    assert "Halcyon" in context_of(alice.received()[-1].json())


def speaks_http2(connection) -> bool:
    """Whether the server answers the HTTP/2 preface with its settings."""
    connection.settimeout(5)
    try:
        connection.sendall(PREFACE)
        return connection.recv(9)[3:4] == bytes([SETTINGS])
    except OSError:
        return False


@pytest.fixture
def stacks():
    started = []
    yield started
    for stack in started:
        stack.stop()


def test_envoy_reaches_memgate_by_a_socket_that_others_may_not_open(tmp_path, stacks):
    path = tmp_path / "grpc.sock"
    grpc = {"listen": {"grpc": f"unix:{path}"}}
    stack = Stack(tmp_path, grpc, envoy={"memgate": f"unix:{path}"})
    stacks.append(stack)
    remembers(stack)
    mode = path.stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
    # A killed memgate leaves its socket behind, and the next one replaces it.
    stack.memgate.kill()
    assert path.exists()
    stack.memgate.start()
    remembers(stack)
    stack.memgate.stop()
    assert not path.exists()


class Authorities:
    """Certificates of memgate and of Envoy, and one of an authority that neither trusts."""

    def __init__(self, folder):
        self.folder, self.server_ca, self.client_ca, other = folder, trustme.CA(), trustme.CA(), trustme.CA()
        self.server_ca.cert_pem.write_to_path(folder / "server-ca.pem")
        self.client_ca.cert_pem.write_to_path(folder / "client-ca.pem")
        self._issue(self.server_ca, "memgate.test", "server")
        self._issue(self.client_ca, "envoy.test", "client")
        self._issue(other, "envoy.test", "stranger")

    def _issue(self, ca, name, file):
        cert = ca.issue_cert(name)
        cert.private_key_pem.write_to_path(self.folder / f"{file}.key")
        cert.cert_chain_pems[0].write_to_path(self.folder / f"{file}.pem")

    def file(self, name) -> str:
        return str(self.folder / name)

    def memgate(self) -> dict:
        return {
            "certificate": self.file("server.pem"), "key": self.file("server.key"),
            "client_ca": self.file("client-ca.pem"),
        }

    def envoy(self, config):
        """Envoy's side as in the comment of envoy/production.yaml."""
        for cluster in config["static_resources"]["clusters"]:
            if cluster["name"].startswith("memgate_"):
                cluster["transport_socket"] = {
                    "name": "envoy.transport_sockets.tls",
                    "typed_config": {
                        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                        "sni": "memgate.test",
                        "common_tls_context": {
                            "tls_certificates": [{
                                "certificate_chain": {"filename": self.file("client.pem")},
                                "private_key": {"filename": self.file("client.key")},
                            }],
                            "validation_context": {
                                "trusted_ca": {"filename": self.file("server-ca.pem")},
                                "match_typed_subject_alt_names": [
                                    {"san_type": "DNS", "matcher": {"exact": "memgate.test"}}],
                            },
                        },
                    },
                }

    def connect(self, port, certificate=None):
        context = ssl.create_default_context(cafile=self.file("server-ca.pem"))
        context.set_alpn_protocols(["h2"])
        if certificate:
            context.load_cert_chain(self.file(f"{certificate}.pem"), self.file(f"{certificate}.key"))
        plain = socket.create_connection(("127.0.0.1", port), timeout=5)
        return context.wrap_socket(plain, server_hostname="memgate.test")


@pytest.fixture(scope="module")
def mutual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mutual")
    authorities = Authorities(folder)
    with running(folder, {"listen": {"grpc_tls": authorities.memgate()}}, edit=authorities.envoy) as stack:
        yield stack, authorities


def test_envoy_reaches_memgate_by_its_certificate(mutual):
    remembers(mutual[0])


@pytest.mark.parametrize("certificate", [None, "stranger"])
def test_without_a_certificate_of_the_authority_nothing_is_answered(mutual, certificate):
    stack, authorities = mutual
    with authorities.connect(stack.memgate.grpc_port, "client") as known:
        assert speaks_http2(known), "the probe itself works"
    try:
        with authorities.connect(stack.memgate.grpc_port, certificate) as unknown:
            assert not speaks_http2(unknown)
    except OSError:
        pass  # refused in the handshake already
    with socket.create_connection(("127.0.0.1", stack.memgate.grpc_port), timeout=5) as plain:
        assert not speaks_http2(plain)


@pytest.mark.parametrize("listen, cause", [
    ({"grpc": "0.0.0.0:0"}, "listen.grpc: must be a loopback address or unix:/path, or have listen.grpc_tls"),
    ({"grpc_tls": {"certificate": "/no/such.pem", "key": "/k", "client_ca": "/c"}},
     "listen.grpc_tls: certificate: cannot read /no/such.pem"),
])
def test_an_open_grpc_address_is_refused_at_start(tmp_path, listen, cause):
    memgate = Memgate(tmp_path, {"memory": {"identity": {"mode": "production"}}, "listen": listen})
    done = subprocess.run(
        [paths.memgate(), "serve", "--config", memgate.config_file, "--data", memgate.data, "--assets", paths.ASSETS,
         "--http", "127.0.0.1:0", *([] if "grpc" in listen else ["--grpc", "127.0.0.1:0"])],
        capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == 1 and cause in done.stderr, done


def test_development_is_refused_beyond_this_machine(tmp_path):
    memgate = Memgate(tmp_path, {"memory": {"identity": {"mode": "development"}}, "listen": {"http": "0.0.0.0:0"},
                                 "api": {"key_env": "KEY"}})
    done = subprocess.run(
        [paths.memgate(), "check-config", "--config", memgate.config_file],
        capture_output=True, text=True, timeout=60, env={"KEY": "k" * 32},
    )
    assert done.returncode == 1, done
    assert "listen.http: must be a loopback address, because memory.identity.mode is development" in done.stdout


def test_the_metrics_address_serves_nothing_else(tmp_path):
    from harness import http
    from harness.process import free_port

    port = free_port()
    memgate = Memgate(tmp_path, {"listen": {"metrics": f"127.0.0.1:{port}"}})
    try:
        memgate.start()
        for path, status in {"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v1/memory?user_id=u": 404,
                             "/admin/jobs": 404}.items():
            assert http.request(port, "GET", path).status == status, path
    finally:
        memgate.stop()
