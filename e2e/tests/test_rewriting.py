"""A model that rewrites vague questions: Envoy waits for it, and no request fails because of it."""

import json

import pytest

from harness.envoy import http_filter
from harness.process import free_port
from harness.shared import running, visit
from harness.stack import CHAT

# Only memgate's own prompt contains this.
PROMPT = "You make search queries"
# Shorter than the model's answer takes, and longer than a search on a busy machine.
MESSAGE_TIMEOUT = "3.5s"
SLOW_MS = 4_000  # and shorter than the rewrite deadline


def config(port=None):
    def of(double):
        model = {
            "llm_provider": "vllm",
            "model_role": "memory_rewrite",
            "llm_endpoint": {"address": "127.0.0.1", "port": port or double.port},
            "llm_model_name": "rewriter",
        }
        memory = {"deadline_ms": 3_000, "query": {"rewrite_deadline_ms": 5_000, "key_terms": False}}
        return {"memory": memory, "external_models": [model]}

    return of


def hurry(envoy):
    http_filter(envoy, "recall").update(message_timeout=MESSAGE_TIMEOUT)


def knowing(stack):
    alice = stack.person()
    alice.say("My locker number is 4711-K")
    alice.learn()
    return alice.later()


def ask(person, question: str):
    messages = [{"role": "user", "content": "Good morning to you"}, {"role": "assistant", "content": "Hi!"},
                {"role": "user", "content": question}]
    return person.post(CHAT, json.dumps({"model": "echo", "messages": messages}).encode())


def asked(stack) -> list[dict]:
    bodies = [request.json() for request in stack.double.requests() if request.path == "/v1/chat/completions"]
    return [body for body in bodies if body["model"] == "rewriter"]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("rewriting"), config(), edit=hurry) as stack:
        yield stack


@pytest.fixture
def rewritten(one):
    """The stack of this file. Its model never fails three times in a row, so memgate always asks it."""
    with visit(one) as stack:
        yield stack


def test_envoy_waits_longer_for_a_question_that_a_model_rewrites(rewritten):
    stack = rewritten
    late = stack.envoy.stat("http.llm.ext_proc.message_timeouts")
    stack.double.script({"contains": PROMPT, "reply": "What is my locker number?", "delay_ms": SLOW_MS})
    alice = knowing(stack)
    answer = ask(alice, "And which one?")
    assert (answer.status, answer.decision) == (200, "searched")
    assert b"4711-K" in alice.received()[-1].body
    assert answer.seconds > SLOW_MS / 1000
    assert stack.envoy.stat("http.llm.ext_proc.message_timeouts") == late
    body, = asked(stack)
    assert json.loads(body["messages"][1]["content"]) == {
        "earlier": ["Good morning to you"], "message": "And which one?",
    }
    assert ask(alice, "What is the number of my locker?").seconds < SLOW_MS / 1000
    assert len(asked(stack)) == 1


@pytest.mark.parametrize("rule", [
    {"status": 500}, {"reply": ""}, {"reply": "<think>hm"}, {"raw": "nonsense"}, {"hang": True},
])
def test_the_plain_question_is_searched_whatever_the_model_answers(rewritten, rule):
    stack = rewritten
    stack.double.script({"contains": PROMPT, **rule})
    alice = knowing(stack)
    answer = ask(alice, "and the number of my locker?")
    assert (answer.status, answer.decision) == (200, "searched")
    assert b"4711-K" in alice.received()[-1].body


def test_a_model_that_is_down_costs_nothing(start):
    stack = start(config(free_port()), edit=hurry)
    alice = knowing(stack)
    for _ in range(5):
        answer = ask(alice, "and the number of my locker?")
        assert (answer.status, answer.decision) == (200, "searched")
        assert b"4711-K" in alice.received()[-1].body
