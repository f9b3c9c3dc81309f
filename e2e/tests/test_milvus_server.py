"""`cargo xtask milvus`: a server that answers and leaves nothing behind."""

import signal
import socket
from pathlib import Path

import pytest

from harness import paths
from harness.milvus import Milvus
from harness.process import children, gone
from harness.wait import until

# Folders where the server writes files by default.
ELSEWHERE = [Path("/run/milvus"), Path("/tmp/milvus")]

LITE = paths.ASSETS / "milvus-lite/bin/python"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def server(tmp_path):
    started = []

    def start(*options) -> Milvus:
        started.append(Milvus(tmp_path / f"server{len(started)}", *options))
        return started[-1].start()

    yield start
    for one in started:
        one.stop()


def traces(server: Milvus, pid: int) -> list[Path]:
    """Files of this server outside its folder."""
    return [file for folder in ELSEWHERE for file in folder.glob("*")
            if str(server.port) in file.name or file.name == f"server_id_{pid}"]


def refuses(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("how", [
    pytest.param(signal.SIGINT, id="SIGINT", marks=pytest.mark.long), pytest.param(signal.SIGTERM, id="SIGTERM"),
])
def test_a_signal_ends_it_and_leaves_nothing(server, how):
    one = server()
    pid = one.pid()
    one.runner.signal(how)
    assert one.runner.wait_end(20) == 0
    assert gone(pid) and refuses(one.port) and not traces(one, pid)


def test_a_frozen_server_is_ended_too(server):
    one = server()
    pid = one.pid()
    one.freeze()
    one.runner.signal(signal.SIGTERM)
    assert one.runner.wait_end(20) == 0
    assert gone(pid)


def test_the_server_ends_when_its_parent_is_killed(server):
    one = server()
    pid = one.pid()
    one.runner.kill()
    until(lambda: gone(pid), "the server has ended")


def test_the_last_words_of_a_dead_server_are_shown(server):
    one = server()
    one.kill()
    assert one.runner.wait_end() == 1
    assert "ended unexpectedly" in one.runner.output() and "Proxy successfully started" in one.runner.output()


def test_two_run_side_by_side_and_keep_their_data_apart_and_over_a_kill(server):
    one, other = server(), server()
    create = {"collectionName": "kept", "dimension": 4}
    one._ask("POST", "/v1/vector/collections/create", create)
    assert (one.collections(), other.collections()) == (["kept"], [])
    one.kill()
    one.start()
    assert one.collections() == ["kept"]
    one.drop("kept")
    assert one.collections() == []


@pytest.mark.skipif(not LITE.exists(), reason="Milvus Lite is not installed")
def test_milvus_lite_is_run_and_ended_the_same_way(server):
    one = server("--lite")
    pid = one.pid()
    assert not refuses(one.port)
    one.runner.signal(signal.SIGTERM)
    assert one.runner.wait_end(20) == 0
    assert gone(pid) and refuses(one.port)
