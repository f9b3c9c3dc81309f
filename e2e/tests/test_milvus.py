"""Memories in a real Milvus server: recall across sessions; requests and learning while the server is absent, killed,
frozen, starting, or has lost its collections."""

from collections import Counter

import pytest
from test_durability import check_memories_of_every_turn_once, talking

from harness.context import context_of
from harness.milvus import Milvus
from harness.stack import CHAT
from harness.wait import until

FACT = "My budget for the Hawaii trip is $10,000"
BODY = b'{"model":"echo", "messages":[{"role":"user","content":"What\'s my budget for the trip?"}]}'

# A killed server answers after ten seconds and finds its data after fifteen, and memgate checks it again within another
# five; on a busy machine all of this takes longer.
BACK_AGAIN = 120

pytestmark = [pytest.mark.timeout(900), pytest.mark.allows_log(
    "Milvus unavailable, memory disabled",
    "Store unavailable, memory disabled",
    "Memory search failed, skipping",
    "Memory search timeout, skipping",
)]


@pytest.fixture
def milvus(tmp_path):
    """A Milvus server that is not started yet."""
    one = Milvus(tmp_path / "milvus")
    yield one
    one.stop()


@pytest.fixture
def on(start):
    """Starts a stack that stores memories in this server."""
    def start_on(milvus: Milvus, ready: bool = True, **memory):
        stack = start({"memory": {"store": "milvus", "milvus": {"address": milvus.address}, **memory}}, memgate=False)
        stack.memgate.start(ready=ready)
        return stack

    return start_on


def asked(person):
    """Asks the question; returns the decision and whether the answer to it reached the model server."""
    answer = person.post(CHAT, BODY)
    assert answer.status == 200 and answer.complete
    received = person.received()[-1]
    context = context_of(received.json())
    if context is None:
        assert received.body == BODY
    return answer, "$10,000" in (context or "")


def recalls(person, seconds=BACK_AGAIN):
    """Waits until the question is answered from memory; returns the decisions until then."""
    decisions = []

    def recalled():
        answer, found = asked(person)
        decisions.append(answer.decision)
        return found

    until(recalled, f"the fact is recalled; it was {Counter(decisions)}", seconds, every=0.2)
    return decisions


def test_what_was_said_in_one_session_is_recalled_in_another_and_after_a_restart_of_memgate(milvus, on):
    stack = on(milvus.start())
    alice, bob = stack.person(), stack.person()
    alice.say(FACT)
    alice.learn()
    for _ in range(2):
        assert asked(alice.later())[1]
        assert not asked(bob)[1]
        stack.memgate.restart()


def test_memgate_serves_without_milvus_and_uses_it_when_it_comes(milvus, on):
    stack = on(milvus, ready=False)
    until(lambda: stack.memgate.status("/healthz") == 200, "memgate lives", 60)
    stack.memgate.wait_log("error", "Milvus unavailable, memory disabled", 20)
    assert stack.memgate.status("/readyz") == 503
    alice = stack.person()
    answer, _ = asked(alice)
    assert answer.decision == "failed:store"
    assert alice.say(FACT).status == 200
    milvus.start()
    stack.memgate.wait_ready()
    stack.memgate.wait_log("info", "Milvus available, memory enabled")
    alice.learn()
    assert asked(alice.later())[1], "what was said before Milvus came is learned"


def test_turns_learnt_while_milvus_is_killed_are_memories_exactly_once(milvus, on):
    stack = on(milvus.start())
    with talking(stack) as (talkers, wait_for):
        wait_for(5)
        until(lambda: talkers[0].person.memories(), "something is learned", 60)
        milvus.kill()
        wait_for(10)
        milvus.start()
        stack.memgate.wait_ready(BACK_AGAIN)
        wait_for(5)
    assert all(talker.said >= 20 for talker in talkers)
    check_memories_of_every_turn_once(stack, talkers)


def test_a_frozen_milvus_costs_a_request_no_more_than_its_deadline(milvus, on):
    stack = on(milvus.start(), deadline_ms=500)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    recalls(alice.later())
    milvus.freeze()
    alice = alice.later()
    # Once: a server that is frozen for ten seconds no longer recovers.
    answer, _ = asked(alice)
    assert answer.decision in ("failed:store", "failed:deadline", "failed:embedding")
    assert answer.seconds < 5
    assert alice.say("My boat is called Halcyon").status == 200
    milvus.thaw()
    recalls(alice)
    alice.learn()
    assert alice.knows("Halcyon")


def test_requests_pass_while_milvus_starts_again_and_cannot_search_yet(milvus, on):
    stack = on(milvus.start())
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    alice = alice.later()
    milvus.kill()
    assert asked(alice)[0].decision == "failed:store"
    milvus.start()
    decisions = recalls(alice)
    assert set(decisions) <= {"failed:store", "searched"}
    assert stack.memgate.status("/readyz") == 200


def test_dropped_collections_are_made_again(milvus, on):
    stack = on(milvus.start())
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    recalls(alice.later())
    before = sorted(milvus.collections())
    for collection in before:
        milvus.drop(collection)
    until(lambda: asked(alice.later())[0].decision == "searched" and sorted(milvus.collections()) == before,
          "they are there again", 60)
    alice.say("Once more: my budget for the Hawaii trip is $10,000 and my boat is called Halcyon")
    alice.learn()
    recalls(alice.later())
    assert alice.knows("Halcyon")
