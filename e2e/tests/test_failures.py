"""memgate is killed, frozen or late, behind a real Envoy. The request always succeeds."""

import json
import threading
from functools import partial

import pytest

from harness.context import context_of
from harness.envoy import wait_for_memgate
from harness.http import events
from harness.stack import CHAT
from harness.wait import until

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"
BODY = b'{"model":"echo", "messages":[{"role":"user","content":"What\'s my budget for the trip?"}]}'
# Envoy gives up on memgate after this long (message_timeout in envoy/development.yaml).
MESSAGE_TIMEOUT = 0.25


@pytest.fixture
def start(start):
    """Starts stacks with the shipped limits, because these tests are about time."""
    return partial(start, patient=False)


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


def passed_by(stack) -> int:
    """How many requests Envoy passed without memgate since its start."""
    return stack.envoy.stat("http.llm.ext_proc.failure_mode_allowed")


def test_a_kill_between_requests_loses_no_memories(start):
    stack = start(patient=True)
    alice = knowing(stack)
    stack.memgate.kill()
    before, lines = passed_by(stack), len(stack.envoy.access_log())
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, None)
    assert answer.seconds < 5, "Envoy would wait for ten seconds"
    assert alice.received()[-1].body == BODY
    assert passed_by(stack) > before
    line = until(lambda: stack.envoy.access_log()[lines:], "the access log has the request")[0]
    assert (line["status"], line["memgate_decision"]) == (200, None)
    stack.memgate.start()
    answer = alice.post(CHAT, BODY)
    assert answer.decision == "searched"
    assert "$10,000" in context_of(alice.received()[-1].json())


def test_a_kill_during_recall_lets_the_request_go_on_at_once(start):
    stack = start(edit=wait_for_memgate)
    alice = knowing(stack)
    stack.memgate.process.freeze()
    waiting = Later(lambda: alice.post(CHAT, BODY))
    until(lambda: stack.envoy.stat("cluster.memgate_recall.upstream_rq_active") > 0, "the request waits")
    stack.memgate.kill()
    answer = waiting.answer()
    assert (answer.status, answer.decision) == (200, None)
    assert answer.seconds < 10
    assert alice.received()[-1].body == BODY


def test_a_kill_during_a_stream_leaves_the_stream_whole(start):
    stack = start()
    alice = knowing(stack)
    slow = {"x-double": "chunks=30,gap_ms=50"}
    streaming = Later(lambda: alice.say(QUESTION, slow, stream=True))
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") > 0, "the stream flows")
    stack.memgate.kill()
    answer = streaming.answer()
    assert answer.status == 200 and answer.complete
    assert events(answer.body)[-1] == "[DONE]"


def test_a_frozen_memgate_delays_a_request_by_envoys_timeout_at_most(start):
    stack = start()
    alice = knowing(stack)
    stack.memgate.process.freeze()
    before, late = passed_by(stack), stack.envoy.stat("http.llm.ext_proc.message_timeouts")
    answer = alice.post(CHAT, BODY)
    assert (answer.status, answer.decision) == (200, None)
    assert MESSAGE_TIMEOUT * 0.9 < answer.seconds < MESSAGE_TIMEOUT + 5
    assert alice.received()[-1].body == BODY
    assert passed_by(stack) > before
    assert stack.envoy.stat("http.llm.ext_proc.message_timeouts") == late + 1
    stack.memgate.process.thaw()
    until(lambda: alice.post(CHAT, BODY).decision == "searched", "memory is back", 20)


@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
def test_a_frozen_memgate_does_not_hold_up_large_bodies(start, chunked):
    # The failure would be endless waiting; moving this much data on a busy machine takes some time.
    patience = 20
    stack = start()
    person = stack.person()
    stack.memgate.process.freeze()
    for size in (8 << 20, 24 << 20):
        body = json.dumps({"model": "echo", "messages": [{"role": "user", "content": "y" * size}]}).encode()
        answer = person.post(CHAT, body, {"x-double": "status=404"}, chunked=chunked)
        assert (answer.status, answer.decision) == (404, None), size
        assert answer.seconds < patience, size
        assert person.received()[-1].body == body
        stack.double.forget()
    answer = person.say("Hello!", {"x-double": "reply_bytes=12000000"})
    assert answer.complete and len(answer.body) > 12_000_000 and answer.seconds < patience


def test_freezing_during_a_stream_delays_no_chunk(start):
    stack = start()
    alice = knowing(stack)
    streaming = Later(lambda: alice.say(QUESTION, {"x-double": "chunks=20,gap_ms=50"}, stream=True))
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") > 0, "the stream flows")
    stack.memgate.process.freeze()
    answer = streaming.answer()
    assert answer.complete and answer.seconds < 10
    assert events(answer.body)[-1] == "[DONE]"


def test_a_missed_deadline_leaves_the_request_unchanged(start):
    stack = start({"memory": {"deadline_ms": 1}}, patient=True)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    # Reading a body of this size takes longer than a millisecond, which is part of the deadline.
    history = [{"role": "assistant", "content": "and more " * 600_000}]
    body = json.dumps({"model": "echo", "messages": [*history, {"role": "user", "content": QUESTION}]}).encode()

    def counted():
        metric = stack.memgate.metric
        return metric("memgate_decisions_total", decision="failed:deadline"), metric(
            "memgate_failures_total", kind="deadline"
        )

    decisions, failures = counted()
    answer = alice.later().post(CHAT, body, {"x-double": "status=404"})
    assert (answer.status, answer.decision, answer.headers["x-memgate-hits"]) == (404, "failed:deadline", "0")
    assert answer.seconds < 10
    assert alice.received()[-1].body == body
    assert counted() == (decisions + 1, failures + 1)
    stack.memgate.wait_log("warn", "Memory search timeout, skipping")


@pytest.mark.allows_log("Memory search timeout, skipping")
def test_our_fields_are_removed_after_a_missed_deadline(start):
    stack = start({"memory": {"deadline_ms": 1}}, patient=True)
    alice = stack.person()
    history = [{"role": "assistant", "content": "and more " * 600_000}]
    body = {"model": "echo", "messages": [*history, {"role": "user", "content": QUESTION}], "auto_store": False}
    assert alice.post(CHAT, body).decision == "failed:deadline"
    del body["auto_store"]
    assert alice.received()[-1].json() == body


def test_every_client_request_succeeds_while_memgate_restarts(start):
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
