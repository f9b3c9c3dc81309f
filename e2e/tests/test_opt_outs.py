"""Opting out of learning, or of memory entirely, by body, header or policy."""

import pytest

from harness.context import context_of

FACT = "My cat is called Mirabelle"
QUESTION = "What is my cat called?"
SECRET = "My bicycle is painted turquoise"

POLICIES = {
    "memory": {
        "policies": [
            {"match": {"header": {"name": "x-zone", "value": "mute"}}, "auto_store": False},
            {"match": {"model": "secret-*"}, "enabled": False},
        ]
    }
}


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    """A stack with policies."""
    from harness.stack import Stack

    stack = Stack(tmp_path_factory.mktemp("ruled"), POLICIES)
    yield stack
    stack.stop()


def chat(person, text, headers=None, **fields):
    return person.say(text, headers, **fields)


def responses(person, text, headers=None, **fields):
    return person.respond(text, headers, **fields)


NO_LEARNING = [
    ("auto_store", chat, {}, {"auto_store": False}),
    ("memory_config.auto_store", chat, {}, {"memory_config": {"auto_store": False}}),
    ("auto_store wins", chat, {}, {"auto_store": False, "memory_config": {"auto_store": True}}),
    ("x-memory-auto-store", chat, {"x-memory-auto-store": "false"}, {}),
    ("store in responses", responses, {}, {"store": False}),
    ("auto_store in a stream", responses, {}, {"auto_store": False, "stream": True}),
    ("policy", chat, {"x-zone": "mute"}, {}),
]
OFF = [
    ("memory_config.enabled", chat, {}, {"memory_config": {"enabled": False}}),
    ("x-memory", chat, {"x-memory": "off"}, {}),
    ("x-memory in responses", responses, {"x-memory": "off"}, {"stream": True}),
    ("x-disable-router-memory", chat, {"x-disable-router-memory": "true"}, {}),
    ("policy", chat, {}, {"model": "secret-1"}),
    ("off wins over auto_store", chat, {"x-memory": "off"}, {"auto_store": True}),
]


def ids(cases):
    return [case[0] for case in cases]


@pytest.mark.parametrize("name, talk, headers, fields", NO_LEARNING, ids=ids(NO_LEARNING))
def test_opting_out_of_learning_still_recalls(ruled, name, talk, headers, fields):
    person = ruled.person()
    person.say(FACT)
    person.learn()
    turns = person.turns()
    answer = talk(person.later(), QUESTION, headers, **fields)
    assert answer.decision == "searched"
    assert "Mirabelle" in context_of(person.received()[-1].json())
    assert talk(person.later(), SECRET, headers, **fields).status == 200
    person.say("I live in Tromsø")
    person.learn()
    assert person.knows("Tromsø") and not person.knows("turquoise")
    assert person.turns() == turns + 1, "nothing of it is journaled either"


@pytest.mark.parametrize("name, talk, headers, fields", OFF, ids=ids(OFF))
def test_memory_off_neither_recalls_nor_learns(ruled, name, talk, headers, fields):
    person = ruled.person()
    person.say(FACT)
    person.learn()
    turns = person.turns()
    answer = talk(person.later(), QUESTION, headers, **fields)
    assert (answer.status, answer.decision) == (200, "off")
    assert context_of(person.received()[-1].json()) is None
    assert talk(person.later(), SECRET, headers, **fields).status == 200
    person.say("I live in Tromsø")
    person.learn()
    assert person.knows("Tromsø") and not person.knows("turquoise")
    assert person.turns() == turns + 1


@pytest.mark.parametrize(
    "fields",
    [{"store": False}, {"auto_store": True, "memory_config": {"auto_store": False}}],
    ids=["store means nothing in chat", "top-level auto_store wins"],
)
def test_values_that_are_no_opt_out_are_learned_from(stack, fields):
    person = stack.person()
    person.say(SECRET, **fields)
    person.learn()
    assert person.knows("turquoise")
    assert person.received()[0].json().get("store") == fields.get("store")


def test_a_request_cannot_enable_disabled_memory(start):
    stack = start({"memory": {"enabled": False}})
    person = stack.person()
    answer = person.say(FACT, {"x-memory": "on"}, memory_config={"enabled": True, "auto_store": True})
    assert (answer.status, answer.decision) == (200, "off")
    assert set(person.received()[0].json()) == {"model", "messages"}
    assert stack.memgate.turns() == 0


def test_a_request_cannot_enable_disabled_learning(start):
    stack = start({"memory": {"auto_store": False}})
    person = stack.person()
    assert person.say(FACT, auto_store=True).decision == "searched"
    person.learn()
    assert person.memories() == [] and stack.memgate.turns() == 0
