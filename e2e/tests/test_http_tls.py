"""REST over TLS: the certificate is renewed by SIGHUP, and the command line trusts it."""

import json
import signal
import socket
import ssl
import subprocess
import urllib.request

import pytest
import trustme

from harness import paths
from harness.memgate import BEARER, Memgate
from harness.wait import until


def issue(folder, names=("127.0.0.1", "localhost")) -> trustme.CA:
    """Writes a certificate of a new authority, and returns the authority."""
    authority = trustme.CA()
    cert = authority.issue_cert(*names)
    cert.private_key_pem.write_to_path(folder / "memgate.key")
    chain = b"".join(pem.bytes() for pem in cert.cert_chain_pems)
    (folder / "memgate.pem").write_bytes(chain + authority.cert_pem.bytes())
    return authority


def get(memgate, authority, path="/v1/memory?user_id=u"):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    request = urllib.request.Request(f"https://127.0.0.1:{memgate.http_port}{path}", headers=BEARER)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=10) as answer:
        return json.loads(answer.read())


def answers(memgate, authority) -> bool:
    assert memgate.process.running(), memgate.process.output()
    try:
        return get(memgate, authority, "/readyz")["status"] == "ready"
    except OSError:
        return False


@pytest.fixture
def secured(tmp_path):
    authority = issue(tmp_path)
    tls = {"certificate": str(tmp_path / "memgate.pem"), "key": str(tmp_path / "memgate.key")}
    memgate = Memgate(tmp_path, {"listen": {"http_tls": tls}})
    memgate.start(ready=False)
    until(lambda: answers(memgate, authority), "memgate answers over TLS", 60)
    yield memgate, authority
    memgate.stop()


def test_memories_are_served_over_tls_only(secured):
    memgate, authority = secured
    assert get(memgate, authority)["memories"] == []
    with socket.create_connection(("127.0.0.1", memgate.http_port), timeout=10) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert not plain.recv(5).startswith(b"HTTP")


def test_a_client_that_stalls_in_the_handshake_delays_nobody(secured):
    memgate, authority = secured
    stalled = [socket.create_connection(("127.0.0.1", memgate.http_port)) for _ in range(20)]
    assert get(memgate, authority)["memories"] == []
    for connection in stalled:
        connection.close()


def test_sighup_renews_the_certificate_and_keeps_it_if_the_new_one_is_bad(secured):
    memgate, old = secured
    new = issue(memgate.folder)
    memgate.process.signal(signal.SIGHUP)
    until(lambda: answers(memgate, new), "the new certificate is in use", 30)
    assert not answers(memgate, old)
    (memgate.folder / "memgate.pem").write_text("no certificate")
    memgate.process.signal(signal.SIGHUP)
    memgate.wait_log("error", "keeping the old certificate")
    assert answers(memgate, new)


def test_the_command_line_trusts_the_configured_certificate(secured):
    memgate, _ = secured
    command = [paths.memgate(), "list", "--config", memgate.config_file, "--data", memgate.data, "--user", "u"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", ["certificate", "key"])
def test_a_missing_file_refuses_the_start_and_names_the_member(tmp_path, missing):
    issue(tmp_path)
    tls = {"certificate": str(tmp_path / "memgate.pem"), "key": str(tmp_path / "memgate.key"), missing: "/nowhere.pem"}
    memgate = Memgate(tmp_path, {"listen": {"http_tls": tls}})
    memgate.start(ready=False)
    until(lambda: not memgate.process.running(), "memgate refuses to start", 30)
    assert f"listen.http_tls: {missing}" in memgate.process.output()
