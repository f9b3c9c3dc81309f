"""Waits for conditions with a deadline. Nothing in these tests sleeps for a fixed time."""

import time


def until(predicate, what: str, seconds: float = 30.0, every: float = 0.02):
    """Returns the first truthy value of `predicate()`; at the deadline fails with `what` and the last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise TimeoutError(f"after {seconds} s still not: {what} (last seen: {value!r})")
        time.sleep(every)


def holds(predicate, what: str, seconds: float = 1.0, every: float = 0.05):
    """Fails as soon as `predicate()` is false within `seconds`: for events that must not happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert predicate(), what
        time.sleep(every)
