#!/usr/bin/env python3
"""Writes memories of several sizes, and questions to them, from testdata/asked.

    python3 tools/small_memories.py testdata/asked/pairs.jsonl [SIZE…] > target/asked.jsonl

Input for `memgate eval ordinary`, and by its --features for tools/calibrate.py. A user tells a row's sentence, alone or among
others, and is asked its questions, and questions whose answer nobody told: those of rows of other matters. In a memory of one, questions in
another language are added. The rest of a large memory is of testdata/memorable. The same input gives the same output.
"""

import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = (1, 3, 8, 30, 300)
# The most memories of a size.
MOST = {1: 1000, 3: 120, 8: 60, 30: 24, 300: 4}
# Topics that may answer each other's questions.
MATTERS = (
    ("allergy", "diet", "drink", "food", "health", "medicine", "religion", "doctor", "fear", "trip"),
    ("partner", "child", "sibling", "name", "pet"),
    ("home", "origin", "trip", "language", "workplace"),
    ("job", "employer", "boss", "school", "hobby", "sport", "health", "workplace", "project", "tool", "computer"),
    ("workplace", "home", "drink", "food", "diet", "allergy"),
    ("transport", "trip", "fear", "car", "home"),
    ("project", "tool", "hobby", "music"),
    ("hobby", "instrument", "music", "team", "sport"),
    ("phone", "computer"),
    ("age", "birthday", "child"),
    ("size", "height"),
)
# Topics of which a question in other words fits every row.
COMMON = ("job", "home", "partner", "pet", "car", "birthday", "hobby")
FOREIGN = 3


def are_near(one, other):
    return one == other or any(one in matter and other in matter for matter in MATTERS)


def told(rows, fillers):
    texts = [row["says"] for row in rows] + fillers
    day = lambda number: f"2026-{1 + number % 300 // 25:02}-{1 + number % 25:02}"
    turn = lambda text: {"user": text, "assistant": "I see."}
    return [{"date": day(number), "turns": [turn(text)]} for number, text in enumerate(texts)]


def ask(text, holds=None):
    sets = [[holds]] if holds else []
    return {"date": "2027-01-05", "turns": [], "user": text, "must": sets, "must_not": [], "relevant": sets, "want_silence": not holds}


def asks(rows, mine, dice):
    """The questions to these rows, and a few of rows of the same language and other matters."""
    own = [ask(text, row["holds"]) for row in mine for text in row["asks"]]
    far = [row for row in rows if not any(are_near(row["topic"], told["topic"]) for told in mine)]
    foreign = [text for row in far for text in row["asks"]]
    return own + [ask(text) for text in dice.sample(foreign, min(len(foreign), max(FOREIGN, len(mine))))]


def distinct(rows, size, dice):
    """As many rows as fit, no two of near matters."""
    found = []
    for row in dice.sample(rows, len(rows)):
        if len(found) < size and not any(are_near(row["topic"], other["topic"]) for other in found):
            found.append(row)
    return found


def main():
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    sizes = [int(size) for size in sys.argv[2:]] or SIZES
    memorable = [json.loads(line) for path in sorted((ROOT / "testdata/memorable").glob("*.jsonl")) for line in open(path, encoding="utf-8")]
    memorable = [row for row in memorable if row["memorable"] and row["type"] == "semantic"]
    dice, number = random.Random(7), 0
    langs = sorted({row["lang"] for row in rows})
    for size in sizes:
        for turn in range(MOST[size]):
            if size == 1 and turn == len(rows):
                break
            lang = rows[turn]["lang"] if size == 1 else langs[turn % len(langs)]
            same = [row for row in rows if row["lang"] == lang]
            mine = [rows[turn]] if size == 1 else distinct(same, size, dice)
            rest = size - len(mine)
            near = [row["text"] for row in memorable if not any(it["holds"].lower() in row["text"].lower() for it in mine)
                    and (row["lang"] == lang or size > 8)]
            near.sort()
            fillers = dice.sample(near, min(rest, len(near))) if size > 8 else []
            questions = asks(same, mine, dice)
            if size == 1 and mine[0]["topic"] in COMMON:
                others = [row for row in rows if row["topic"] == mine[0]["topic"] and row["lang"] != lang]
                questions += [ask(dice.choice(row["asks"]), mine[0]["holds"]) for row in dice.sample(others, min(1, len(others)))]
            number += 1
            story = {"id": f"small{number:04}", "lang": lang, "sessions": told(mine, fillers), "facts": [], "acceptable": []}
            print(json.dumps(story | {"asks": questions}, ensure_ascii=False))


if __name__ == "__main__":
    main()
