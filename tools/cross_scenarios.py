#!/usr/bin/env python3
"""Writes scenarios without an answer: each story's memory is asked the question of another story.

    python3 tools/cross_scenarios.py testdata/scenarios/train.jsonl > target/crossed.jsonl

Input for tools/calibrate.py. The decision skips most questions that need no memory, so stories alone hardly show
what a search must not find. The language stays the same, and the same input gives the same output. Long stories
(ids that begin with `sd`) are left out, because one of sixteen memories often does fit.
"""

import json
import random
import sys


def main():
    stories = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    stories = [story for story in stories if not story["id"].startswith("sd")]
    dice = random.Random(5)
    for story in stories:
        others = [o for o in stories if o["lang"] == story["lang"] and o["id"] != story["id"] and o["must_recall"]]
        if not others:
            continue
        ask = dict(dice.choice(others)["ask"])
        ask["date"] = max(ask["date"], story["ask"]["date"])
        crossed = story | {"id": "x" + story["id"], "kind": "negative", "ask": ask}
        print(json.dumps(crossed | {"must_recall": [], "must_not_recall": []}, ensure_ascii=False))


if __name__ == "__main__":
    main()
