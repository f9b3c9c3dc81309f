"""`cargo xtask milvus`: a server that answers, no traces afterwards."""

import signal
import socket
from pathlib import Path

import pytest

from harness import paths
from harness.milvus import Milvus
from harness.process import children, gone
from harness.wait import until

# Where the server leaves files of its own accord.
ELSEWHERE = [Path("/run/milvus"), Path("/tmp/milvus")]

LITE = paths.ASSETS / "milvus-lite/bin/python"


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
    """Files outside its folder that are about this server."""
    return [file for folder in ELSEWHERE for file in folder.glob("*")
            if str(server.port) in file.name or file.name == f"server_id_{pid}"]


def refuses(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_within_ten_seconds_and_leaves_nothing(server, how):
    one = server()
    pid = one.pid()
    one.runner.signal(how)
    assert one.runner.wait_end(10) == 0
    assert gone(pid) and refuses(one.port) and not traces(one, pid)


def test_one_that_stands_still_is_ended_too(server):
    one = server()
    pid = one.pid()
    one.freeze()
    one.runner.signal(signal.SIGTERM)
    assert one.runner.wait_end(10) == 0
    assert gone(pid)


def test_when_what_runs_it_is_killed_the_server_ends(server):
    one = server()
    pid = one.pid()
    one.runner.kill()
    until(lambda: gone(pid), "the server has ended")


def test_a_server_that_dies_is_said_with_its_last_words(server):
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
    assert one.runner.wait_end(10) == 0
    assert gone(pid) and refuses(one.port)
