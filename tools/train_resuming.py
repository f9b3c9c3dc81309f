#!/usr/bin/env python3
"""Trains what tells messages that take up the last conversation as a whole (crates/models/src/message/resuming.rs).

    python tools/train_resuming.py [--check] [--into models/all-MiniLM-L6-v2]

"Where did we leave off?" names nothing that could be searched for. Reads testdata/resuming/*.jsonl, where half of the messages are near
misses ("when did we last discuss the budget?"), and, as messages that take up nothing, testdata/signals/*.jsonl but for those that
TAKES_UP names. Writes the tensors `resuming.…`. --check only cross-validates.

Two logistic regressions: `whole` on hashed n-grams and on the embedder's inner layers and vector, `words` on the n-grams alone. A
threshold is the lowest at which at most OTHERS of the messages that people type pass. Equal input gives equal bytes.
"""

import argparse
import json
import sys

import numpy as np
from sklearn.model_selection import GroupKFold

import model_file
from messages import FOLDS, Judged, fit
from model_file import MODEL, ROOT

DATA = ROOT / "testdata"
ROWS = sorted((DATA / "resuming").glob("*.jsonl"))
SIGNALS = sorted((DATA / "signals").glob("*.jsonl"))
# Messages of testdata/signals that take up the last conversation.
TAKES_UP = ("Let's pick up where we left off.", "morning! where were we", "where were we")
# The share of what people type otherwise that may pass.
OTHERS = 0.001


def read(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def messages():
    found = [{"text": row["text"], "resumes": row["resumes"], "set": "resuming", "group": row["id"]} for file in ROWS for row in read(file)]
    for file in SIGNALS:
        found += [{"text": row["text"].strip(), "resumes": row["text"].strip() in TAKES_UP, "set": "others", "group": f"{file.stem} {number // 8}"}
                  for number, row in enumerate(read(file))]
    return found


class Data(Judged):
    """The rows as numbers."""

    def __init__(self):
        super().__init__(messages(), "resumes")
        self.sets = np.array([row["set"] for row in self.rows])

    def by_others(self, x):
        """For each row the probability by a model that did not see its fold."""
        found = np.zeros(len(self.rows))
        for some, left in GroupKFold(FOLDS).split(x, groups=[row["group"] for row in self.rows]):
            found[left] = fit(x[some], self.is_so[some]).predict_proba(x[left])[:, 1]
        return found

    def threshold(self, likely):
        others = likely[(self.sets == "others") & ~self.is_so]
        return float(next(step for step in np.arange(5, 100) / 100 if (others > step).mean() <= OTHERS))

    def told(self, name, likely, threshold):
        lines = []
        for of in ("resuming", "others"):
            some = self.sets == of
            found, wrong = ((likely > threshold)[some & (self.is_so == kind)] for kind in (True, False))
            line = {"set": f"{of}, cross-validated, {name}", "found": f"{found.sum()} of {len(found)}",
                    "taken": f"{wrong.sum()} of {len(wrong)}"}
            print(f"above {threshold:.2f}: {line}")
            lines.append(line)
        return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    found, scores = Data().train("resuming")
    if not arguments.check:
        model_file.save("resuming", found, data=[*ROWS, *SIGNALS], command="tools/train_resuming.py", folder=arguments.into, scores=scores)


if __name__ == "__main__":
    sys.exit(main())
