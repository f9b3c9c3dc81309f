"""Which requests are searched, and the decision in the response header."""

import json

import pytest

from harness.context import context_of
from harness.stack import CHAT

PLAIN = "What is my favourite colour?"


@pytest.mark.parametrize(
    "text, headers, decision",
    [
        (PLAIN, {}, "searched"),
        ("Hi there!", {}, "skipped:greeting"),
        ("good morning", {}, "skipped:greeting"),
        ("### Task:\nGenerate a concise, 3-5 word title for the chat history.", {}, "skipped:housekeeping"),
        ("What is the capital of France?", {"x-memgate-signal-fact": "true"}, "skipped:fact"),
        (PLAIN, {"x-memgate-signal-fact": "true"}, "searched"),
        (PLAIN, {"x-memgate-signal-tool": "true"}, "skipped:tool"),
        ("Book a table", {"x-memgate-signal-greeting": "true"}, "skipped:greeting"),
        ("Book a table", {}, "searched"),
    ],
)
@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_the_message_and_earlier_filters_determine_the_decision(stack, dialect, text, headers, decision):
    person = stack.person()
    talk = person.say if dialect == "chat" else person.respond
    answer = talk(text, headers)
    assert (answer.status, answer.decision) == (200, decision)


def test_a_skipped_greeting_or_general_question_gets_the_preferences(stack):
    person = stack.person()
    person.say("From now on always answer in metric units, please")
    person.say("My dog Rex was born in Norway")
    person.learn()
    question = "How high is the highest mountain of Norway?"
    fact = {"x-memgate-signal-fact": "true"}
    for text, headers, decision in (
        (question, fact, "skipped:fact"),
        ("Hi there!", {}, "skipped:greeting"),
    ):
        answer = person.later().say(text, headers)
        context = context_of(json.loads(person.received()[-1].body))
        assert (answer.decision, answer.headers["x-memgate-hits"]) == (decision, "0"), text
        assert "metric" in context and "Rex" not in context, text
    answer = person.later().say(question, {"x-memgate-signal-tool": "true"})
    assert (answer.decision, answer.headers["x-memgate-hits"]) == ("skipped:tool", "0")
    assert context_of(json.loads(person.received()[-1].body)) is None


def test_a_request_without_a_user_message_is_not_searched(stack):
    person = stack.person()
    body = {"model": "echo", "messages": [{"role": "system", "content": "Say something."}]}
    assert person.post(CHAT, body).decision == "skipped:no_user_message"


def test_decisions_are_counted_and_logged_without_the_user_or_what_was_said(stack):
    person = stack.person()
    before = stack.memgate.metric("memgate_decisions_total", decision="skipped:greeting")
    person.say("Hello, hello!")
    assert stack.memgate.metric("memgate_decisions_total", decision="skipped:greeting") == before + 1
    stack.memgate.wait_log("debug", "Memory: Skipping - greeting")
    person.say("My favourite bird is the capercaillie")
    person.learn()
    person.later().say("Which bird is my favourite?")
    stack.memgate.wait_log("info", "Memory: Retrieved 1 memories")
    said = stack.memgate.process.output()
    assert person.id not in said and "capercaillie" not in said


def test_a_decision_header_of_the_upstream_is_replaced(stack):
    answer = stack.person().say("Hello!", {"x-double": "spoof"})
    assert (answer.decision, answer.headers["x-memgate-hits"]) == ("skipped:greeting", "0")


def test_retrieval_limit_and_threshold_are_obeyed(stack):
    person = stack.person()
    for name, town in (("Ada", "Oslo"), ("Bea", "Lima"), ("Cleo", "Kyoto")):
        person.later().say(f"My sister {name} lives in {town}")
    person.learn()
    ask = person.later().say
    question = "Where does my sister live?"
    assert int(ask(question).headers["x-memgate-hits"]) >= 2
    assert ask(question, memory_config={"retrieval_limit": 1}).headers["x-memgate-hits"] == "1"
    assert ask(question, {"x-memory-limit": "1"}).headers["x-memgate-hits"] == "1"
    assert ask(question, memory_config={"similarity_threshold": 1}).headers["x-memgate-hits"] == "0"
    assert ask(question, {"x-memory-threshold": "1"}).headers["x-memgate-hits"] == "0"
    assert ask(question, memory_config={"memory_types": ["procedural"]}).headers["x-memgate-hits"] == "0"
    assert ask(question, {"x-memory-types": "procedural"}).headers["x-memgate-hits"] == "0"


def test_a_project_sees_its_own_memories_and_those_of_no_project(stack):
    person = stack.person()
    person.later().say("My deploy key is called falcon", memory_context={"project_id": "red"})
    person.later().say("My staging key is called condor")
    person.learn()

    def hits(**fields):
        person.later().say("What are my keys called?", memory_config={"similarity_threshold": 0.2}, **fields)
        return person.received()[-1].body.decode()

    red, blue = hits(memory_context={"project_id": "red"}), hits(memory_context={"project_id": "blue"})
    assert "falcon" in red and "condor" in red
    assert "falcon" not in blue and "condor" in blue
