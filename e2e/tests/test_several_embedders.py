"""An ensemble of two embedding models, one in the process and one on a server: what either finds is found, and the
first serves the questions while the server is down or slow."""

import pytest
from playwright.sync_api import expect

from harness.context import context_of
from harness.double import Double
from harness.process import free_port
from harness.shared import running
from harness.wait import until

pytestmark = pytest.mark.allows_log("no models were trained with this embedding model", "Embedder unavailable")

FACT = "My budget for the Hawaii trip is $10,000"
# They share no word.
KOREAN = "내 여동생은 부산에 산다"
CITY = "부산"
UNKNOWN = "Which town does my sister live in?"
KNOWN = "Which city is the home of my sister?"
# Only turns become memories here, so nothing else asks for vectors.
TURNS = {"modes": ["turns"], "summaries": False}
SECOND = "openai/hashed"


def beside(port=None, deadline_ms=8000, timeout_seconds=2):
    """A configuration with the default model and a second one on the double, or on something else at `port`."""

    def config(double):
        endpoint = {"address": "127.0.0.1", "port": port or double.port}
        second = {"model": SECOND, "dimension": 256, "endpoint": endpoint, "timeout_seconds": timeout_seconds}
        return {"memory": {"embedding": {"additional": [second]}, "deadline_ms": deadline_ms, "extraction": TURNS}}

    return config


def means(text: str, meaning: str) -> dict:
    """A script for the second model: a text with these words gets the vector of this meaning."""
    return {"contains": text, "member": "input", "vectors": {"of": meaning}}


def context(person, question: str) -> str:
    answer = person.later().say(question, {"x-memory-auto-store": "false"})
    assert (answer.status, answer.decision) == (200, "searched")
    return context_of(person.received()[-1].json()) or ""


def cosine(stack, person, text: str) -> float | None:
    hits = stack.memgate.search(person.id, text, threshold=0, explain=True)
    return hits[0].get("parts", {}).get("cosine") if hits else None


def embedder(stack) -> str:
    return stack.memgate.api("GET", "/readyz").json()["embedder"]


def missing(stack) -> float:
    return stack.memgate.metric("memgate_embedding_models_missing_total", model=SECOND)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A stack whose second model is always there."""
    with running(tmp_path_factory.mktemp("both"), beside()) as stack:
        yield stack


def test_a_memory_that_only_the_second_model_finds_is_recalled(both):
    stack = both
    stack.double.script(means(CITY, "sibling place"), means(KNOWN, "sibling place"))
    alice, bob = stack.person(), stack.person()
    alice.say(KOREAN)
    alice.learn()
    assert CITY not in context(alice, UNKNOWN), "neither words nor the first model find it"
    assert CITY in context(alice, KNOWN)
    assert CITY not in context(bob, KNOWN)
    assert missing(stack) == 0


def test_a_memory_that_only_the_first_model_finds_is_recalled(both):
    stack = both
    stack.double.script()
    alice = stack.person()
    alice.say("I drive an old Volvo estate")
    alice.learn()
    assert "Volvo" in context(alice, "What car do I have?")


def test_a_second_model_that_is_down_is_named_left_out_and_used_again(start):
    port = free_port()
    server = Double(port)
    try:
        stack = start(beside(port))
        alice, bob = stack.person(), stack.person()
        alice.say(FACT)
        alice.learn()
        assert cosine(stack, alice, FACT) > 0.8
        server.stop()
        # Another question, because FACT's vector is cached. To the first model it is nearly the stored text.
        assert cosine(stack, alice, f"{FACT}.") > 0.6
        assert missing(stack) == 1
        assert stack.memgate.metric("memgate_failures_total", kind="embedding") == 0
        assert "$10,000" in context(alice, "What is my budget for the Hawaii trip?")
        bob.say("My boat is called Halcyon")
        bob.learn()
        assert cosine(stack, bob, "My boat is called Halcyon") is None, "nothing is stored with half of its vector"
        assert "Halcyon" in context(bob, "What is my boat called?")
        until(lambda: SECOND in embedder(stack), "memgate names the model that is down", 20)
        server = Double(port)
        until(lambda: cosine(stack, bob, "My boat is called Halcyon") is not None, "the turn gets its vector", 60)
        until(lambda: stack.memgate.status("/readyz") == 200, "memgate is ready", 20)
    finally:
        server.stop()


def test_a_second_model_that_is_down_at_the_start_does_not_keep_memgate_from_starting(start):
    stack = start(beside(free_port()), memgate=False)
    stack.memgate.start(ready=False)
    until(lambda: stack.memgate.status("/healthz") == 200, "memgate lives", 30)
    stack.memgate.wait_log("warn", "Embedder unavailable")
    until(lambda: SECOND in embedder(stack), "memgate names the model that is down")
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    assert "$10,000" in context(alice, "What is my budget for the Hawaii trip?")


def test_a_hanging_second_model_is_not_waited_for_beyond_the_deadline(start):
    stack = start(beside(deadline_ms=3000, timeout_seconds=20))
    alice = stack.person()
    alice.say("I drive an old Volvo estate")
    alice.learn()
    stack.double.script({"contains": "", "member": "input", "hang": True})
    answer = alice.later().say("What car do I have?", {"x-memory-auto-store": "false"})
    assert (answer.status, answer.decision) == (200, "searched")
    assert answer.seconds < 10
    assert "Volvo" in context_of(alice.received()[-1].json()), "by the first model's vector: it shares no word"
    assert missing(stack) == 1


def test_memories_are_embedded_again_when_a_second_model_is_added(start):
    stack = start({"memory": {"extraction": TURNS}})
    stack.double.script(means(CITY, "sibling place"), means(KNOWN, "sibling place"))
    alice = stack.person()
    alice.say(KOREAN)
    alice.learn()
    assert CITY not in context(alice, KNOWN)
    stack.memgate.stop()
    stack.memgate.configure(beside()(stack.double))
    stack.memgate.start()
    until(lambda: CITY in context(alice, KNOWN), "the memory has its vector of both models", 60)


def test_a_second_model_of_another_size_is_refused_at_start_in_a_sentence(start):
    stack = start(beside(), memgate=False)
    stack.double.script({"contains": "", "member": "input", "vectors": {"dimension": 7}})
    stack.memgate.start(ready=False)
    assert stack.memgate.process.wait_end(30) == 1
    said = stack.memgate.process.output()
    assert f"memory.embedding: model {SECOND} returns vectors of dimension 7" in said


def test_the_playground_shows_what_each_model_finds_alone(both, browser):
    stack = both
    stack.double.script(means(CITY, "sibling place"), means(KNOWN, "sibling place"))
    alice = stack.person()
    alice.say(KOREAN)
    alice.learn()
    with browser.signed_in(stack.memgate, alice.id) as page:
        page.goto("/#/playground")
        page.get_by_label("Message of").fill(KNOWN)
        page.get_by_label("Message of").press("Control+Enter")
        prompt = page.get_by_role("region", name="The prompt as the model sees it")
        expect(prompt).to_contain_text(CITY)
        model = page.get_by_label("Embedding model")
        model.select_option("multilingual-e5-small-memgate-1")
        expect(page.get_by_role("region", name="Result").get_by_role("listitem").filter(has_text="−")).to_contain_text(CITY)
        expect(prompt).not_to_contain_text(CITY)
        model.select_option(SECOND)
        expect(prompt).to_contain_text(CITY)
    assert missing(stack) == 0, "a model that is not asked does not count as missing"
