"""Facts by a helper model: extracted in batches, compared with stored memories, without delaying a client."""

import json

import pytest

from harness.extraction import PROMPT, asked, extracting, facts, finds, shown, talk
from harness.process import free_port
from harness.shared import running, visit
from harness.wait import holds, until

pytestmark = pytest.mark.allows_log("Extraction failed, batch skipped", "Extraction parse failed")

BUDGET = "The user's budget for the Hawaii holiday is $10,000."
NEW_BUDGET = "The user's budget for the Hawaii holiday is $12,000."
SEAT = "The user always wants a window seat on flights."
EVERY = 3
# What the helper says at the end of a test.
NOTHING = {"contains": PROMPT, "reply": "[]"}


@pytest.fixture(scope="module")
def by_three(tmp_path_factory):
    with running(tmp_path_factory.mktemp("by_three"), extracting(every=EVERY)) as stack:
        yield stack


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("one_by_one"), extracting(every=1)) as stack:
        yield stack


@pytest.fixture
def batches(by_three):
    """A stack whose helper reads three turns at a time."""
    with visit(by_three, NOTHING) as stack:
        yield stack


@pytest.fixture
def turns(one_by_one):
    """A stack whose helper reads every turn."""
    with visit(one_by_one, NOTHING) as stack:
        yield stack


def test_every_nth_turn_the_batch_is_read_and_its_facts_are_stored(batches):
    stack = batches
    stored = stack.memgate.logged("info", "Memory: Stored 2 facts")
    stack.double.script({"contains": PROMPT, "reply": finds(BUDGET, SEAT)})
    alice = stack.person()
    talk(alice, "My budget for the Hawaii trip is $10,000", "I want to sit at the window")
    holds(lambda: not asked(stack), "before the batch is full nobody is asked")
    talk(alice, "We leave in May")
    until(lambda: len(facts(stack, alice)) == 2, "the facts are stored")
    assert set(facts(stack, alice)) == {BUDGET, SEAT}
    stack.memgate.wait_log("info", "Memory: Stored 2 facts", after=stored)
    body, = asked(stack)
    assert [turn["user"] for turn in shown(body)] == [
        "My budget for the Hawaii trip is $10,000", "I want to sit at the window", "We leave in May",
    ]
    assert (body["max_tokens"], body["stream"]) == (2000, False)
    bob = stack.person()
    assert facts(stack, bob) == {}
    answer = alice.later().say("What's my budget for the holiday?")
    assert answer.decision == "searched"
    assert BUDGET in alice.received()[-1].body.decode()


def test_a_batch_is_the_last_n_turns_and_five_before(batches):
    stack = batches
    stack.double.script({"contains": PROMPT, "reply": "[]"})
    alice = stack.person()
    talk(alice, *(f"My notebook {number} holds recipes" for number in range(4 * EVERY)))
    until(lambda: len(asked(stack)) == 4, "four batches were read")
    read = [[int(turn["user"].split()[2]) for turn in shown(body)] for body in asked(stack)]
    assert read == [[0, 1, 2], [0, 1, 2, 3, 4, 5], list(range(1, 9)), list(range(4, 12))]


def test_the_end_of_a_session_extracts_from_the_remaining_turns(batches):
    stack = batches
    stack.double.script({"contains": PROMPT, "reply": finds(SEAT, kind="procedural")})
    alice = stack.person()
    talk(alice, "I want to sit at the window")
    ended = stack.memgate.api("POST", f"/v1/sessions/{alice.session}/end", {"user_id": alice.id})
    assert ended.json() == {"turns": 1}
    until(lambda: SEAT in facts(stack, alice), "what was left is read")
    assert facts(stack, alice)[SEAT]["type"] == "procedural"


def test_every_member_of_a_fact_is_stored(turns):
    stack = turns
    fact = {
        "type": "semantic", "content": "Ada starts at Helio in Bergen on 2 March 2026.",
        "words": "my sister Ada starts at Helio in Bergen on March 2", "sub_type": "relationship",
        "confidence": "implied", "importance": 0.75, "scope": "user", "tense": "future",
        "event_time": "2026-03-02", "corrects": None,
        "entities": [{"name": "Ada", "type": "person"}, {"name": "Helio", "type": "organisation"}],
        "relations": [{"subject": "Ada", "predicate": "works_at", "object": "Helio"}],
    }
    stack.double.script({"contains": PROMPT, "reply": json.dumps({"facts": [fact]})})
    alice = stack.person()
    alice.say("By the way, my sister Ada starts at Helio in Bergen on March 2", {"x-memory-project": "garden"})
    stored = until(lambda: facts(stack, alice).get(fact["content"]), "the fact is stored")
    assert (stored["sub_type"], stored["importance"]) == ("relationship", 0.75)
    assert stored["confidence"] == pytest.approx(0.85)
    assert stored["source"] == "implicit_inference" and "project_id" not in stored, "it holds in every project"
    assert {(one["name"], one["type"]) for one in stored["mentions"]} == {
        ("Ada", "person"), ("Helio", "organisation"),
    }
    assert stored["entity_relations"] == fact["relations"]
    body, = asked(stack)
    assert body["response_format"]["type"] == "json_schema"


def test_the_same_fact_in_newer_words_is_an_update_and_another_fact_is_new(turns):
    stack = turns
    stack.double.script(
        {"contains": PROMPT, "times": 1, "reply": finds(BUDGET)},
        {"contains": PROMPT, "times": 1, "reply": finds(NEW_BUDGET, SEAT)},
        {"contains": PROMPT, "reply": finds(NEW_BUDGET)},
    )
    alice = stack.person()
    talk(alice, "My budget for the Hawaii trip is $10,000")
    until(lambda: BUDGET in facts(stack, alice), "the first fact is stored")
    first = facts(stack, alice)[BUDGET]
    talk(alice, "My budget for Hawaii is $12,000 after all, and I want a window seat")
    until(lambda: SEAT in facts(stack, alice), "the second batch is stored")
    found = facts(stack, alice)
    assert set(found) == {NEW_BUDGET, SEAT}
    assert (found[NEW_BUDGET]["id"], found[NEW_BUDGET]["version"]) == (first["id"], first["version"] + 1)
    assert found[SEAT]["id"] != first["id"]
    talk(alice, "Yes, $12,000")
    alice.learn()
    assert facts(stack, alice)[NEW_BUDGET]["version"] == first["version"] + 1, "the same words are no new version"


@pytest.mark.parametrize(
    "reply",
    ["I could not find anything.", '[{"type": "semantic", "content": "cut o', "", "<think>hm"],
    ids=["prose", "cut off", "empty", "thinking only"],
)
def test_a_malformed_answer_skips_the_batch(turns, reply):
    stack, warned = turns, turns.memgate.logged("warn", "Extraction parse failed")
    stack.double.script(
        {"contains": "I moved to Bergen", "reply": reply},
        {"contains": PROMPT, "reply": finds(SEAT)},
    )
    alice = stack.person()
    dead = stack.memgate.metric("memgate_job_runs_total", kind="extract", outcome="dead")
    talk(alice, "I moved to Bergen last week")
    stack.memgate.wait_log("warn", "Extraction parse failed", after=warned)
    until(
        lambda: stack.memgate.metric("memgate_job_runs_total", kind="extract", outcome="dead") == dead + 1,
        "the batch is given up", 20,
    )
    assert len(asked(stack)) <= 2, "who answers nonsense is not asked for ever"
    until(lambda: alice.knows("Bergen"), "the turn itself is remembered")
    assert facts(stack, alice) == {}
    bob = stack.person()
    talk(bob, "I want to sit at the window")
    until(lambda: SEAT in facts(stack, bob), "later batches are read")


def test_an_answer_that_is_no_chat_completion_is_malformed(turns):
    stack, warned = turns, turns.memgate.logged("warn", "Extraction parse failed")
    stack.double.script({"contains": PROMPT, "body": {"hello": "world"}})
    talk(stack.person(), "I moved to Bergen last week")
    stack.memgate.wait_log("warn", "Extraction parse failed", after=warned)


@pytest.mark.parametrize("reachable", [True, False], ids=["error status", "unreachable"])
def test_a_model_server_in_trouble_costs_facts_and_no_request(start, reachable):
    stack = start(extracting(None if reachable else free_port(), every=1))
    stack.double.script({"contains": PROMPT, "status": 503})
    alice = stack.person()
    answer = alice.say("I moved to Bergen last week")
    assert answer.status == 200 and answer.seconds < 5
    stack.memgate.wait_log("warn", "Extraction failed, batch skipped")
    until(lambda: alice.knows("Bergen"), "the turn itself is remembered")
    answer = alice.later().say("Where do I live, in Bergen?")
    assert (answer.status, answer.decision) == (200, "searched")
    assert stack.memgate.status("/readyz") == 200


def test_a_batch_is_read_again_after_a_temporary_failure(turns):
    stack = turns
    stack.double.script(
        {"contains": PROMPT, "times": 1, "status": 503},
        {"contains": PROMPT, "reply": finds(SEAT)},
    )
    alice = stack.person()
    talk(alice, "I want to sit at the window")
    until(lambda: SEAT in facts(stack, alice), "the batch is read again")


def test_a_fact_forgotten_during_extraction_is_not_stored(turns):
    stack, skipped = turns, turns.memgate.logged("warn", "Extraction failed, batch skipped")
    stack.double.script(
        {"contains": PROMPT, "times": 1, "status": 503},
        {"contains": PROMPT, "reply": finds(SEAT)},
    )
    alice, bob = stack.person(), stack.person()
    talk(alice, "I want to sit at the window")
    stack.memgate.wait_log("warn", "Extraction failed, batch skipped", after=skipped)
    stack.memgate.api("DELETE", f"/v1/memory?user_id={alice.id}")
    talk(bob, "I want to sit at the window")
    until(lambda: SEAT in facts(stack, bob), "the model works again", 20)
    alice.learn()
    assert alice.memories() == []


def test_the_helper_model_sees_no_secret_and_no_context(start):
    stack = start(extracting(every=2))
    stack.double.script({"contains": PROMPT, "reply": "[]"})
    alice = stack.person()
    key = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4" * 2
    talk(alice, f"My locker number is 4711-K and my key is {key}")
    until(lambda: alice.knows("4711-K"), "the first turn is remembered")
    talk(alice, "What is my locker number? I forgot it")
    body, = until(lambda: asked(stack), "the batch is read")
    assert [request for request in alice.received() if b"Relevant Context" in request.body], "there was a context"
    said = json.dumps(body)
    assert key not in said and "Relevant Context" not in said and alice.id not in said
