"""`cargo xtask up`: one command, one ready line, nothing left behind."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from harness import paths
from harness.double import Double
from harness.http import Answer, request
from harness.process import Process, children, free_port, gone
from harness.tls import TlsServer
from harness.wait import until

pytestmark = pytest.mark.timeout(900)


def name(pid: int) -> str:
    """A program's name; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Up:
    """A running `cargo xtask up`."""

    def __init__(self, folder: Path, *arguments, env: dict | None = None):
        # No port that the kernel gives to others while the programs restart, or after their end.
        ports = [part for option in ("--port", "--grpc-port", "--http-port") for part in (option, free_port())]
        self.process = Process(
            "up", [paths.xtask(), "up", "--no-build", *ports, "--data", folder / "data", *arguments],
            # A killed `up` cannot clean up after itself.
            env={"TMPDIR": str(folder), **(env or {})},
        )
        line = self.process.wait_line("ready http", 120)
        match = re.fullmatch(r"ready http://127\.0\.0\.1:(\d+)/v1 api http://127\.0\.0\.1:(\d+)", line)
        assert match, line
        self.port, self.api_port = int(match[1]), int(match[2])

    def child(self, wanted: str) -> int | None:
        return next((pid for pid in children(self.process.pid) if name(pid) == wanted), None)

    def say(self, text: str, session: str):
        body = {"model": "echo", "messages": [{"role": "user", "content": text}]}
        headers = {"x-authz-user-id": "alice", "x-session-id": session}
        return request(self.port, "POST", "/v1/chat/completions", body, headers)

    def searched(self, text: str, session: str):
        """Says it until the search is in time; the deadline is the shipped one, which the first may miss."""

        def answer():
            found = self.say(text, session)
            assert found.status == 200, found
            return found.decision == "searched" and found

        return until(answer, "the search is in time")


@pytest.fixture
def up(tmp_path):
    started = []

    def start(*arguments, **options) -> Up:
        started.append(Up(tmp_path, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.process.stop()


def test_the_link_to_the_dashboard_signs_in_as_long_as_the_stack_runs(up, tmp_path):
    def keys(key: str, port: int) -> Answer:
        return request(port, "GET", "/admin/keys", headers={"authorization": f"Bearer {key}"})

    stack = up()
    link = stack.process.wait_line("dashboard http")
    origin, key = re.fullmatch(r"dashboard (http://127\.0\.0\.1:\d+/)#key=(\S+)", link).groups()
    assert origin == f"http://127.0.0.1:{stack.api_port}/"
    assert request(stack.api_port, "GET", "/").status == 200
    assert [one["name"] for one in keys(key, stack.api_port).json()["keys"]] == ["dashboard-of-up"]
    stack.process.stop()
    again = up()
    assert keys(key, again.api_port).status == 401


def test_the_readmes_way_from_up_to_why_something_was_shown(up, tmp_path):
    page = (paths.REPOSITORY / "README.md").read_text()
    told, asked = re.findall(r"^curl .*\n  -d '.*allergic.*'$", page, re.MULTILINE)
    shown = re.search(r"`(curl '.*/v1/memory\?user_id=alice')`", page)[1]
    why = re.findall(r"`target/release/memgate (why .*?)`", page)
    one = up()

    def run(command: str) -> str:
        ours = command.replace(":8888", f":{one.port}").replace(":8080", f":{one.api_port}")
        done = subprocess.run(ours, shell=True, capture_output=True, text=True, timeout=60, cwd=paths.REPOSITORY)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(told)
    request(one.api_port, "POST", "/v1/memory/flush", {"user_id": "alice"})
    # The first searches may miss the deadline that is shipped.
    answer = until(lambda: (said := run(asked)) and "x-memgate-decision: searched" in said and said, "the search is in time")
    assert re.search("x-memgate-hits: [1-9]", answer) and "peanuts" in answer
    assert "I am allergic to peanuts." in run(shown)
    assert len(why) == 2
    memgate = f"{paths.memgate()} {{}} --data {tmp_path / 'data'}"
    of_request = memgate.format(why[0].replace("REQUEST_ID", re.search(r"x-memgate-request-id: (\S+)", answer)[1]))
    assert "decision: searched" in run(of_request)
    assert "presented" in run(memgate.format(why[1])).lower()


@pytest.mark.parametrize("arguments, mode", [([], "development"), (["--production"], "production")])
def test_clients_are_believed_unless_production_is_asked_for(up, tmp_path, arguments, mode):
    shipped = (paths.REPOSITORY / "config/config.yaml").read_text()
    assert "mode: production" in shipped
    (tmp_path / "memgate.yaml").write_text(shipped.replace("log: info", "log: debug"))
    one = up("--config", tmp_path / "memgate.yaml", *arguments)
    assert request(one.api_port, "GET", "/readyz").json()["identity_mode"] == mode


def test_it_serves_restarts_dead_programs_and_keeps_its_data(up):
    one = up()
    one.searched("My budget for the Hawaii trip is $10,000", "a")
    request(one.api_port, "POST", "/v1/memory/flush", {"user_id": "alice"})

    for victim in ("memgate", "envoy"):
        pid = one.child(victim)
        subprocess.run(["kill", "-KILL", str(pid)], check=True)
        one.process.wait_line(f"{victim} ended unexpectedly")
        until(lambda: one.child(victim) not in (None, pid), f"{victim} runs again", 20)

    def remembered():
        try:
            return "$10,000" in one.say("What's my budget for the trip?", "b").body.decode()
        except OSError:
            return False

    until(remembered, "all is as before", 30)


@pytest.mark.parametrize("store, program", [("milvus", "milvus"), ("postgres", "postgres")])
def test_it_restarts_the_server_of_the_store_keeps_its_data_and_ends_it(up, store, program):
    one = up("--store", store)
    one.say("My budget for the Hawaii trip is $10,000", "a")
    request(one.api_port, "POST", "/v1/memory/flush", {"user_id": "alice"})
    runner = one.child("xtask")
    server, = children(runner)
    os.kill(server, signal.SIGKILL)
    one.process.wait_line(f"{store} ended unexpectedly")
    until(lambda: "$10,000" in one.say("What's my budget for the trip?", "b").body.decode(), "all is as before", 120)
    runner = one.child("xtask")
    pids = [*children(one.process.pid), *children(runner)]
    assert sorted(name(pid) for pid in pids) == sorted(["envoy", "memgate", program, "model-double", "xtask"])
    one.process.signal(signal.SIGTERM)
    assert one.process.wait_end(30) == 0
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_everything(up, tmp_path, how):
    one = up()
    pids = children(one.process.pid)
    assert sorted(name(pid) for pid in pids) == ["envoy", "memgate", "model-double"]
    one.process.signal(how)
    assert one.process.wait_end(30) == 0
    assert all(gone(pid) for pid in pids)
    for port in (one.port, one.api_port):
        with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            pass
    again = up()
    assert again.say("hello", "c").status == 200, "the data folder is free again"


def test_a_frozen_memgate_does_not_delay_the_end(up):
    one = up()
    pids = children(one.process.pid)
    os.kill(one.child("memgate"), signal.SIGSTOP)
    one.process.signal(signal.SIGTERM)
    assert one.process.wait_end(30) == 0
    assert all(gone(pid) for pid in pids)


def test_a_model_server_behind_tls_and_a_prefix_takes_the_doubles_place(up, tmp_path):
    server = TlsServer(tmp_path)
    try:
        one = up("--upstream", f"https://localhost:{server.port}/team/v1", env={"SSL_CERT_FILE": str(server.ca_file)})
        assert sorted(name(pid) for pid in children(one.process.pid)) == ["envoy", "memgate"]
        answer = one.searched("What is my name?", "a")
        assert answer.json()["path"] == "/team/v1/chat/completions"
    finally:
        server.stop()


def test_the_model_server_can_help_to_learn(up):
    double = Double()
    try:
        one = up("--upstream", f"http://127.0.0.1:{double.port}", "--helper-model", "extractor")
        assert one.say("My sister Nadia moved to Lyon last week", "a").status == 200
        request(one.api_port, "POST", "/v1/memory/flush", {"user_id": "alice"})
        models = [received.json()["model"] for received in double.requests()]
        assert "extractor" in models, models
    finally:
        double.process.stop()


def test_a_helper_model_needs_its_server():
    assert "--upstream" in refused("--helper-model", "extractor")


def test_killing_it_leaves_nothing_behind(up):
    one = up()
    pids = children(one.process.pid)
    one.process.kill()
    until(lambda: all(gone(pid) for pid in pids), "its programs have ended", 30)


def refused(*arguments) -> str:
    """The error of an `up` that does not start."""
    done = subprocess.run(
        [str(paths.xtask()), "up", "--no-build", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, cwd=paths.REPOSITORY,
    )
    assert done.returncode != 0 and done.stdout == ""
    return done.stderr.strip()


def test_a_port_in_use_gives_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("--port", port, "--grpc-port", 0, "--http-port", 0)
    assert said.count("\n") == 0 and str(port) in said and "--port" in said


@pytest.mark.parametrize("option", ["--grpc-port", "--http-port"])
def test_the_error_says_which_of_memgates_ports_is_in_use(option):
    others = {"--port", "--grpc-port", "--http-port"} - {option}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(option, port, *(part for other in others for part in (other, 0)))
    assert said.count("\n") == 0 and str(port) in said and option in said


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--upstream", "ftp://x"], ["ftp", "http"]),
        (["--config", "/nowhere/config.yaml"], ["/nowhere/config.yaml"]),
    ],
    ids=["upstream", "config"],
)
def test_impossible_options_are_refused_in_one_sentence(arguments, words):
    said = refused(*arguments, "--port", 0, "--grpc-port", 0, "--http-port", 0)
    assert said.count("\n") == 0 and all(word in said for word in words), said


def test_a_bad_configuration_ends_it_with_memgates_error(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("memory:\n  default_retreival_limit: 3\n")
    said = refused("--config", config, "--data", tmp_path / "data", "--port", 0, "--grpc-port", 0, "--http-port", 0)
    assert "default_retrieval_limit" in said and "memgate ended before it was ready" in said


@pytest.mark.parametrize("store", [[], ["--store", "postgres"]], ids=["usual store", "postgres"])
def test_the_demo_shows_and_checks_recall_across_sessions(store):
    done = subprocess.run(
        [str(paths.xtask()), "up", "--demo", "--no-build", *store],
        capture_output=True, text=True, timeout=150, cwd=paths.REPOSITORY,
        # What is recalled, however busy this machine is.
        env={**os.environ, "MEMGATE_MEMORY__DEADLINE_MS": "150"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("Stored for alice", "Recalled", "received for alice", "received for bob", "$10,000"):
        assert part in done.stdout
