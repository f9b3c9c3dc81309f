#!/usr/bin/env python3
"""Trains the model that detects when a message replaces an older sentence (src/capture/reconcile/compare/weights.rs).

    memgate eval updates testdata/scenarios/train.jsonl --features target/train.pairs      # adapter, dev likewise
    memgate eval updates testdata/reconcile/messages.jsonl --features target/own.pairs
    python tools/train_updates.py target/own.pairs target/train.pairs target/adapter.pairs [--held target/dev.pairs] [--write]

The first file holds replacements and near misses; the others pair every message of a story with every sentence of its
earlier sessions, of which very few are replaced. The model is a logistic regression on the features of
compare/signs.rs. It is cross-validated with whole stories left out; `--held` is measured with weights of the others. The same input gives the same constants.
"""

import argparse
import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

TARGET = pathlib.Path(__file__).parent.parent / "src/capture/reconcile/compare/weights.rs"
# In the first file far more sentences are replaced than in what people say.
OWN_WEIGHT = 0.5
REGULARISATION = 1.0
FOLDS = 8
# A wrong replacement loses a true statement, a missed one leaves an old value beside the new: chosen from the table.
ENOUGH = 0.6
# Stories contain more changes than their labels, which concern one question. These were found by reading what an
# earlier fit took for replaced: the beginnings of the older sentence and of the message.
ALSO_OVER = [
    ("Mi médico de cabecera es", "La doctora Ferrer se jubiló"),
    ("My savings goal is 6,000", "Kitchen quotes are in"),
    ("मेरी ट्यूशन क्लास", "ट्यूशन का समय"),
    ("My supervisor at the lab", "Big news, Dr Hartono"),
]


def read(paths):
    found = []
    for number, path in enumerate(paths):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            also = any(row["old"].startswith(old) and row["new"].startswith(new) for old, new in ALSO_OVER)
            # An older sentence stays in one fold with all messages near it.
            own = row["group"].startswith("pairs-")
            group = row["old"] if own else row["group"]
            row |= {"group": f"{number} {group}", "replaces": row["replaces"] or also, "own": own}
            found.append(row)
    return found


def fitted(rows):
    signs = np.array([row["signs"] for row in rows])
    over = np.array([row["replaces"] for row in rows])
    weights = np.where([row["own"] for row in rows], OWN_WEIGHT, 1.0)
    return LogisticRegression(C=REGULARISATION, max_iter=5000).fit(signs, over, sample_weight=weights)


def likelihood(model, rows):
    """The likelihood that the code computes; 0 where a rule excludes the pair."""
    likely = model.predict_proba(np.array([row["signs"] for row in rows]))[:, 1]
    return np.where([row["excluded"] for row in rows], 0.0, likely)


def told(name, rows, likely):
    over = np.array([row["replaces"] for row in rows])
    own = np.array([row["own"] for row in rows])
    for kind, some in (("stories", ~own), ("near misses", own)):
        if not some.any():
            continue
        print(f"{name}, {kind}: {some.sum()} pairs, {(some & over).sum()} of them over")
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            said = likely >= least
            print(f"  from {least}: found {(some & said & over).sum()}, wrongly {(some & said & ~over).sum()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--held", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = read(args.files)
    likely = np.zeros(len(rows))
    groups = np.array([row["group"] for row in rows])
    for fit, left in GroupKFold(FOLDS).split(rows, groups=groups):
        model = fitted([rows[at] for at in fit])
        likely[left] = likelihood(model, [rows[at] for at in left])
    told("cross-validated", rows, likely)
    model = fitted(rows)
    if args.held:
        held = read(args.held)
        told("held out", held, likelihood(model, held))
    if args.write:
        write(model)


def write(model):
    numbers = [f"{weight:.2f}" for weight in model.coef_[0]]
    lines = [", ".join(numbers[at : at + 10]) for at in range(0, len(numbers), 10)]
    body = "".join(f"    {line},\n" for line in lines)
    TARGET.write_text(
        "//! What the signs of a replacement weigh. Written by tools/train_updates.py; docs/quality.md tells\n"
        "//! what they are worth.\n\n"
        "use super::signs::SIGNS;\n\n"
        "/// The weight of each sign, in its order.\n"
        f"#[rustfmt::skip]\npub(super) const WEIGHTS: [f32; SIGNS] = [\n{body}];\n"
        "/// Added to every sum.\n"
        f"pub(super) const BIAS: f32 = {model.intercept_[0]:.2f};\n"
        "/// The likelihood from which on an older sentence holds no longer.\n"
        f"pub(in crate::capture::reconcile) const ENOUGH: f32 = {ENOUGH:.2f};\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
