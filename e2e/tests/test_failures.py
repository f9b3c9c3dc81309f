"""memgate killed, frozen, starved: the real process, behind the real Envoy. The request always succeeds."""

import os
import resource
import shutil
import threading

import pytest

from harness import paths
from harness.context import context_of
from harness.http import events
from harness.stack import CHAT
from harness.wait import until

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"
BODY = b'{"model":"echo", "messages":[{"role":"user","content":"What\'s my budget for the trip?"}]}'
# Envoy gives up on memgate after this long (message_timeout in envoy/development.yaml).
MESSAGE_TIMEOUT = 0.25


class Later:
    """A request on its way in another thread."""

    def __init__(self, send):
        self._answer = None
        self._thread = threading.Thread(target=self._run, args=(send,))
        self._thread.start()

    def _run(self, send):
        self._answer = send()

    def answer(self):
        self._thread.join(timeout=60)
        assert self._answer is not None, "the request did not end"
        return self._answer


def knowing(stack):
    person = stack.person()
    person.say(FACT)
    person.learn()
    return person.later()


def test_killed_between_requests_nobody_notices_and_memories_are_back_with_it(start):
    stack = start()
    alice = knowing(stack)
    stack.memgate.kill()
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, None)
    assert answer.seconds < 1
    assert alice.received()[-1].body == BODY
    stack.memgate.start()
    answer = alice.post(CHAT, BODY)
    assert answer.decision == "searched"
    assert "$10,000" in context_of(alice.received()[-1].json())


def test_killed_while_a_request_waits_for_it_the_request_goes_on_at_once(start):
    stack = start(edit=message_timeout("20s"))
    alice = knowing(stack)
    stack.memgate.process.freeze()
    waiting = Later(lambda: alice.post(CHAT, BODY))
    until(lambda: stack.envoy.stat("cluster.memgate_recall.upstream_rq_active") > 0, "the request waits")
    stack.memgate.kill()
    answer = waiting.answer()
    assert (answer.status, answer.decision) == (200, None)
    assert answer.seconds < 10
    assert alice.received()[-1].body == BODY


def message_timeout(value):
    def edit(config):
        manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
        recall = next(f for f in manager["http_filters"] if f["name"] == "recall")["typed_config"]
        recall["message_timeout"] = value
        recall["max_message_timeout"] = value

    return edit


def test_killed_in_the_middle_of_a_stream_the_stream_is_whole(start):
    stack = start()
    alice = knowing(stack)
    slow = {"x-double": "chunks=30,gap_ms=50"}
    streaming = Later(lambda: alice.say(QUESTION, slow, stream=True))
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") > 0, "the stream flows")
    stack.memgate.kill()
    answer = streaming.answer()
    assert answer.status == 200 and answer.complete
    assert events(answer.body)[-1] == "[DONE]"


def test_frozen_a_request_waits_no_longer_than_envoys_timeout(start):
    stack = start()
    alice = knowing(stack)
    stack.memgate.process.freeze()
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, None)
    assert MESSAGE_TIMEOUT * 0.9 < answer.seconds < MESSAGE_TIMEOUT + 1
    assert alice.received()[-1].body == BODY
    stack.memgate.process.thaw()
    until(lambda: alice.post(CHAT, BODY).decision == "searched", "memory is back", 20)


def test_frozen_in_the_middle_of_a_stream_no_chunk_is_late(start):
    stack = start()
    alice = knowing(stack)
    streaming = Later(lambda: alice.say(QUESTION, {"x-double": "chunks=20,gap_ms=50"}, stream=True))
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") > 0, "the stream flows")
    stack.memgate.process.freeze()
    answer = streaming.answer()
    assert answer.complete and answer.seconds < 3
    assert events(answer.body)[-1] == "[DONE]"


def starve(memgate):
    """From now on the process cannot make any file longer: as with a full disk."""
    resource.prlimit(memgate.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def feed(memgate):
    resource.prlimit(memgate.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_with_a_store_that_cannot_be_written_requests_succeed_and_memories_are_still_read(start):
    stack = start()
    alice = knowing(stack)
    dropped = stack.memgate.metric("memgate_capture_dropped_total")
    turns = stack.memgate.turns()
    starve(stack.memgate)
    answer = alice.say(QUESTION)
    assert (answer.status, answer.decision) == (200, "searched")
    assert "$10,000" in context_of(alice.received()[-1].json())
    answer = alice.say("My boat is called Halcyon")
    assert answer.status == 200 and answer.seconds < 1
    until(lambda: stack.memgate.metric("memgate_capture_dropped_total") > dropped, "the loss is counted")
    assert stack.memgate.turns() == turns
    assert stack.memgate.process.running()
    feed(stack.memgate)
    alice.say("My village is Flåm")
    alice.learn()
    assert alice.knows("Flåm")


def test_with_a_broken_model_recall_is_by_words(start, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(paths.ASSETS / "models/all-MiniLM-L6-v2", model)
    stack = start({"memory": {"embedding": {"folder": str(model)}}})
    alice = knowing(stack)
    stack.memgate.stop()
    for file in model.glob("*.onnx"):
        file.write_bytes(b"no model")
    stack.memgate.start(ready=False)
    until(lambda: stack.memgate.status("/healthz") == 200, "memgate lives without its model", 30)
    assert stack.memgate.status("/readyz") == 503
    answer = alice.say("What is my budget for the Hawaii trip?")
    assert (answer.status, answer.decision) == (200, "searched")
    assert "$10,000" in (context_of(alice.received()[-1].json()) or "")
    assert stack.memgate.metric("memgate_failures_total", kind="embedding") > 0
    alice.say("My boat is called Halcyon")
    alice.learn()
    assert alice.knows("Halcyon"), "it is learnt without a vector"


def test_a_deadline_that_passes_leaves_the_request_as_it_is(start):
    stack = start({"memory": {"deadline_ms": 1}})
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    # Longer than a millisecond to embed, whatever the machine: no two questions are alike.
    answers = [
        alice.later().say(f"What was my {number}th budget for the trip to Hawaii? {'and more ' * 60}")
        for number in range(20)
    ]
    assert all(answer.status == 200 and answer.seconds < 1 for answer in answers)
    late = [answer for answer in answers if answer.decision == "failed:deadline"]
    assert late, [answer.decision for answer in answers]
    assert stack.memgate.metric("memgate_decisions_total", decision="failed:deadline") == len(late)
    stack.memgate.wait_log("warn", "Memory search timeout, skipping")


def test_every_client_request_succeeds_while_memgate_comes_and_goes(start):
    stack = start()
    people = [stack.person() for _ in range(4)]
    statuses, over = [], threading.Event()

    def talk(person):
        while not over.is_set():
            statuses.append(person.say(QUESTION, stream=len(statuses) % 2 == 0).status)

    threads = [threading.Thread(target=talk, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            served = len(statuses)
            until(lambda: len(statuses) > served + 40, "requests are served", 30)
            stack.memgate.kill()
            served = len(statuses)
            until(lambda: len(statuses) > served + 40, "requests are served without memgate", 30)
            stack.memgate.start()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_data_folder_that_cannot_be_written_is_refused_at_start(start, tmp_path):
    stack = start(memgate=False)
    stack.memgate.data.mkdir()
    stack.memgate.data.chmod(0o500)
    stack.memgate.start(ready=False)
    assert stack.memgate.process.wait_end(20) == 1
    assert str(stack.memgate.data) in stack.memgate.process.output()
