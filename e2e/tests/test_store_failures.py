"""The store cannot be written, or its file is damaged: requests succeed, and log and metrics show the failure."""

import os
import resource

import pytest

from harness.context import context_of
from harness.stack import CHAT
from harness.wait import until

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


def damaged(start, config=None):
    """A stack whose memory file is damaged while memgate runs, before any user was looked up."""
    stack = start(config)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    # More memories than are read at the start.
    for number in range(60):
        body = {"user_id": "filler", "content": f"filler {number} " * 200}
        assert stack.memgate.api("POST", "/v1/memory", body).status == 201
    assert stack.memgate.stop() == 0
    stack.memgate.start()
    damage(stack.memgate.data / "memories.db")
    return stack, alice.later()


def test_a_damaged_store_costs_the_context_and_nothing_else(start):
    stack, alice = damaged(start)
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

    stack, alice = damaged(start, model("tripwire"))
    body = BODY.replace(b"my budget", b"my explode budget")
    answer = alice.post(CHAT, body)
    assert (answer.status, answer.decision) == (200, "failed:embedding")
    assert alice.received()[-1].body == body
    assert stack.memgate.metric("memgate_decisions_total", decision="failed:embedding") == 1
    stack.memgate.wait_log("warn", "Embedding failed, skipping memory")


@pytest.mark.parametrize("file", ["memories.db", "journal.db"])
def test_a_file_that_is_no_database_is_refused_at_start_in_a_sentence(start, file):
    stack = start(memgate=False)
    stack.memgate.data.mkdir()
    (stack.memgate.data / file).write_bytes(b"this is no database " * 500)
    stack.memgate.start(ready=False)
    assert stack.memgate.process.wait_end(20) == 1
    assert file in stack.memgate.process.output()


def test_a_start_whose_data_folder_cannot_be_made_is_refused_in_a_sentence(start):
    stack = start(memgate=False)
    stack.memgate.data.write_text("a file stands in the folder's place")
    stack.memgate.start(ready=False)
    assert stack.memgate.process.wait_end(20) == 1
    assert f"data_dir: {stack.memgate.data}: cannot be created" in stack.memgate.process.output()


def test_no_response_contains_a_folder(start):
    stack, alice = damaged(start)
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
