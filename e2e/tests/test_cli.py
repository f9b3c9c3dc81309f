"""The command line: the real program, beside a running memgate and alone with the data folder."""

import fcntl
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import termios
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from harness import http, paths
from harness.memgate import BEARER
from harness.place import Place
from harness.wait import until

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"
ODD = "a+b@x.org 'quoted' 予算 👨‍👩‍👧 &=%2F/?#"


@pytest.fixture
def place(tmp_path):
    """A place without a running memgate; `place.memgate.start()` starts one."""
    made = Place(tmp_path)
    yield made
    made.memgate.stop()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A place with data and without a running memgate, for several tests; each has a user of its own."""
    made = Place(tmp_path_factory.mktemp("alone"))
    made.ok("remember", FACT, "--user", "somebody")
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A place with a running memgate, for several tests; each has a user of its own."""
    made = Place(tmp_path_factory.mktemp("served"))
    try:
        made.memgate.start()
        yield made
    finally:
        made.memgate.stop()


@pytest.fixture(params=["alone", "served"])
def either(request):
    """A place with and without a running memgate: commands must behave the same."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"alice-{uuid.uuid4().hex[:12]}"


@pytest.mark.parametrize("name", ["", ODD], ids=["plain", "odd"])
def test_a_remembered_text_can_be_listed_found_and_forgotten(either, user, name):
    user = name + user
    told = either.ok("remember", FACT, "--user", user, "--tag", "trip", "--importance", "0.9")
    assert FACT in told
    listed = either.json("list", "--user", user)["memories"]
    assert [(m["content"], m["user_id"], m["tags"], m["importance"]) for m in listed] == [(FACT, user, ["trip"], 0.9)]
    found = either.json("search", QUESTION, "--user", user, "--explain")["hits"]
    assert found[0]["memory"]["id"] == listed[0]["id"] and found[0]["parts"]["cosine"] > 0.3
    assert FACT in either.ok("search", QUESTION, "--user", user)
    assert either.json("list", "--user", "somebody else") == {"memories": [], "next_cursor": None}
    assert either.json("forget", listed[0]["id"], "--user", user) == {"deleted": 1}
    assert either.json("list", "--user", user)["memories"] == []


def test_a_wish_is_listed_after_the_preferences_and_forgotten_by_its_id(either, user):
    assert "No preferences." in either.ok("preferences", "list", "--user", user)
    told = either.ok("preferences", "wish", "no more romaji", "--user", user, "--project", "blue").strip()
    either.ok("preferences", "set", "units", "metric", "--user", user)
    listed = either.json("preferences", "list", "--user", user, "--project", "blue")
    wish = listed["wishes"][0]
    assert told == f"wish: no more romaji  in blue  ({wish['id']})"
    assert either.ok("preferences", "list", "--user", user, "--project", "blue").splitlines() == ["units: metric", told]
    assert either.json("preferences", "wish", "no more romaji", "--user", user, "--project", "blue")["id"] == wish["id"]
    assert either.json("preferences", "list", "--user", user)["wishes"] == []
    assert either.json("forget", wish["id"], "--user", user) == {"deleted": 1}
    assert either.json("preferences", "list", "--user", user, "--project", "blue")["wishes"] == []


def test_a_page_has_a_cursor_to_the_next(either, user):
    for number in range(5):
        either.ok("remember", f"Fact number {number}", "--user", user)
    seen, cursor = [], []
    while True:
        page = either.json("list", "--user", user, "--limit", "2", *cursor)
        seen += [memory["content"][-1] for memory in page["memories"]]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert "".join(seen) == "43210"
    assert "--cursor" in either.ok("list", "--user", user, "--limit", "2")


def test_scopes_narrow_and_never_widen(either, user):
    either.ok("remember", "In the blue project", "--user", user, "--project", "blue")
    either.ok("remember", "How to bake", "--user", user, "--type", "procedural")
    either.ok("remember", "Of another tenant", "--user", user, "--tenant", "acme")

    def contents(*options):
        return [memory["content"] for memory in either.json("list", "--user", user, *options)["memories"]]

    assert contents() == ["How to bake", "In the blue project"]
    assert contents("--project", "blue") == ["In the blue project"]
    assert contents("--type", "procedural") == ["How to bake"]
    assert contents("--tenant", "acme") == ["Of another tenant"]
    assert contents("--status", "archived") == []
    assert "Forgot 1 memory" in either.ok("forget", "--all", "--project", "blue", "--user", user)
    assert contents() == ["How to bake"]
    assert either.json("forget", "--all", "--user", user) == {"deleted": 1}
    assert contents("--tenant", "acme") == ["Of another tenant"]


def test_json_output_is_the_rest_body_byte_for_byte(place):
    place.ok("remember", FACT, "--user", ODD, "--tag", "ü")
    alone = place.ok("list", "--user", ODD, "--json")
    wrong_alone = place.run("list", "--user", ODD, "--limit", "0", "--json").stdout
    place.memgate.start()
    served = place.ok("list", "--user", ODD, "--json")
    query = f"/v1/memory?user_id={quote(ODD, safe='')}"
    rest = http.request(place.memgate.http_port, "GET", query, headers=BEARER).body.decode()
    assert alone == served == rest + "\n"
    wrong = http.request(place.memgate.http_port, "GET", f"{query}&limit=0", headers=BEARER).body + b"\n"
    assert wrong == wrong_alone == place.run("list", "--user", ODD, "--limit", "0", "--json").stdout


# The first four are of four commands.
WRONG = [
    (["list", "--limit", "0"], ["--limit", "between 1 and 100"]),
    (["search", ""], ["QUERY", "empty"]),
    (["remember", " "], ["TEXT", "empty"]),
    (["forget", ".."], ["'..'", "is not the id of a memory"]),
    (["list", "--limit", "-1"], ["--limit", "whole number"]),
    (["list", "--type", "semantik"], ["--type", "semantic, procedural"]),
    (["list", "--status", "activ"], ["--status", "active"]),
    (["list", "--cursor", "x"], ["--cursor", "next_cursor"]),
    (["list", "--project", ""], ["--project", "empty"]),
    (["search", "x", "--threshold", "1.5"], ["--threshold", "between 0 and 1"]),
    (["search", "x", "--threshold", "nan"], ["--threshold", "number"]),
    (["search", "x", "--since", "2026-05-02", "--until", "2026-05-01"], ["--since", "before until"]),
    (["search", "x", "--limit", "51"], ["--limit", "between 1 and 50"]),
    (["preferences", "wish", "link https://acme.example"], ["WISH", "one sentence"]),
    (["remember", "x", "--importance", "-0.1"], ["--importance", "between 0 and 1"]),
    (["forget"], ["<ID|--all|--pending|--undo <ID>>"]),
    (["forget", "mem_1", "--project", "p"], ["--project"]),
]


@pytest.mark.parametrize("args, words", WRONG, ids=" ".join)
def test_an_error_names_the_option_with_the_wrong_value(alone, args, words):
    said = alone.fails(2, *args, "--user", "alice")
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    "args, words",
    [pytest.param(*case, marks=() if number < 4 else pytest.mark.long) for number, case in enumerate(WRONG)],
    ids=" ".join,
)
def test_an_error_is_the_same_beside_a_running_memgate(served, args, words):
    said = served.fails(2, *args, "--user", "alice")
    assert all(word in said for word in words), said


@pytest.mark.parametrize("user", ["", "a\nb", "é" * 129], ids=["empty", "control", "long"])
def test_a_bad_user_is_refused(either, user):
    assert "--user: must" in either.fails(2, "list", "--user", user)


def test_another_user_s_memory_cannot_be_forgotten(either, user):
    id_ = either.json("remember", FACT, "--user", user)["id"]
    for name in (id_, "mem_none", "a/../b", "%2e%2e", f"?user_id={user}"):
        assert "no such memory" in either.fails(1, "forget", name, "--user", "bob")
    assert len(either.json("list", "--user", user)["memories"]) == 1


def test_list_and_forget_work_without_the_model_and_search_names_the_missing_file(place):
    id_ = place.json("remember", FACT, "--user", "alice")["id"]
    place.configure({"assets_dir": str(place.folder / "nothing")})
    assert FACT in place.ok("list", "--user", "alice")
    for command in (["search", QUESTION], ["remember", "More"]):
        said = place.fails(1, *command, "--user", "alice")
        assert "memory.embedding" in said and "libonnxruntime" in said
    assert "Forgot 1 memory." in place.ok("forget", id_, "--user", "alice")


def test_a_secret_is_refused_with_a_message(either, user):
    key = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4" * 2
    told = either.ok("remember", f"My key is {key}", "--user", user)
    assert key not in told and "My key is" in told


@pytest.mark.parametrize("columns", ["1", "7", "40", "0", "wide"])
def test_any_text_can_be_shown_at_any_terminal_width(place, columns):
    text = "\x1b[2J予算👨‍👩‍👧é \u202e\x07 الميزانية \n## x " * 20
    place.ok("remember", text, "--user", "alice", "--tag", "👩‍👩‍👧", env={"COLUMNS": columns})
    for args in (["list"], ["search", "予算", "--explain", "--threshold", "0"]):
        shown = place.ok(*args, "--user", "alice", env={"COLUMNS": columns})
        assert not any(ord(c) < 32 and c != "\n" or c == "\u202e" for c in shown), repr(shown)


def on_a_terminal(place, columns: int, *args) -> list[str]:
    """The lines that a command writes to a terminal, errors included."""
    us, them = pty.openpty()
    fcntl.ioctl(them, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in place.environment({}).items() if name != "COLUMNS"}
    process = subprocess.Popen(place.command(*args), env=env, stdin=them, stdout=them, stderr=them)
    os.close(them)
    written = b""
    try:
        while data := os.read(us, 65_536):
            written += data
    except OSError:
        pass  # On Linux, reading a terminal that no process has open any more is an error.
    finally:
        os.close(us)
        assert process.wait(60) == 0, written
    return written.decode().splitlines()


def test_lines_are_cut_to_the_width_of_the_terminal(place):
    place.ok("remember", "My budget for the Hawaii trip is $10,000, and not a cent more", "--user", "alice")
    about, words = on_a_terminal(place, 50, "list", "--user", "alice")
    assert len(about) == len(words) == 50 and words.endswith("…") and "My budget" in words
    _, words = on_a_terminal(place, 200, "list", "--user", "alice")
    assert words.endswith("not a cent more")


def test_a_closed_pipe_is_no_error(place):
    # More than a pipe holds.
    for number in range(3):
        place.ok("remember", f"{number} " + "long " * 12_000, "--user", "alice")
    for option in ([], ["--json"]):
        command = place.command("list", "--user", "alice", *option)
        with subprocess.Popen(
            command, env=place.environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0


def test_an_output_that_cannot_be_written_is_an_error(place):
    place.ok("remember", FACT, "--user", "alice")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            place.command("list", "--user", "alice"), env=place.environment({}), stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1 and b"standard output" in done.stderr


def test_an_interrupt_ends_a_waiting_command(place):
    place.memgate.start()
    place.memgate.process.freeze()
    try:
        command = place.command("list", "--user", "alice")
        with subprocess.Popen(command, env=place.environment({}), stderr=subprocess.PIPE) as process:
            until(lambda: connected(place.memgate.http_port), "the command waits for the answer")
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == -signal.SIGINT
            assert process.stderr.read() == b""
    finally:
        place.memgate.process.thaw()


def connected(port: int) -> bool:
    """Whether somebody on this machine has a connection to this port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(to.endswith(f":{port:04X}") and state == "01" for _, _, to, state, *_ in lines)


def test_an_error_names_the_process_that_uses_the_folder(place):
    place.ok("remember", FACT, "--user", "alice")
    with open(place.memgate.data / "memgate.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate()
        lock.write(json.dumps({"pid": 4711, "api": None}) + "\n")
        lock.flush()
        # A command waits 30 seconds for a busy folder.
        done = place.run("list", "--user", "alice", "--json", timeout=90)
    assert done.returncode == 1
    assert b"4711" in done.stderr and str(place.memgate.data).encode() in done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "data_folder_in_use" and "4711" in error["message"]


def test_commands_at_the_same_time_wait_for_each_other(place):
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(place.run, "remember", f"Fact {n}", "--user", "alice", timeout=90) for n in range(6)]
    assert [one.result().returncode for one in done] == [0] * 6, [one.result().stderr for one in done]
    assert len(place.json("list", "--user", "alice")["memories"]) == 6


def test_a_server_is_found_by_its_folder_its_address_or_the_option(place):
    place.memgate.start()
    place.ok("remember", FACT, "--user", "alice")
    listen = {"listen": {"http": f"127.0.0.1:{place.memgate.http_port}"}}
    elsewhere = str(place.folder / "elsewhere")

    def known(*options):
        return len(place.json("list", "--user", "alice", *options)["memories"]) == 1

    assert known()
    # The folder's lock says where its memgate answers, whatever the configuration says.
    place.configure({"listen": {"http": "127.0.0.1:1"}})
    assert known()
    # A memgate whose data is elsewhere is found by its address.
    place.configure({**listen, "data_dir": elsewhere})
    assert known() and not Path(elsewhere).exists()
    place.configure({"listen": {"http": "127.0.0.1:1"}, "data_dir": elsewhere})
    assert known("--server", f"http://127.0.0.1:{place.memgate.http_port}/")
    # A named folder is used; a command that only reads creates none.
    place.configure(listen)
    said = place.fails(1, "list", "--user", "alice", "--data", elsewhere)
    assert "elsewhere: no data" in said and "--data" in said and not Path(elsewhere).exists()
    place.ok("remember", "Another fact", "--user", "bob", "--data", elsewhere)
    assert not known("--data", elsewhere)


def test_an_error_names_a_server_that_is_absent_or_not_memgate(place):
    said = place.fails(1, "list", "--user", "alice", "--server", "http://127.0.0.1:1")
    assert "http://127.0.0.1:1" in said and "refused" in said
    assert "--server" in place.fails(2, "list", "--user", "alice", "--server", "127.0.0.1:8080")
    assert not place.memgate.data.exists()


def test_the_key_comes_from_the_variable_that_the_configuration_names(place):
    place.configure({"api": {"key_env": "THE_KEY"}})
    place.memgate.start(env={"THE_KEY": "right" * 8})
    assert place.json("list", "--user", "alice", env={"THE_KEY": "right" * 8})["memories"] == []
    assert "api.key_env" in place.fails(1, "list", "--user", "alice", env={"THE_KEY": "wrong" * 8})
    assert "too short" in place.fails(1, "list", "--user", "alice", env={"THE_KEY": "right"})
    said = place.fails(1, "list", "--user", "alice", env={"THE_KEY": ""})
    assert "THE_KEY is not set" in said and "wrong" not in said


def test_the_keys_of_helper_models_need_not_be_set_for_a_command(place):
    endpoint = {"address": "127.0.0.1", "port": 9, "api_key_env": "NOT_SET_HERE"}
    model = {"llm_provider": "vllm", "model_role": "memory_extraction", "llm_endpoint": endpoint, "llm_model_name": "m"}
    place.configure({"external_models": [model]})
    place.ok("remember", FACT, "--user", "alice")
    assert "NOT_SET_HERE is not set" in place.run("check-config").stdout.decode()


# -- check-health -----------------------------------------------------------------------------------------------


def test_a_working_memgate_is_healthy(place):
    place.memgate.start()
    port = place.memgate.http_port
    assert place.ok("check-health") == f"http://127.0.0.1:{port}/ is ready\n"
    # In a container it listens on all addresses; the health check uses a local one.
    production = {"identity": {"mode": "production"}}
    place.configure({"listen": {"http": f"0.0.0.0:{port}"}, "api": {"key_env": "THE_KEY"}, "memory": production})
    assert "is ready" in place.ok("check-health", env={"THE_KEY": "any" * 11})
    place.configure({"listen": {"http": "127.0.0.1:1"}})
    assert "is ready" in place.ok("check-health", "--server", f"http://127.0.0.1:{port}")


def test_a_memgate_that_does_not_answer_is_not_healthy(place):
    assert "refused" in place.fails(1, "check-health")
    assert not place.memgate.data.exists()
    place.memgate.start()
    place.memgate.process.freeze()
    try:
        assert str(place.memgate.http_port) in place.fails(1, "check-health")
    finally:
        place.memgate.process.thaw()
    assert "is ready" in place.ok("check-health")


@pytest.mark.allows_log("The journal cannot be written, learning is off until it can")
@pytest.mark.allows_log("truncating the database log failed; retrying")
def test_check_health_names_the_broken_part(place):
    place.memgate.start()
    # As with a full disk: no file can grow.
    resource.prlimit(place.memgate.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    until(lambda: place.memgate.status("/readyz") == 503, "the journal cannot be written")
    said = place.fails(1, "check-health")
    assert "is not ready" in said and '"journal"' in said


# -- check-config -----------------------------------------------------------------------------------------------


def check(place, text: str, *options) -> subprocess.CompletedProcess:
    file = place.folder / "checked.yaml"
    file.write_text(text)
    return place.run("check-config", "--config", file, *options)


def test_the_shipped_configuration_is_valid(place):
    done = place.run("check-config", "--config", paths.REPOSITORY / "config/config.yaml")
    assert (done.returncode, done.stderr) == (0, b""), done


def test_check_config_lists_every_problem_with_its_place(place):
    text = "memory:\n  default_retreival_limit: 3\n  deadlin: 5\nbanana: 1\n"
    done = check(place, text)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert lines[0].endswith(
        'checked.yaml:2: memory.default_retreival_limit: unknown key; did you mean "default_retrieval_limit"?'
    )
    assert ":3: memory.deadlin: " in lines[1] and ":4: banana: " in lines[2] and lines[3].endswith("3 problems")
    findings = json.loads(check(place, text, "--json").stdout)
    assert findings["ok"] is False and findings["file"].endswith("checked.yaml")
    assert [(one["line"], one["key"]) for one in findings["problems"]] == [
        (2, "memory.default_retreival_limit"), (3, "memory.deadlin"), (4, "banana"),
    ]


def test_a_missing_model_is_a_warning(place):
    text = "memory: {query: {hyde: true}}\n"
    done = check(place, text)
    assert done.returncode == 0
    assert b"warning: memory.query.hyde" in done.stdout and b"not used" in done.stdout
    assert json.loads(check(place, text, "--json").stdout)["warnings"][0]["key"] == "memory.query.hyde"


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "memory: 5", "\x00", "memory:\n\tx: 1"])
def test_a_file_that_is_not_a_configuration_gives_one_error(place, text):
    done = check(place, text)
    assert done.returncode == 1 and b"checked.yaml" in done.stdout and b"panicked" not in done.stderr


def test_an_absent_file_is_an_error(place):
    done = place.run("check-config", "--config", "/nowhere/c.yaml")
    assert done.returncode == 1 and b"/nowhere/c.yaml: no such file" in done.stdout
    assert "/nowhere/c.yaml" in place.fails(1, "list", "--user", "alice", "--config", "/nowhere/c.yaml")


def test_the_defaults_are_valid_without_a_file(place):
    done = subprocess.run(
        place.command("check-config"), cwd=place.folder, capture_output=True,
        env={name: value for name, value in os.environ.items() if name != "MEMGATE_CONFIG"},
    )
    assert done.returncode == 0 and b"defaults" in done.stdout


@pytest.mark.parametrize("args", [[], ["lst"], ["list"], ["list", "--user"], ["check-config", "--user", "x"]], ids=" ".join)
def test_a_malformed_command_line_is_a_usage_error(place, args):
    done = place.run(*args)
    assert done.returncode == 2 and b"--help" in done.stdout + done.stderr
