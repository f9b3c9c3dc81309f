"""Turns that were counted as journaled are neither lost nor doubled, at whatever moment memgate is killed."""

import random
import re
import sqlite3
import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from harness.wait import until

TALKERS = 3
# The maximum number of turns between two kills, so that a run has many kills.
MOST_TURNS = 8
# One in this many kills comes before memgate is ready, while it opens its files and resumes its jobs.
STILLBORN = 5

pytestmark = pytest.mark.timeout(900)


class Talker:
    """A user who sends message after message, also while memgate is down."""

    def __init__(self, stack, over, seed):
        self.person = stack.person()
        self.said = 0
        self._over, self._chance = over, random.Random(seed)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while not self._over.wait(self._chance.uniform(0, 0.1)):
            text = f"Lot {self.said} went to the bidder c{self.said}x"
            answer = self.person.say(text, stream=self.said % 2 == 0)
            assert answer.status == 200 and answer.complete
            self.said += 1

    def numbers(self, texts) -> Counter:
        """How often each message occurs in the texts."""
        return Counter(int(number) for text in texts for number in re.findall(r"bidder c(\d+)x", text))


@contextmanager
def talking(stack, users=2):
    """Users who send messages until the end, and a function that waits until each of them has sent so many more."""
    # The echo server would repeat recalled memories.
    stack.double.script({"contains": "", "reply": "Noted."})
    over = threading.Event()
    talkers = [Talker(stack, over, seed) for seed in range(users)]

    def wait_for(turns):
        goals = {talker: talker.said + turns for talker in talkers}
        until(lambda: all(talker.said >= goal for talker, goal in goals.items()), "everybody is answered", 60)

    try:
        yield talkers, wait_for
    finally:
        over.set()
        for talker in talkers:
            talker.thread.join()


def check_memories_of_every_turn_once(stack, talkers):
    for talker in talkers:
        learn(stack, talker.person)
        turns = [memory["content"] for memory in talker.person.remembered_turns()]
        assert talker.numbers(turns) == Counter(range(talker.said))
    assert stack.memgate.api("GET", "/admin/jobs?state=dead").json()["jobs"] == []


def live_and_die(stack, chance) -> int:
    """Starts memgate and kills it at a random moment; returns the last count of journaled turns before the kill."""
    counted = 0
    if chance.randrange(STILLBORN) == 0:
        stack.memgate.start(ready=False)
        time.sleep(chance.uniform(0, 1.5))
    else:
        stack.memgate.start()
        goal = chance.randint(1, MOST_TURNS)

        def enough():
            nonlocal counted
            counted = int(stack.memgate.turns())
            return counted >= goal

        until(enough, f"{goal} turns are journaled", 60, every=chance.uniform(0, 0.02))
    stack.memgate.kill()
    return counted


def journaled(stack, person) -> list[str]:
    """A user's messages in the journal of a memgate that has ended."""
    journal = sqlite3.connect(f"file:{stack.memgate.data / 'journal.db'}?mode=ro", uri=True)
    try:
        rows = journal.execute("SELECT user_text FROM turns WHERE user = ?", [person.id])
        return [text for text, in rows]
    finally:
        journal.close()


def learn(stack, person):
    """Flushes; waits long enough for thousands of turns on a busy machine."""
    until(
        lambda: stack.memgate.api("POST", "/v1/memory/flush", {"user_id": person.id, "timeout_ms": 50_000}).json()
        ["jobs_pending"] == 0,
        "all is learnt", 1200,
    )


def check(stack, seed, lives):
    print(f"seed {seed}")
    chance, began = random.Random(seed), time.monotonic()
    over, counted = threading.Event(), 0
    # The echo server would repeat recalled memories.
    stack.double.script({"contains": "", "reply": "Noted."})
    stack.memgate.stop()
    talkers = [Talker(stack, over, chance.random()) for _ in range(TALKERS)]
    try:
        for _ in range(lives):
            counted += live_and_die(stack, chance)
        stack.memgate.start()
        goals = {talker: talker.said + 3 for talker in talkers}
        until(lambda: all(talker.said >= goal for talker, goal in goals.items()), "everybody talks on", 60)
    finally:
        over.set()
        for talker in talkers:
            talker.thread.join()
    for talker in talkers:
        learn(stack, talker.person)
    counted += int(stack.memgate.turns())
    memories = {talker: stack.memgate.memories(talker.person.id) for talker in talkers}
    dead = stack.memgate.api("GET", "/admin/jobs?state=dead").json()["jobs"]
    stack.memgate.stop()
    rows = 0
    for talker in talkers:
        written = talker.numbers(journaled(stack, talker.person))
        said = [m["content"] for m in memories[talker] if "episodic" == m["type"] and "bidder c" in m["content"]]
        facts = [m["content"] for m in memories[talker] if m["type"] in ("semantic", "procedural")]
        assert max(written.values()) == 1, f"seed {seed}: in the journal twice"
        # A summary may contain words of several turns; a turn memory contains those of one.
        whole = talker.numbers(text for text in said if len(talker.numbers([text])) == 1)
        assert whole == written, f"seed {seed}: memories that are not the journal's turns, {whole - written}"
        assert len(facts) == len(set(facts)), f"seed {seed}: a fact is there twice"
        assert talker.said - 1 in written, "the last is learnt"
        rows += sum(written.values())
    assert dead == [], f"seed {seed}: {dead}"
    assert rows >= counted > 0, f"seed {seed}: {counted} turns were counted, {rows} are there"
    print(f"{lives} kills in {time.monotonic() - began:.0f} s: {counted} turns counted, {rows} journaled, none twice")


def test_turns_survive_kills_at_random_moments(start):
    check(start(), seed=random.randrange(1 << 32), lives=5)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_turns_survive_two_hundred_kills_at_random_moments(start):
    check(start(), seed=random.randrange(1 << 32), lives=200)
