"""Which exchanges are learned from: only a reply that ended well makes a turn."""

import socket

import pytest

from harness.http import events
from harness.stack import CHAT
from harness.wait import until

FACT = "My boat is called Halcyon"


def learned(person) -> bool:
    """Whether the fact was learned; a second, ordinary turn shows that learning works."""
    person.later().say("My village is Flåm")
    person.learn()
    assert person.knows("Flåm")
    return person.knows("Halcyon")


@pytest.mark.parametrize("dialect", ["chat", "responses"])
@pytest.mark.parametrize(
    "double",
    [
        "split",
        "crlf",
        "comments",
        "multiline",
        "split,crlf,comments",
        "chunks=60,gap_ms=2",
        "first_token_ms=100",
        "reply_bytes=700000,chunks=900",
        "no_done",
    ],
)
def test_a_stream_is_learnt_from_however_it_is_cut(stack, dialect, double):
    person = stack.person()
    talk = person.say if dialect == "chat" else person.respond
    answer = talk(FACT, {"x-double": double}, stream=True)
    assert answer.complete
    assert learned(person)
    plain = talk("Hello!", {"x-double": double.replace("split", "").replace("reply_bytes=700000", "")}, stream=True)
    assert len(events(plain.body)) > 3


WAYS = [(dialect, stream) for dialect in ("chat", "responses") for stream in (False, True)]
# Bad ends, and in which dialects and ways (streamed or not) each is always tested; the others are tested rarely.
BAD_ENDS = {
    "status=400": [("chat", False)],
    "status=429": [("responses", True)],
    "status=500": [("chat", True)],
    "status=503": [("responses", False)],
    "cut_after=3": [("chat", True), ("responses", True)],
    "failed": [("responses", False), ("responses", True)],
}


@pytest.mark.parametrize("double, dialect, stream", [
    pytest.param(double, *way, marks=() if way in usual else pytest.mark.long)
    for double, usual in BAD_ENDS.items() for way in WAYS
])
def test_a_reply_that_did_not_end_well_is_not_learnt_from(stack, double, dialect, stream):
    person = stack.person()
    talk = person.say if dialect == "chat" else person.respond
    talk(FACT, {"x-double": double}, stream=stream)
    assert not learned(person)


@pytest.mark.parametrize("dialect, stream", [("chat", True), ("responses", False)])
def test_of_a_refused_reply_the_users_words_are_learnt(stack, dialect, stream):
    person = stack.person()
    talk = person.say if dialect == "chat" else person.respond
    talk(FACT, {"x-double": "refusal"}, stream=stream)
    assert learned(person)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("reason", ["null", "", "eos", "STOP"])
def test_a_reply_is_learnt_from_whatever_its_server_calls_a_good_end(stack, reason, stream):
    person = stack.person()
    answer = person.say(FACT, {"x-double": f"reason={reason}"}, stream=stream)
    assert answer.complete
    assert learned(person)


@pytest.mark.parametrize("reason", ["content_filter", "abort"])
def test_a_reply_is_not_learnt_from_if_its_server_says_that_it_failed(stack, reason):
    person = stack.person()
    person.say(FACT, {"x-double": f"reason={reason}"}, stream=True)
    assert not learned(person)


def test_a_stream_without_reason_and_end_mark_is_not_learnt_from(stack):
    person = stack.person()
    person.say(FACT, {"x-double": "reason=null,no_done"}, stream=True)
    assert not learned(person)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("opening", ["<think>\n", ""], ids=["opened", "opened in the prompt"])
def test_what_a_model_thinks_in_front_of_its_reply_is_not_stored(stack, opening, stream):
    person = stack.person()
    thoughts = f"{opening}Perhaps they live in Gdansk. I will assume a guild there.\n</think>\n\n"
    stack.double.script({"contains": FACT, "reply": f"{thoughts}A fine name for a boat."})
    answer = person.say(f"{FACT}, and what do you think of it?", {"x-double": "chunks=40"}, stream=stream)
    assert answer.complete
    person.learn()
    texts = stack.memgate.texts(person.id)
    assert "A fine name for a boat." in texts
    assert "Gdansk" not in texts and "</think>" not in texts


def test_a_reply_that_hit_the_token_limit_is_learnt_from_in_chat(stack):
    person = stack.person()
    person.say(FACT, {"x-double": "length"})
    assert learned(person)


def test_an_incomplete_response_is_not_learnt_from(stack):
    person = stack.person()
    person.respond(FACT, {"x-double": "incomplete"}, stream=True)
    assert not learned(person)


def test_garbage_in_a_reply_breaks_nothing(stack):
    person = stack.person()
    for stream in (False, True):
        answer = person.say("My horse is Frøya", {"x-double": "garbage"}, stream=stream)
        assert answer.status == 200 and answer.complete
    assert learned(person) is False
    assert stack.memgate.process.running()


def test_a_disconnected_client_is_not_learned_from(stack):
    person = stack.person()
    body = b'{"model":"echo","stream":true,"messages":[{"role":"user","content":"%s"}]}' % FACT.encode()
    with socket.create_connection(("127.0.0.1", stack.envoy.port), timeout=10) as client:
        head = "".join(f"{name}: {value}\r\n" for name, value in person.headers.items())
        client.sendall(
            f"POST {CHAT} HTTP/1.1\r\nhost: x\r\nx-double: chunks=50,gap_ms=50\r\n{head}"
            f"content-length: {len(body)}\r\n\r\n".encode() + body
        )
        seen = b""
        while b"data:" not in seen:
            seen += client.recv(4096)
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") == 0, "the exchange is over")
    assert not learned(person)


def test_a_client_that_disconnects_while_sending_breaks_nothing(stack):
    person = stack.person()
    with socket.create_connection(("127.0.0.1", stack.envoy.port), timeout=10) as client:
        head = "".join(f"{name}: {value}\r\n" for name, value in person.headers.items())
        client.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\n{head}content-length: 5000\r\n\r\n{{".encode())
    assert not learned(person)


def test_a_reply_that_the_upstream_compressed_reaches_the_client_and_memgate_lives(stack):
    person = stack.person()
    answer = person.say(FACT, {"x-double": "gzip"})
    assert answer.status == 200 and answer.headers["content-encoding"] == "gzip"
    learned(person)
    assert stack.memgate.process.running()


def test_a_background_response_is_not_learnt_from(stack):
    person = stack.person()
    assert person.respond(FACT, background=True).json()["status"] == "queued"
    assert not learned(person)


def test_secrets_do_not_reach_the_memory(stack):
    person = stack.person()
    key = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4" * 2
    person.say(f"My API key is {key} and my boat is called Halcyon")
    person.say("My card number is 4111 1111 1111 1111")
    person.learn()
    known = stack.memgate.texts(person.id)
    assert key not in known and "4111 1111 1111 1111" not in known


def test_greetings_and_bare_questions_make_no_memory(stack):
    person = stack.person()
    person.say("Hello there!")
    person.later().say("What is the tallest mountain?")
    person.learn()
    assert person.memories() == []
