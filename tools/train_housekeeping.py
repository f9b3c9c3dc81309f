#!/usr/bin/env python3
"""Trains what tells a client's own prompts from what people type (crates/models/src/message/housekeeping.rs).

    python tools/train_housekeeping.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/housekeeping/*.jsonl, the wishes of testdata/preferences as near misses ("answer in German from now on"), and the
messages of testdata/signals, testdata/profiles and testdata/messages as what people type.
Writes the tensors `housekeeping.…`. --check only cross-validates.

Two logistic regressions: `whole` on hashed n-grams and on the embedder's inner layers and vector, `words` on the n-grams
alone. A message that is taken for a prompt is neither learned from nor searched for, so a threshold is the lowest at which
at most NEAR of the near misses, TYPED of testdata/messages and PEOPLE of the other messages pass. Equal input gives equal bytes.
"""

import argparse
import json
import sys

import numpy as np

import model_file
from messages import FOLDS, Judged, fit
from model_file import MODEL, ROOT
from train_reader import MESSAGES, joined, labelled
from train_signals import BLOCK, rows as signals

FILES = sorted((ROOT / "testdata/housekeeping").glob("*.jsonl"))
WISHES = sorted((ROOT / "testdata/preferences").glob("*.jsonl"))
# The shares of what people type that may be taken for a prompt.
NEAR, PEOPLE, TYPED = 0.02, 0.001, 0.003


class Data(Judged):
    """The rows as numbers."""

    def __init__(self):
        rows = []
        for file in FILES:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
                row = json.loads(line)
                rows.append({**row, "text": row["text"].strip(), "group": (row["lang"], number // BLOCK)})
        for file in WISHES:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
                row = json.loads(line)
                if row["is"] or row.get("topic"):
                    rows.append({"text": row["text"], "lang": row["lang"], "housekeeping": False, "kind": "near",
                                      "group": ("wishes", row["lang"], number // BLOCK)})
        people = [{"text": row["text"], "housekeeping": False, "kind": "people", "group": row["group"]} for row in signals()]
        # Long messages of lists, orders and pasted text are nearest to a client's.
        typed = [{"text": row["text"], "lang": row["lang"], "housekeeping": False, "kind": "typed", "group": row["group"]}
                 for row in joined(labelled()) if row["kind"] != "template"]
        super().__init__(rows + people + typed, "housekeeping")
        self.kinds = np.array([row["kind"] for row in self.rows])

    def by_others(self, x):
        """For each row the probability by a model that did not see its fold."""
        groups = sorted({str(row["group"]) for row in self.rows})
        order = np.random.RandomState(0).permutation(len(groups))
        fold_of = {groups[g]: i % FOLDS for i, g in enumerate(order)}
        fold = np.array([fold_of[str(row["group"])] for row in self.rows])
        found = np.zeros(len(self.rows))
        for k in range(FOLDS):
            found[fold == k] = fit(x[fold != k], self.is_so[fold != k]).predict_proba(x[fold == k])[:, 1]
        return found

    def threshold(self, likely):
        def passing(step):
            of = lambda some: (likely[some] > step).mean()
            least = of(self.kinds == "near") <= NEAR and of(self.kinds == "people") <= PEOPLE
            return least and of(self.kinds == "typed") <= TYPED

        return float(next(step for step in np.arange(5, 100) / 100 if passing(step)))

    def told(self, name, likely, threshold):
        taken = likely > threshold
        share = lambda some: f"{100 * taken[some].mean():.1f}% of {some.sum()}"
        print(f"{name} above {threshold:.2f}: prompts {share(self.is_so)}, near misses {share(self.kinds == 'near')},"
              f" testdata/messages {share(self.kinds == 'typed')}, other messages {share(self.kinds == 'people')}")
        one_line = self.is_so & np.array(["\n" not in row["text"] for row in self.rows])
        print(f"  prompts of one line {share(one_line)}")
        for kind in sorted(set(self.kinds) - {"near", "people", "typed"}):
            print(f"  {kind:<12} {share(self.kinds == kind)}")
        for lang in sorted({row["lang"] for row in self.rows if "lang" in row}):
            some = np.array([row.get("lang") == lang for row in self.rows])
            print(f"  {lang:<12} {share(some & self.is_so)}, near misses {share(some & (self.kinds == 'near'))}")
        return [{
            "set": f"testdata/housekeeping, cross-validated, {name}",
            "prompts_found": share(self.is_so),
            "near_misses_taken": share(self.kinds == "near"),
            "typed_messages_taken": share(self.kinds == "typed"),
            "other_messages_taken": share(self.kinds == "people"),
        }]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    found, scores = Data().train("housekeeping")
    if not arguments.check:
        command = "tools/train_housekeeping.py"
        model_file.save("housekeeping", found, data=[*FILES, *WISHES, *MESSAGES], command=command, folder=arguments.into, scores=scores)


if __name__ == "__main__":
    sys.exit(main())
