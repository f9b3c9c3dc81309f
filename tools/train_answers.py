#!/usr/bin/env python3
"""Trains what tells messages that ask for the assistant's earlier words (crates/models/src/message/answers.rs).

    python tools/train_answers.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/answers/asks/*.jsonl, the questions of testdata/answers/*.jsonl, and, as messages that ask for something else,
testdata/signals/*.jsonl and the questions of testdata/ordinary and testdata/conversations. Writes the tensors `answers.…`.
--check only cross-validates.

Two logistic regressions: `whole` on hashed n-grams and on the embedder's inner layers and vector, `words` on the n-grams alone. Answers
crowd out what users told, so a threshold is the lowest at which at most OTHERS of the messages that people type pass. Equal input gives
equal bytes.
"""

import argparse
import json
import sys

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

import model_file
from messages import FOLDS, Judged, fit
from model_file import MODEL, ROOT

DATA = ROOT / "testdata"
ASKS = sorted((DATA / "answers/asks").glob("*.jsonl"))
STORIES = sorted((DATA / "answers").glob("*.jsonl"))
SIGNALS = sorted((DATA / "signals").glob("*.jsonl"))
CONVERSATIONS = [path for name in ("ordinary", "conversations") for path in sorted((DATA / name).glob("*.jsonl"))]
# The share of what people type otherwise that may pass.
OTHERS = 0.03


def read(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def wants_the_assistant(story, ask):
    """Whether what a question must be shown stands in a reply and in no message of the user."""
    turns = [turn for session in story["sessions"] for turn in session["turns"]]
    user, assistant = (" ".join(turn[side] for turn in turns).lower() for side in ("user", "assistant"))
    return any(word.lower() in assistant and word.lower() not in user for words in ask["must"] for word in words)


def messages():
    found = [{"text": row["text"], "asks": row["asks"], "set": "asks", "group": row["id"]} for file in ASKS for row in read(file)]
    for file in STORIES:
        for story in read(file):
            found += [{"text": ask["user"], "asks": wants_the_assistant(story, ask), "set": "stories", "group": story["id"]}
                      for ask in story["asks"]]
    for file in SIGNALS:
        found += [{"text": row["text"], "asks": False, "set": "others", "group": f"{file.stem} {number // 8}"}
                  for number, row in enumerate(read(file))]
    for file in CONVERSATIONS:
        found += [{"text": ask["user"], "asks": False, "set": "others", "group": story["id"]}
                  for story in read(file) for ask in story.get("asks", [])]
    for row in found:
        row["text"] = row["text"].strip()
    return found


class Data(Judged):
    """The rows as numbers."""

    def __init__(self):
        super().__init__(messages(), "asks")
        self.sets = np.array([row["set"] for row in self.rows])

    def by_others(self, x):
        """For each row the probability by a model that did not see its fold."""
        found = np.zeros(len(self.rows))
        for some, left in GroupKFold(FOLDS).split(x, groups=[row["group"] for row in self.rows]):
            found[left] = fit(x[some], self.is_so[some]).predict_proba(x[left])[:, 1]
        return found

    def threshold(self, likely):
        others = likely[self.sets == "others"]
        return float(next(step for step in np.arange(5, 100) / 100 if (others > step).mean() <= OTHERS))

    def told(self, name, likely, threshold):
        lines = []
        for of in ("asks", "stories", "others"):
            some = self.sets == of
            found, wrong = ((likely > threshold)[some & (self.is_so == kind)] for kind in (True, False))
            line = {"set": f"{of}, cross-validated, {name}", "found": f"{found.sum()} of {len(found)}",
                    "taken": f"{wrong.sum()} of {len(wrong)}"}
            if len(found):
                line["average_precision"] = f"{average_precision_score(self.is_so[some], likely[some]):.3f}"
            print(f"above {threshold:.2f}: {line}")
            lines.append(line)
        return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    found, scores = Data().train("answers")
    if not arguments.check:
        files = [*ASKS, *STORIES, *SIGNALS, *CONVERSATIONS]
        model_file.save("answers", found, data=files, command="tools/train_answers.py", folder=arguments.into, scores=scores)


if __name__ == "__main__":
    sys.exit(main())
