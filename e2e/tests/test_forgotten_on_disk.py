"""A deleted memory is in no file of the data folder when the deletion is answered: every byte is searched."""

import json

import pytest

from harness.extraction import PROMPT, extracting, talk
from harness.wait import until

pytestmark = pytest.mark.allows_log("Extraction failed, batch skipped")

# Words that nothing else says.
PLACE, SISTER = "Zanzibarquay", "Eudoxiaparva"


def found(stack, word: str) -> list[str]:
    """The files of the data folder that contain a word, in any case."""
    files = [path for path in stack.memgate.data.rglob("*") if path.is_file()]
    return [path.name for path in files if word.lower().encode() in path.read_bytes().lower()]


LEARNING = extracting(every=2, memory={"modes": ["turns", "local", "llm"], "summaries": True})
TRAIL = {"content": True, "stored_per_user": 50}


def learning_with_a_stored_trail(double) -> dict:
    config = LEARNING(double)
    return {**config, "memory": {**config["memory"], "trail": TRAIL}}


def crowd(stack, turns: int = 40):
    """Other users who talk, so that pages are shared, filled and split."""
    for number in range(4):
        person = stack.person("other")
        talk(person, *(f"I keep {n} boxes of {'tea ' * (n % 23)}in cellar {n}" for n in range(turns // 4)))


def test_a_forgotten_user_is_in_no_file(start):
    stack = start(learning_with_a_stored_trail)
    stack.double.script(
        {"contains": PLACE, "reply": json.dumps([{"type": "semantic", "content": f"The user sails from {PLACE}."}])},
        {"contains": PROMPT, "reply": "[]"},
        {"contains": "", "reply": "Noted."},
    )
    alice = stack.person("alice")
    texts = [f"My boat {n} lies at {PLACE} pier {n}{' and more' * n}" for n in range(20)]
    talk(alice, *texts[:10])
    crowd(stack)
    talk(alice, *texts[10:])
    alice.learn()
    asked = alice.later().say(f"Which boat of mine lies at {PLACE}?").headers["x-memgate-request-id"]
    assert PLACE in str(stack.memgate.api("GET", f"/v1/recalls/{asked}").json()["query"])
    crowd(stack)
    files = {name.removesuffix("-wal") for name in found(stack, PLACE)}
    assert files == {"memories.db", "journal.db", "trail.db"}, "that it can be found at all"
    deleted = stack.memgate.api("DELETE", f"/v1/memory?user_id={alice.id}")
    assert deleted.json()["deleted"] > 0
    assert stack.memgate.api("GET", f"/v1/recalls/{asked}").status == 404
    assert found(stack, PLACE) == [] and found(stack, alice.id) == []
    # Also not later, nor after an orderly stop, when the logs are moved into the files.
    crowd(stack, 8)
    assert stack.memgate.stop() == 0
    assert found(stack, PLACE) == [] and found(stack, alice.id) == []


def test_pending_and_dead_jobs_are_deleted_with_their_user(start):
    stack = start(LEARNING)
    stack.double.script({"contains": PROMPT, "status": 503}, {"contains": "", "reply": "Noted."})
    alice, bob = stack.person("alice"), stack.person("bob")
    talk(alice, *(f"My boat {n} lies at {PLACE}" for n in range(4)))
    stack.double.script({"contains": PROMPT, "status": 400}, {"contains": "", "reply": "Noted."})
    talk(alice, *(f"My car {n} stands at {PLACE}" for n in range(4)))
    talk(bob, "I keep my bicycle in the yard")

    def jobs(state):
        return stack.memgate.api("GET", f"/v1/jobs?user_id={alice.id}&state={state}").json()["jobs"]

    until(lambda: jobs("pending") and jobs("dead"), "some are owed, some were given up")
    assert stack.memgate.api("DELETE", f"/v1/memory?user_id={alice.id}").status == 200
    assert found(stack, PLACE) == [] and found(stack, alice.id) == []
    assert jobs("pending") == jobs("dead") == []
    bob.learn()
    assert "bicycle" in stack.memgate.texts(bob.id)


def test_a_forgotten_memory_is_in_no_file_and_others_stay(start):
    stack = start()
    stack.double.script({"contains": "", "reply": "Noted."})
    alice = stack.person("alice")
    talk(alice, f"My sister {SISTER} lives in Porto", f"My boat lies at {PLACE}")
    crowd(stack)
    alice.learn()
    while SISTER in stack.memgate.texts(alice.id):
        one = next(m for m in stack.memgate.memories(alice.id) if SISTER in m["content"])
        assert stack.memgate.api("DELETE", f"/v1/memory/{one['id']}?user_id={alice.id}").status == 200
    assert found(stack, SISTER) == []
    assert found(stack, PLACE) != [] and PLACE in stack.memgate.texts(alice.id)
