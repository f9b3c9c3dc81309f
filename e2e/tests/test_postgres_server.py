"""`cargo xtask postgres`: a server that answers and leaves nothing behind."""

import os
import signal
import socket
from pathlib import Path

import pytest

from harness import paths
from harness.postgres import Postgres
from harness.process import Process, free_port, gone
from harness.wait import until

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def server(tmp_path):
    started = []

    def start() -> Postgres:
        started.append(Postgres(tmp_path / f"server{len(started)}"))
        return started[-1].start()

    yield start
    for one in started:
        one.stop()


def refuses(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_with_its_clients_and_leaves_nothing(server, how):
    one = server()
    pids = one.processes()
    one.runner.signal(how)
    assert one.runner.wait_end(20) == 0
    assert all(gone(pid) for pid in pids) and refuses(one.port)


def test_a_frozen_server_is_ended_too(server):
    one = server()
    pids = one.processes()
    one.freeze()
    one.runner.signal(signal.SIGTERM)
    assert one.runner.wait_end(20) == 0
    for pid in pids[1:]:
        # They are frozen; a thawed one sees that its parent is gone.
        if not gone(pid):
            os.kill(pid, signal.SIGCONT)
    until(lambda: all(gone(pid) for pid in pids), "all have ended")


def test_the_server_ends_when_its_parent_is_killed(server):
    one = server()
    pids = one.processes()
    one.runner.kill()
    until(lambda: all(gone(pid) for pid in pids), "the server has ended")


def test_a_temporary_server_removes_its_folder(tmp_path):
    port = free_port()
    command = [paths.xtask(), "postgres", "--port", port]
    runner = Process("postgres", command, env={"TMPDIR": str(tmp_path)})
    runner.wait_line("ready postgres", 120)
    assert list(tmp_path.iterdir())
    runner.signal(signal.SIGTERM)
    assert runner.wait_end(20) == 0
    assert not list(tmp_path.iterdir()) and refuses(port)


def test_two_run_side_by_side_and_keep_their_data_over_a_kill(server):
    one, other = server(), server()
    one.sql("CREATE TABLE kept (number integer)", "memgate")
    one.sql("INSERT INTO kept VALUES (7)", "memgate")
    assert other.sql("SELECT count(*) FROM pg_tables WHERE tablename = 'kept'", "memgate") == [["0"]]
    one.kill()
    assert "ended unexpectedly" in one.runner.output()
    one.start()
    assert one.sql("SELECT number FROM kept", "memgate") == [["7"]]


def test_incomplete_data_is_made_anew(server):
    one = server()
    one.stop()
    (one.folder / "made").unlink()
    (one.folder / "data/PG_VERSION").unlink()
    one.start()
    assert one.sql("SELECT extname FROM pg_extension WHERE extname = 'vector'", "memgate") == [["vector"]]


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    file = Path(tmp_path / "file")
    file.write_text("")
    runner = Process("postgres", [paths.xtask(), "postgres", "--port", free_port(), "--data", file])
    assert runner.wait_end() == 1
    assert str(file) in runner.output()
