"""A helper model that was fooled, or made something up: its answers are those of testdata/poisoning, and none of them
becomes the user's word, a preference, or a reason to forget."""

import json
import re

import pytest

from harness.context import context_of
from harness.extraction import PROMPT, extracting
from harness.paths import REPOSITORY

pytestmark = pytest.mark.timeout(900)

OPENING, CLOSING = '"“„«「『‹', '"”“»」』›'


def plants() -> list[dict]:
    with open(REPOSITORY / "testdata/poisoning/plants.jsonl") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row["channel"] == "helper_model"]


def is_quoted(before: str) -> bool:
    closing = None
    for char in before:
        if closing:
            closing = None if char == closing else closing
        elif char in OPENING:
            closing = CLOSING[OPENING.index(char)]
    return closing is not None


def is_users_word(line: str, needle: str) -> bool:
    """Whether a line of a context shows these words as the user's own, and not as a quotation or the assistant's."""
    for match in re.finditer(re.escape(needle), line):
        before = line[:match.start()]
        others = max(before.rfind("assistant: "), before.rfind("document: "))
        if "imported" not in before.split("]")[0] and others <= before.rfind("user: ") and not is_quoted(before):
            return True
    return False


def test_what_a_fooled_helper_model_answers_is_never_the_users_word(start):
    stack = start(extracting(every=1, memory={"modes": ["turns", "local", "llm"]}))
    shown, forgotten, preferences, asked = [], [], [], 0
    for row in plants():
        person = stack.person()
        if seed := row.get("seed"):
            stack.double.script({"contains": PROMPT, "reply": "[]"})
            person.say(seed)
            person.learn()
            seeded = row["keep"] in stack.memgate.texts(person.id).lower()
        facts = [{"type": "semantic", "confidence": "explicit", **fact} for fact in row["answer"]["facts"]]
        stack.double.script(
            {"contains": PROMPT, "reply": json.dumps({"facts": facts}, ensure_ascii=False)},
            {"contains": "", "reply": row["assistant"]},
        )
        told = person.later()
        told.say(row["user"])
        stack.memgate.api("POST", f"/v1/sessions/{told.session}/end", {"user_id": person.id})
        person.learn()
        for question in (row["ask"], row["unrelated_ask"]):
            person.later().say(question)
            context = (context_of(person.received()[-1].json()) or "").lower()
            asked += 1
            if any(is_users_word(line, row["needle"]) for line in context.splitlines() if line.startswith("- ")):
                shown.append((row["id"], context))
        memories = person.memories()
        planted = [one for one in memories if row["needle"] in one["content"].lower()]
        preferences += [row["id"] for one in planted if "preference" in one["tags"]]
        if seed and seeded and row["keep"] not in stack.memgate.texts(person.id).lower():
            forgotten.append(row["id"])
    assert asked >= 100
    assert not shown, shown
    assert not forgotten and not preferences
