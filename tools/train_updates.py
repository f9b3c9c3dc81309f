#!/usr/bin/env python3
"""Trains the model that decides whether a message makes an older sentence outdated (crates/models/src/update.rs).

    memgate eval updates testdata/scenarios/train.jsonl --features target/train.pairs      # adapter, dev likewise
    memgate eval updates testdata/reconcile/messages.jsonl --features target/own.pairs
    python tools/train_updates.py target/own.pairs target/train.pairs target/adapter.pairs [--held target/dev.pairs] [--write]

The first file holds near misses beside what they miss; the others every message of a story beside every sentence of
its earlier sessions, of which very few are over. A logistic regression on `UpdateFeatures`. Cross-validated with whole
stories left out; `--held` is measured with weights of the others. `--write` writes the tensors `update.…`. The same
input gives the same bytes.
"""

import argparse
import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

import model_file
from model_file import MODEL, ROOT, scalar

DATA = [ROOT / name for name in ("testdata/reconcile/messages.jsonl", "testdata/scenarios/adapter.jsonl", "testdata/scenarios/train.jsonl")]
# Pairs of the first file are far more often over than what people say is.
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
    features = np.array([[value for _, value in row["features"]] for row in rows])
    over = np.array([row["replaces"] for row in rows])
    weights = np.where([row["own"] for row in rows], OWN_WEIGHT, 1.0)
    return LogisticRegression(C=REGULARISATION, max_iter=5000).fit(features, over, sample_weight=weights)


def likelihood(model, rows):
    """What the code takes for likely: rules exclude some, and there it says 0."""
    likely = model.predict_proba(np.array([[value for _, value in row["features"]] for row in rows]))[:, 1]
    return np.where([row["excluded"] for row in rows], 0.0, likely)


def told(name, rows, likely):
    """Prints what is found from which likelihood on, and gives what is found in use as scores."""
    scores = []
    over = np.array([row["replaces"] for row in rows])
    own = np.array([row["own"] for row in rows])
    for kind, some in (("stories", ~own), ("near misses", own)):
        if not some.any():
            continue
        print(f"{name}, {kind}: {some.sum()} pairs, {(some & over).sum()} of them over")
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            said = likely >= least
            found, wrongly = int((some & said & over).sum()), int((some & said & ~over).sum())
            print(f"  from {least}: found {found}, wrongly {wrongly}")
            if least == ENOUGH:
                what = f"{kind}, {some.sum()} pairs, {(some & over).sum()} outdated, {name}"
                scores.append({"set": what, "found": found, "superseded_wrongly": wrongly})
    return scores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--held", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    args = parser.parse_args()
    rows = read(args.files)
    likely = np.zeros(len(rows))
    groups = np.array([row["group"] for row in rows])
    for fit, left in GroupKFold(FOLDS).split(rows, groups=groups):
        model = fitted([rows[at] for at in fit])
        likely[left] = likelihood(model, [rows[at] for at in left])
    scores = told("cross-validated", rows, likely)
    model = fitted(rows)
    if args.held:
        held = read(args.held)
        scores += told("held out", held, likelihood(model, held))
    if args.write:
        write(model, [name for name, _ in rows[0]["features"]], scores, args.into)


def write(model, names, scores, folder):
    tensors = {
        "update.weights": np.array([float(f"{weight:.2f}") for weight in model.coef_[0]], np.float32),
        "update.bias": scalar(float(f"{model.intercept_[0]:.2f}")),
        # The likelihood from which on an older sentence is outdated.
        "update.threshold": scalar(ENOUGH),
    }
    command = "tools/train_updates.py OWN.pairs TRAIN.pairs ADAPTER.pairs --write"
    metadata = {"features": " ".join(names)}
    model_file.save("update", tensors, data=DATA, command=command, folder=folder, metadata=metadata, scores=scores)


if __name__ == "__main__":
    main()
