"""Starting, stopping, reloading: data stays, bad configurations are refused with a reason."""

import signal

import pytest

from harness.context import context_of
from harness.memgate import Memgate
from harness.wait import until

FACT = "My boat is called Halcyon"
QUESTION = "What is my boat called?"


def test_memories_survive_a_restart(start):
    stack = start()
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    before = alice.memories()
    assert stack.memgate.stop() == 0
    stack.memgate.start()
    assert alice.memories() == before
    alice.later().say(QUESTION)
    assert "Halcyon" in context_of(alice.received()[-1].json())


def test_a_turn_that_was_counted_survives_a_kill(start):
    stack = start()
    people = [stack.person() for _ in range(20)]
    for number, person in enumerate(people):
        person.say(f"My boat is called Halcyon{number}x")
    until(lambda: stack.memgate.turns() == len(people), "all turns are counted")
    stack.memgate.kill()
    stack.memgate.start()
    for number, person in enumerate(people):
        person.learn()
        texts = [memory["content"] for memory in person.remembered_turns()]
        assert len(texts) == 1 and f"Halcyon{number}x" in texts[0]


def test_a_stop_is_clean_and_loses_nothing(start):
    stack = start()
    people = [stack.person() for _ in range(10)]
    for person in people:
        person.say(FACT)
    assert stack.memgate.stop() == 0
    stack.memgate.start()
    for person in people:
        person.learn()
        assert person.knows("Halcyon")


@pytest.mark.allows_log("configuration reload refused; keeping the old configuration")
def test_a_reload_takes_the_new_configuration_and_refuses_a_bad_one(start):
    stack = start()
    alice = stack.person()
    assert alice.say(QUESTION).decision == "searched"
    memgate = stack.memgate
    memgate.configure({"memory": {"policies": [{"match": {"path": "/v1/*"}, "enabled": False}]}})
    memgate.process.signal(signal.SIGHUP)
    until(lambda: alice.say(QUESTION).decision == "off", "the new configuration holds")
    memgate.configure({"memory": {"default_retreival_limit": 3}})
    refused = memgate.metric("memgate_config_reloads_total", outcome="refused")
    memgate.process.signal(signal.SIGHUP)
    until(
        lambda: memgate.metric("memgate_config_reloads_total", outcome="refused") == refused + 1,
        "the bad configuration is refused",
    )
    # The log line may come a moment after the metric.
    until(lambda: "default_retreival_limit" in memgate.process.output(), "the log names the key")
    assert alice.say(QUESTION).decision == "off", "the old one holds"


@pytest.mark.parametrize(
    "config, words",
    [
        ({"memory": {"default_retreival_limit": 3}}, ["default_retreival_limit", "default_retrieval_limit"]),
        ({"memory": {"default_retrieval_limit": 0}}, ["default_retrieval_limit", "1"]),
        ({"memory": {"milvus": {"dimension": 3}}}, ["memory.milvus.dimension", "384"]),
    ],
    ids=["unknown key", "out of range", "milvus"],
)
def test_an_invalid_configuration_is_refused_at_start_with_its_place(tmp_path, config, words):
    said = Memgate(tmp_path, config).refuses()
    assert "config.yaml" in said and all(word in said for word in words), said


def test_a_second_process_on_the_same_data_names_the_first(start, tmp_path):
    stack = start()
    other = Memgate(tmp_path, data=stack.memgate.data)
    assert str(stack.memgate.process.pid) in other.refuses()


def test_health_and_metrics_answer(start):
    stack = start()
    for path in ("/healthz", "/readyz", "/metrics"):
        assert stack.memgate.status(path) == 200


def test_the_time_to_embed_is_observed(stack):
    before = stack.memgate.metric("memgate_embedding_seconds_count")
    alice = stack.person()
    alice.say(f"What did I tell you about {alice.id}?")
    assert stack.memgate.metric("memgate_embedding_seconds_count") > before
    assert stack.memgate.metric("memgate_embedding_seconds_sum") > 0
