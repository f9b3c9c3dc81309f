"""The warnings and errors of memgate's log, which fail the test during which they come unless it allows them.

A test allows them by name: `@pytest.mark.allows_log("part of the message")`, or by asking for them (`Memgate.wait_log`).
"""

import json
import re

# Most tests believe clients about their user.
ALWAYS = ["memory.identity.mode: in development mode any client can claim to be any user"]


def entry(line: str) -> tuple[str, str] | None:
    """(level, message) of a line; None for a line that is not of the log."""
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    if isinstance(told, dict):
        return told.get("level", "").lower(), told.get("fields", {}).get("message") or told.get("message", "")
    # A panic, or a log in the format for people.
    found = re.search(r"\b(WARN|ERROR)\b|panicked at", line)
    return found and ((found[1] or "ERROR").lower(), line)


class Watch:
    """The log of every running memgate, read test by test."""

    def __init__(self):
        self._runs = {}
        self._earlier = set()
        self._expected = set()

    def add(self, run):
        """Watches a process: an object with `lines` and `running`."""
        self._runs[run] = 0

    def expect(self, text: str):
        """Allows lines with this text until the end of the test."""
        if text:
            self._expected.add(text)

    def begin(self):
        """A test begins. What came between two tests is nobody's; what its own fixtures started is its."""
        self._expected = set(ALWAYS)
        for run in self._earlier:
            self._runs[run] = len(run.lines)

    def unexpected(self) -> list[str]:
        """The warnings and errors since the test began that it did not allow; ends the test."""
        lines = [line for run, first in self._runs.items() for line in run.lines[first:]]
        self._runs = {run: len(run.lines) for run in self._runs if run.running()}
        self._earlier = set(self._runs)
        found = []
        for line in lines:
            level, message = entry(line) or ("", "")
            if level in ("warn", "error") and not any(text in message for text in self._expected):
                found.append(f"allows_log({message!r})  # {line}")
        return found


WATCH = Watch()
