"""Turns that were counted as journaled are neither lost nor doubled, at whatever moment memgate is killed."""

import random
import threading

import pytest

from harness.wait import until

TALKERS = 3


class Talker:
    """One user who says one thing after the other, whatever happens to memgate."""

    def __init__(self, stack, over):
        self.person = stack.person()
        self.said = 0
        self._over = over
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while not self._over.is_set():
            text = f"My locker {self.said} has the code c{self.said}x"
            answer = self.person.say(text, stream=self.said % 2 == 0)
            assert answer.status == 200 and answer.complete
            self.said += 1


def live_and_die(stack, chance) -> int:
    """One life of memgate; returns how many turns it had counted when it was last asked."""
    goal, counted = chance.randint(1, 60), 0

    def enough():
        nonlocal counted
        counted = int(stack.memgate.turns())
        return counted >= goal

    until(enough, f"{goal} turns are journaled", 60, every=chance.uniform(0, 0.02))
    stack.memgate.kill()
    return counted


def check(stack, seed, lives):
    chance = random.Random(seed)
    over, counted = threading.Event(), 0
    # The echo would say recalled memories again.
    stack.double.script({"contains": "", "reply": "Noted."})
    talkers = [Talker(stack, over) for _ in range(TALKERS)]
    try:
        for _ in range(lives):
            counted += live_and_die(stack, chance)
            stack.memgate.start()
        served = sum(talker.said for talker in talkers)
        until(lambda: sum(talker.said for talker in talkers) >= served + 10, "they talk on")
    finally:
        over.set()
        for talker in talkers:
            talker.thread.join()
    stored = 0
    for talker in talkers:
        talker.person.learn()
        texts = [memory["content"] for memory in talker.person.remembered_turns()]
        codes = [number for number in range(talker.said) for text in texts if f"code c{number}x" in text]
        assert len(codes) == len(texts), "every memory is one of what was said"
        doubled = sorted({code for code in codes if codes.count(code) > 1})
        assert not doubled, f"seed {seed}: doubled {doubled}"
        assert talker.said - 1 in codes, "the last is learnt"
        stored += len(codes)
    assert stored >= counted + int(stack.memgate.turns()), f"seed {seed}: {stored} stored, and more were counted"
    assert counted > 0


def test_turns_survive_kills_at_random_moments(start):
    check(start(), seed=random.randrange(1 << 32), lives=4)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_turns_survive_many_kills_at_random_moments(start):
    for _ in range(5):
        check(start(), seed=random.randrange(1 << 32), lives=25)
