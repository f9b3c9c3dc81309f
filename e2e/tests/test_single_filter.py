"""A gateway without observability mode: one filter with a streamed response does both jobs."""

import pytest

from harness.context import context_of
from harness.http import events
from harness.stack import Stack

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"


def single(config):
    """Removes the capture filter and lets recall see the response."""
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    manager["http_filters"] = [f for f in manager["http_filters"] if f["name"] != "capture"]
    for route in manager["route_config"]["virtual_hosts"][0]["routes"]:
        route.get("typed_per_filter_config", {}).pop("capture", None)
    recall = next(f for f in manager["http_filters"] if f["name"] == "recall")["typed_config"]
    recall["processing_mode"].update(response_header_mode="SEND", response_body_mode="STREAMED")


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("single"), edit=single)
    yield stack
    stack.stop()


@pytest.mark.parametrize("dialect", ["chat", "responses"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_one_filter_recalls_and_learns(one, dialect, stream):
    alice, bob = one.person(), one.person()

    def talk(person, text):
        send = person.say if dialect == "chat" else person.respond
        return send(text, stream=stream)

    assert talk(alice, FACT).complete
    alice.learn()
    answer = talk(alice.later(), QUESTION)
    assert answer.decision == "searched" and answer.complete
    assert "$10,000" in context_of(alice.received()[-1].json())
    talk(bob, QUESTION)
    assert context_of(bob.received()[-1].json()) is None


def test_it_learns_the_clients_words_and_not_the_context(one):
    alice = one.person()
    alice.say(FACT)
    alice.learn()
    alice.later().say("How much may I spend in Hawaii, and my hotel is the Halekulani?")
    alice.learn()
    assert alice.knows("Halekulani")
    assert "Relevant Context" not in one.memgate.texts(alice.id)


@pytest.mark.parametrize("double", ["status=500", "cut_after=3"])
def test_a_failed_exchange_is_not_learned_from(one, double):
    alice = one.person()
    alice.say(FACT, {"x-double": double}, stream=True)
    alice.say("My village is Flåm")
    alice.learn()
    assert alice.knows("Flåm") and not alice.knows("$10,000")


def test_opting_out_and_large_bodies_pass(one):
    alice = one.person()
    assert alice.say(FACT, {"x-memory": "off"}, stream=True).decision == "off"
    body = b'{"model":"echo","input":"%s"}' % (b"x" * (20 << 20))
    answer = alice.post("/v1/responses", body, {"x-double": "status=404"})
    assert (answer.status, answer.decision) == (404, "skipped:too_large")
    assert alice.received()[-1].body == body


def test_a_kill_during_a_stream_leaves_the_stream_whole(start):
    import threading

    from harness.wait import until

    stack = start(edit=single)
    alice = stack.person()
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(alice.say(QUESTION, {"x-double": "chunks=20,gap_ms=50"}, stream=True))
    )
    thread.start()
    until(lambda: stack.envoy.stat("cluster.upstream.upstream_rq_active") > 0, "the stream flows")
    stack.memgate.kill()
    thread.join()
    assert answers[0].complete and events(answers[0].body)[-1] == "[DONE]"
