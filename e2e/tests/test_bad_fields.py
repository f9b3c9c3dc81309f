"""A wrong value in one of our fields is answered at once with a 400 that the official client understands."""

import openai
import pytest

from harness.wait import until

BAD = [
    ("memory_config", 5, "memory_config"),
    ("memory_config", [], "memory_config"),
    ("memory_config", {"enabled": "yes"}, "memory_config.enabled"),
    ("memory_config", {"memory_types": "semantic"}, "memory_config.memory_types"),
    ("memory_config", {"memory_types": [1]}, "memory_config.memory_types"),
    ("memory_config", {"memory_types": ["sematnic"]}, "memory_config.memory_types"),
    ("memory_config", {"retrieval_limit": 0}, "memory_config.retrieval_limit"),
    ("memory_config", {"retrieval_limit": 51}, "memory_config.retrieval_limit"),
    ("memory_config", {"retrieval_limit": 2.5}, "memory_config.retrieval_limit"),
    ("memory_config", {"retrieval_limit": "5"}, "memory_config.retrieval_limit"),
    ("memory_config", {"retrieval_limit": True}, "memory_config.retrieval_limit"),
    ("memory_config", {"similarity_threshold": -0.1}, "memory_config.similarity_threshold"),
    ("memory_config", {"similarity_threshold": 1.1}, "memory_config.similarity_threshold"),
    ("memory_config", {"similarity_threshold": "0.5"}, "memory_config.similarity_threshold"),
    ("memory_config", {"auto_store": 1}, "memory_config.auto_store"),
    ("memory_config", {"limit": 5}, "memory_config.limit"),
    ("memory_context", "alice", "memory_context"),
    ("memory_context", {"user_id": 5}, "memory_context.user_id"),
    ("memory_context", {"project_id": []}, "memory_context.project_id"),
    ("memory_context", {"tenant_id": "x"}, "memory_context.tenant_id"),
    ("auto_store", "false", "auto_store"),
    ("auto_store", 0, "auto_store"),
]


def names(values):
    return [f"{param}={value!r}"[:60] for _, value, param in values]


@pytest.mark.parametrize("field, value, param", BAD, ids=names(BAD))
def test_a_wrong_field_is_a_400_that_names_the_field(stack, field, value, param):
    person = stack.person()
    for call in (
        lambda: person.openai().chat.completions.create(
            model="echo", messages=[{"role": "user", "content": "hi"}], extra_body={field: value}
        ),
        lambda: person.openai().responses.create(model="echo", input="hi", stream=True, extra_body={field: value}),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            call()
        error = refused.value
        assert (error.param, error.type, error.code) == (param, "invalid_request_error", "invalid_value")
        assert error.body["message"]
    assert person.received() == [], "the upstream is not asked"


@pytest.mark.parametrize("bad", ["", "x" * 257, "a\nb", "a\u0000b"], ids=["empty", "long", "line break", "nul"])
def test_a_bad_user_id_in_the_body_is_a_bad_request(stack, bad):
    person = stack.person()
    answer = person.say("hi", {"x-authz-user-id": None}, memory_context={"user_id": bad})
    assert answer.status == 400
    assert answer.json()["error"]["param"] == "memory_context.user_id"


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_config": None, "memory_context": None, "auto_store": None},
        {"memory_config": {}, "memory_context": {}},
        {"memory_config": {"enabled": None, "memory_types": None, "retrieval_limit": None}},
        {"memory_config": {"retrieval_limit": 1, "similarity_threshold": 0}},
        {"memory_config": {"retrieval_limit": 50, "similarity_threshold": 1}},
        {"memory_config": {"memory_types": ["semantic", "procedural", "episodic", "reflective"]}},
    ],
)
def test_valid_null_and_absent_fields_are_accepted(stack, fields):
    person = stack.person()
    answer = person.say("What is my favourite colour?", **fields)
    assert (answer.status, answer.decision) == (200, "searched")
    assert set(person.received()[0].json()) == {"model", "messages"}


def test_a_refused_request_has_the_decision_headers(stack):
    person = stack.person()
    refused = person.say("hi", memory_config={"retrieval_limit": 0})
    assert refused.status == 400
    headers = [refused.headers.get(f"x-memgate-{name}") for name in ("decision", "hits", "request-id")]
    assert headers[:2] == ["skipped:unreadable", "0"]
    assert headers[2]

    def logged():
        return [line for line in stack.envoy.access_log() if line["request_id"] == headers[2]]

    line = until(logged, "the access log has the request")[0]
    assert (line["status"], line["memgate_decision"], line["memgate_hits"]) == (400, "skipped:unreadable", "0")


def test_a_refused_request_is_not_learned_from(stack):
    person = stack.person()
    assert person.say("My favourite colour is teal", auto_store="no").status == 400
    person.say("I was born in Bergen")
    person.learn()
    assert person.knows("Bergen") and not person.knows("teal")


@pytest.mark.parametrize("name, value", [
    ("x-memory", "1"), ("x-memory-limit", "51"), ("x-memory-standing", "no"), ("x-memory-threshold", "high"), ("x-memory-types", "sematnic"),
    ("x-memory-auto-store", "no"), ("x-memory-project", "x" * 257), ("x-session-end", "maybe"),
])
def test_a_request_with_a_wrong_header_passes_without_memory(stack, name, value):
    person = stack.person()
    person.say("My boat is called Halcyon")
    person.learn()
    turns = person.turns()
    answer = person.later().say("What is my boat called?", {name: value})
    assert (answer.status, answer.decision) == (200, "failed:header")
    assert "Halcyon" not in person.received()[-1].body.decode()
    person.learn()
    assert person.turns() == turns, "nor is anything learnt"
