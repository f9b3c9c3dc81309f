"""The store cannot be written, or its file is damaged: requests succeed, and log and metrics show the failure."""

import os
import resource
import shutil

import pytest

from harness.context import context_of
from harness.memgate import Memgate
from harness.shared import running
from harness.stack import CHAT, Person, Stack
from harness.wait import until

pytestmark = pytest.mark.allows_log(
    "The journal cannot be written, learning is off until it can",
    "Store unavailable, memory disabled",
    "Embedding failed, skipping memory",
    "no models were trained with this embedding model",
)

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"
BODY = b'{"model":"echo", "messages":[{"role":"user","content":"What\'s my budget for the trip?"}]}'


def starve(memgate):
    """Prevents the process from growing any file, as with a full disk."""
    resource.prlimit(memgate.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def feed(memgate):
    resource.prlimit(memgate.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_with_a_store_that_cannot_be_written_requests_succeed_and_memories_are_still_read(start):
    stack = start()
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    alice = alice.later()
    dropped = stack.memgate.metric("memgate_capture_dropped_total", reason="journal")
    turns = stack.memgate.turns()
    starve(stack.memgate)
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, "searched")
    assert "$10,000" in context_of(alice.received()[-1].json())
    answer = alice.say("My boat is called Halcyon")
    assert answer.status == 200 and answer.seconds < 5
    until(
        lambda: stack.memgate.metric("memgate_capture_dropped_total", reason="journal") >= dropped + 2,
        "the loss is counted",
    )
    stack.memgate.wait_log("error", "The journal cannot be written, learning is off until it can")
    assert stack.memgate.turns() == turns
    assert stack.memgate.status("/readyz") == 503 and stack.memgate.status("/healthz") == 200
    feed(stack.memgate)
    alice.say("My village is Flåm")
    alice.learn()
    assert alice.knows("Flåm") and not alice.knows("Halcyon")
    stack.memgate.wait_log("info", "The journal can be written again, learning goes on")
    assert stack.memgate.status("/readyz") == 200


def damage(file):
    """Overwrites a file with noise after its header, as a failing disk would."""
    with open(file, "r+b") as pages:
        size = pages.seek(0, os.SEEK_END)
        pages.seek(4096)
        pages.write(b"\xa5" * (size - 4096))


def fill(stack: Stack) -> str:
    """Stores a user's fact, and more memories than are read at the start; stops memgate. Returns who the user is."""
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    for number in range(60):
        body = {"user_id": "filler", "content": f"filler {number} " * 200}
        assert stack.memgate.api("POST", "/v1/memory", body).status == 201
    assert stack.memgate.stop() == 0
    return alice.id


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A data folder like this, and its user."""
    with running(tmp_path_factory.mktemp("filled")) as stack:
        user = fill(stack)
    return stack.memgate.data, user


def damaged(stack: Stack, user: str) -> Person:
    """Damages the memory file while memgate runs, before any user was looked up. Returns the user."""
    stack.memgate.start()
    damage(stack.memgate.data / "memories.db")
    return Person(stack, user)


def damaged_copy(start, filled) -> tuple[Stack, Person]:
    data, user = filled
    stack = start(memgate=False)
    shutil.copytree(data, stack.memgate.data)
    return stack, damaged(stack, user)


def test_a_damaged_store_costs_the_context_and_nothing_else(start, filled):
    stack, alice = damaged_copy(start, filled)
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision, answer.headers["x-memgate-hits"]) == (200, "failed:store", "0")
    assert answer.seconds < 5
    assert alice.received()[-1].body == BODY
    assert stack.memgate.metric("memgate_decisions_total", decision="failed:store") == 1
    assert stack.memgate.metric("memgate_failures_total", kind="store") == 1
    stack.memgate.wait_log("error", "Store unavailable, memory disabled")
    assert stack.memgate.process.running()


def test_without_vectors_and_words_the_decision_is_a_failed_embedding(start):
    from test_embedder_failures import model

    stack = start(model("tripwire"))
    alice = damaged(stack, fill(stack))
    body = BODY.replace(b"my budget", b"my explode budget")
    answer = alice.post(CHAT, body)
    assert (answer.status, answer.decision) == (200, "failed:embedding")
    assert alice.received()[-1].body == body
    assert stack.memgate.metric("memgate_decisions_total", decision="failed:embedding") == 1
    stack.memgate.wait_log("warn", "Embedding failed, skipping memory")


@pytest.mark.parametrize("file", ["memories.db", "journal.db"])
def test_a_file_that_is_no_database_is_refused_at_start_in_a_sentence(tmp_path, file):
    memgate = Memgate(tmp_path)
    memgate.data.mkdir()
    (memgate.data / file).write_bytes(b"this is no database " * 500)
    assert file in memgate.refuses()


def test_a_start_whose_data_folder_cannot_be_made_is_refused_in_a_sentence(tmp_path):
    memgate = Memgate(tmp_path)
    memgate.data.write_text("a file stands in the folder's place")
    assert f"data_dir: {memgate.data}: cannot be created" in memgate.refuses()


def test_no_response_contains_a_folder(start, filled):
    stack, alice = damaged_copy(start, filled)
    alice.post(CHAT, BODY)
    answers = []
    for path in ("/readyz", f"/v1/memory?user_id={alice.id}", "/v1/memory?user_id=filler", "/admin/jobs"):
        said = stack.memgate.api("GET", path).body.decode()
        assert str(stack.memgate.data) not in said and "/memories.db" not in said, said
        answers.append(said)
    assert any("memories.db" in said for said in answers), "the file itself is named"


def test_a_data_folder_that_cannot_be_used_yet_is_waited_for_and_requests_pass_meanwhile(start):
    stack = start(memgate=False)
    # Fails even for root: a folder has the lock file's name.
    (stack.memgate.data / "memgate.lock").mkdir(parents=True)
    stack.memgate.start(ready=False)
    stack.memgate.wait_log("error", "Store unavailable, memory disabled", 20)
    until(lambda: stack.memgate.status("/healthz") == 200, "memgate lives", 60)
    assert stack.memgate.status("/readyz") == 503
    alice = stack.person()
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, "failed:store")
    assert alice.received()[-1].body == BODY
    assert stack.memgate.metric("memgate_store_up") == 0
    (stack.memgate.data / "memgate.lock").rmdir()
    stack.memgate.wait_ready()
    stack.memgate.wait_log("info", "Store available, memory enabled")
    assert stack.memgate.metric("memgate_store_up") == 1
    alice.say(FACT)
    alice.learn()
    assert alice.later().post(CHAT, BODY).decision == "searched"
    assert "$10,000" in context_of(alice.received()[-1].json())
