"""The trail: why something was shown for a request, and what was learned from a turn."""

import json
import os
import subprocess

import pytest

from harness import paths
from harness.memgate import KEY
from harness.stack import Stack
from harness.wait import until

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A stack whose trail keeps words."""
    stack = Stack(tmp_path_factory.mktemp("traced"), {"memory": {"trail": {"content": True}}})
    yield stack
    stack.stop()


def why(stack, *args) -> subprocess.CompletedProcess:
    server = f"http://127.0.0.1:{stack.memgate.http_port}"
    command = [paths.memgate(), "why", *args, "--config", stack.memgate.config_file, "--server", server]
    return subprocess.run(command, capture_output=True, env={**os.environ, "MEMGATE_KEY": KEY}, timeout=60, check=False)


def request_id(answer) -> str:
    return answer.headers["x-memgate-request-id"]


@pytest.mark.parametrize("prompt", [
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
    "Summarize the topic of the conversation so far in 3-5 words for use as a thread name.",
], ids=["by a rule", "by the model"])
def test_a_clients_prompt_leaves_the_reason_why_nothing_of_it_is_kept(traced, prompt):
    alice = traced.person()
    asked = alice.say(prompt)
    assert asked.decision == "skipped:housekeeping"
    alice.learn()
    turn = traced.memgate.api("GET", f"/v1/turns/{request_id(asked)}").json()
    told = [(event["what"], event["became"], event.get("reason")) for event in turn["events"]]
    assert ("message", "dropped", "clients_prompt") in told, turn
    assert alice.memories() == []


def test_a_request_tells_why_a_memory_was_shown_and_how_long_it_took(traced):
    alice, bob = traced.person("alice"), traced.person("bob")
    told = alice.say(FACT)
    alice.learn()
    asked = alice.later().say(QUESTION)
    assert asked.headers["x-memgate-hits"] != "0"
    recall = traced.memgate.api("GET", f"/v1/recalls/{request_id(asked)}?user_id={alice.id}").json()
    assert (recall["decision"], recall["user_id"]) == ("searched", alice.id)
    shown = [it for it in recall["candidates"] if it["outcome"] == "presented"]
    assert len(shown) == int(asked.headers["x-memgate-hits"])
    assert any("$10,000" in it["content"] and it["score"] >= recall["threshold"] for it in shown)
    assert recall["query"]["text"].startswith("What's my budget")
    steps = {step["step"]: step["ms"] for step in recall["steps"]}
    assert steps["total"] >= steps["search"] > 0
    assert recall["context_tokens"] > 0

    # No other user's, and no difference to an unknown one.
    others = traced.memgate.api("GET", f"/v1/recalls/{request_id(asked)}?user_id={bob.id}")
    unknown = traced.memgate.api("GET", f"/v1/recalls/unknown?user_id={bob.id}")
    assert (others.status, others.body) == (unknown.status, unknown.body)
    assert others.status == 404

    turn = traced.memgate.api("GET", f"/v1/turns/{request_id(told)}").json()
    assert any(event["became"] == "kept" and event.get("memory_id") for event in turn["events"]), turn


def test_the_command_line_tells_it_too(traced):
    alice = traced.person("alice")
    told = alice.say(FACT)
    alice.learn()
    asked = alice.later().say(QUESTION)
    done = why(traced, request_id(asked))
    said = done.stdout.decode()
    assert done.returncode == 0, done
    assert "decision: searched" in said and "presented" in said and "$10,000" in said
    assert json.loads(why(traced, request_id(asked), "--json").stdout)["request_id"] == request_id(asked)
    assert "statement kept" in why(traced, request_id(told), "--learned").stdout.decode()
    said = why(traced, FACT, "--user", alice.id).stdout.decode()
    assert said.startswith("Presented") and request_id(asked) in said
    said = why(traced, "My aunt lives in Reykjavik", "--user", alice.id).stdout.decode()
    assert said.startswith("Never stored.")
    done = why(traced, "unknown")
    assert done.returncode == 1 and b"no such request in the trail" in done.stderr


def test_the_log_has_one_line_a_request_and_one_a_turn_without_words_and_users(stack):
    alice = stack.person("alice")
    answer = alice.say(FACT)
    alice.learn()

    def lines(message):
        found = [line for line in stack.memgate.process.output().splitlines() if message in line]
        return [line for line in found if request_id(answer) in line]

    until(lambda: len(lines("Memory: Recalled")) == 1, "the request is logged")
    until(lambda: len(lines("Memory: Learned from a turn")) == 1, "the turn is logged")
    for line in lines("Memory: "):
        assert "Hawaii" not in line and alice.id not in line


def test_an_app_can_find_out_how_many_memories_a_message_made_forget(traced):
    alice = traced.person("alice")
    alice.say("My cat is called Mia")
    alice.learn()
    for text, found in [("Forget that my cat is called Mia", True), ("Forget about my parrot Rio", False)]:
        asked = alice.later().say(text)
        alice.learn()
        turn = traced.memgate.api("GET", f"/v1/turns/{request_id(asked)}").json()
        forgotten = [event for event in turn["events"] if event["became"] == "forgotten"]
        assert [event["count"] > 0 for event in forgotten] == [found], turn
        assert found or forgotten[0]["reason"] == "nothing_found"
    pending = traced.memgate.api("GET", f"/v1/forgettings?user_id={alice.id}").json()["forgettings"]
    assert len(pending) == 1 and pending[0]["memories"], "a request that found nothing is not listed"


def test_a_stored_trail_outlives_a_restart_and_its_words_go_with_what_is_forgotten(start):
    stack = start({"memory": {"trail": {"content": True, "stored_per_user": 20}}})
    alice, bob = stack.person("alice"), stack.person("bob")
    told = alice.say(FACT)
    alice.learn()
    asked = alice.later().say(QUESTION)
    bob.say("What did I say of the trip to Hawaii?")
    before = stack.memgate.api("GET", f"/v1/recalls/{request_id(asked)}").json()
    turn = stack.memgate.api("GET", f"/v1/turns/{request_id(told)}").json()
    assert "budget" in before["query"]["text"] and any(event["became"] == "kept" for event in turn["events"])
    stack.memgate.restart()
    assert stack.memgate.api("GET", f"/v1/recalls/{request_id(asked)}").json() == before
    assert stack.memgate.api("GET", f"/v1/turns/{request_id(told)}").json() == turn
    shown = why(stack, "--user", alice.id, FACT)
    assert shown.returncode == 0 and request_id(asked) in shown.stdout.decode(), shown
    alice.say("Forget my budget for the Hawaii trip.")
    alice.learn()
    after = stack.memgate.api("GET", f"/v1/recalls/{request_id(asked)}").json()
    assert after.get("query") is None and after["decision"] == before["decision"]
    assert stack.memgate.api("GET", f"/v1/recalls?user_id={bob.id}").json()["recalls"][0]["query"] is not None
    # Without the setting nothing is left on the disk.
    stack.memgate.configure({"memory": {}})
    stack.memgate.restart()
    assert not list(stack.memgate.data.glob("trail.db*"))
    assert stack.memgate.api("GET", f"/v1/recalls/{request_id(asked)}").status == 404
