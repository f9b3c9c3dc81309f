"""Trains what tells which older sentences a message outdates (crates/models/src/update.rs), on pairs that
`memgate eval updates … --features` wrote:

    memgate eval updates testdata/reconcile/messages.jsonl --features target/own.pairs
    memgate eval updates testdata/reconcile/changes.jsonl --features target/changes.pairs
    cat testdata/ordinary/*.jsonl > target/ordinary.jsonl
    memgate eval updates target/ordinary.jsonl --features target/ordinary.pairs
    memgate eval updates testdata/scenarios/train.jsonl --features target/train.pairs
    memgate eval updates testdata/scenarios/adapter.jsonl --features target/adapter.pairs
    .assets/train/bin/python tools/train_updates.py target/{own,changes,ordinary,train,adapter}.pairs --write

Two logistic regressions: whether a message announces a change of anything, on its n-grams and passage vector, and
whether it outdates one older sentence, on `UpdateFeatures`, which hold the likelihood of an announcement as models see
it that did not see the message. Cross-validated with whole users left out; `--held` is measured with weights of the
others. `--write` writes the tensors `update.…`. The same input gives the same bytes.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

import model_file
from model_file import MODEL, ROOT, quantised, scalar
from rust_features import Exported, vectors

DATA = [
    *(ROOT / "testdata/reconcile" / name for name in ("messages.jsonl", "changes.jsonl")),
    *sorted((ROOT / "testdata/ordinary").glob("*.jsonl")),
    *(ROOT / "testdata/scenarios" / name for name in ("adapter.jsonl", "train.jsonl")),
]
# How much a pair counts. Written pairs are far more often over than what people say; of the changes in scenarios not all
# are labelled.
KINDS = {"pairs": 0.5, "changes": 0.5, "ordinary": 1.0, "scenarios": 0.3}
REGULARISATION = 1.0
# Of the announcements, and how much the vector counts beside the n-grams.
ANNOUNCED_REGULARISATION, VECTOR = 2.0, 3.0
FOLDS = 8
# A wrong replacement loses a true statement, a missed one leaves an old value beside the new: chosen from the table.
ENOUGH = 0.6
# The share of what is found that may be lost by not comparing messages that hardly announce anything.
MISSED = 0.03
# Stories contain more changes than their labels, which concern one question. These were found by reading what an
# earlier fit took for replaced: the beginnings of the older sentence and of the message.
ALSO_OVER = [
    ("Mi médico de cabecera es", "La doctora Ferrer se jubiló"),
    ("My savings goal is 6,000", "Kitchen quotes are in"),
    ("मेरी ट्यूशन क्लास", "ट्यूशन का समय"),
    ("My supervisor at the lab", "Big news, Dr Hartono"),
]

STORIES = {json.loads(line)["id"] for path in (ROOT / "testdata/ordinary").glob("*.jsonl") for line in path.open(encoding="utf-8")}


def kind(group):
    """What a group of rows is, by the names that `memgate eval updates` gives it."""
    if group.startswith(("pairs-", "changes-")):
        return group.split("-")[0]
    return "ordinary" if group in STORIES else "scenarios"


def read(paths):
    found = []
    for number, path in enumerate(paths):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            also = any(row["old"].startswith(old) and row["new"].startswith(new) for old, new in ALSO_OVER)
            of = kind(row["group"])
            # An older sentence stays in one fold with all messages near it.
            group = row["old"] if of == "pairs" else row["group"]
            row |= {"group": f"{number} {group}", "replaces": row["replaces"] or also, "kind": of}
            found.append(row)
    return found


class Announcements:
    """The messages of rows as numbers, and whether each of them announces a change."""

    def __init__(self, rows):
        texts = sorted({row["new"] for row in rows})
        place = {text: at for at, text in enumerate(texts)}
        self.of = np.array([place[row["new"]] for row in rows])
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
            file.flush()
            grams = Exported("need", [file.name]).grams()
        passages = vectors(texts)
        self.vectors = np.array([passages[text] for text in texts])
        self.grams = grams
        self.all = sparse.hstack([grams, sparse.csr_matrix(self.vectors * VECTOR)]).tocsr()
        self.changes = np.zeros(len(texts), bool)
        np.logical_or.at(self.changes, self.of, [row["replaces"] for row in rows])

    def model(self, rows):
        """Bias, weights of the n-grams and of the vector, fitted to the messages of rows."""
        at = np.unique(self.of[rows])
        model = LogisticRegression(C=ANNOUNCED_REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
        weights = model.fit(self.all[at], self.changes[at]).coef_[0]
        size = self.grams.shape[1]
        return float(model.intercept_[0]), weights[:size], weights[size:] * VECTOR

    def likely(self, model):
        """The likelihood for each row's message, as the program computes it."""
        bias, weights, dense = model
        small, step = quantised(weights)
        sums = bias + step * (self.grams @ small.astype(float)) + self.vectors @ dense
        return (1 / (1 + np.exp(-sums)))[self.of]


def features(rows, announced):
    """The features of rows as the program computes them for these likelihoods of an announcement."""
    names = [name for name, _ in rows[0]["features"]]
    values = np.array([[value for _, value in row["features"]] for row in rows])
    near = values[:, names.index("near")] + values[:, names.index("near_untrusted")]
    share = np.clip(announced, 1e-6, 1 - 1e-6)
    for name, value in (
        ("announced", announced),
        ("announced_odds", np.log(share / (1 - share)) / 10),
        ("near_if_announced", announced * near),
        ("rank_if_announced", announced * values[:, names.index("rank")]),
    ):
        values[:, names.index(name)] = value
    return values


def likelihood(model, values, rows):
    """What the code takes for likely: rules exclude some, and there it says 0."""
    return np.where([row["excluded"] for row in rows], 0.0, model.predict_proba(values)[:, 1])


def fitted(values, rows):
    over = np.array([row["replaces"] for row in rows])
    weights = np.array([KINDS[row["kind"]] for row in rows])
    return LogisticRegression(C=REGULARISATION, max_iter=5000).fit(values, over, sample_weight=weights)


def told(name, rows, likely):
    """Prints what is found from which likelihood on, and gives what is found in use as scores."""
    scores = []
    over = np.array([row["replaces"] for row in rows])
    kinds = np.array([row["kind"] for row in rows])
    for of in KINDS:
        some = kinds == of
        if not some.any():
            continue
        print(f"{name}, {of}: {some.sum()} pairs, {(some & over).sum()} of them over")
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            said = likely >= least
            found, wrongly = int((some & said & over).sum()), int((some & said & ~over).sum())
            print(f"  from {least}: found {found}, wrongly {wrongly}")
            if least == ENOUGH:
                what = f"{of}, {some.sum()} pairs, {(some & over).sum()} outdated, {name}"
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
    groups = np.array([row["group"] for row in rows])
    messages = Announcements(rows)
    folds = list(GroupKFold(FOLDS).split(rows, groups=groups))
    announced, likely = np.zeros(len(rows)), np.zeros(len(rows))
    for fit, left in folds:
        announced[left] = messages.likely(messages.model(fit))[left]
    values = features(rows, announced)
    for fit, left in folds:
        model = fitted(values[fit], [rows[at] for at in fit])
        likely[left] = likelihood(model, values[left], [rows[at] for at in left])
    scores = told("cross-validated", rows, likely)
    announces = messages.model(np.arange(len(rows)))
    model = fitted(values, rows)
    least = float(np.quantile(announced[likely >= ENOUGH], MISSED))
    print(f"announced from {least:.3f} on: {(announced >= least).mean():.1%} of the pairs")
    if args.held:
        held = read(args.held)
        likely = Announcements(held).likely(announces)
        scores += told("held out", held, likelihood(model, features(held, likely), held))
    if args.write:
        write(announces, least, model, [name for name, _ in rows[0]["features"]], scores, args.into)


def write(announces, least, model, names, scores, folder):
    bias, grams, dense = announces
    tensors = model_file.linear("update.announces", bias, grams, dense) | {
        "update.announces.least": scalar(float(f"{least:.3f}")),
        "update.weights": np.array([float(f"{weight:.2f}") for weight in model.coef_[0]], np.float32),
        "update.bias": scalar(float(f"{model.intercept_[0]:.2f}")),
        # The likelihood from which on an older sentence is outdated.
        "update.threshold": scalar(ENOUGH),
    }
    command = "tools/train_updates.py OWN.pairs CHANGES.pairs ORDINARY.pairs TRAIN.pairs ADAPTER.pairs --write"
    metadata = {"features": " ".join(names)}
    model_file.save("update", tensors, data=DATA, command=command, folder=folder, metadata=metadata, scores=scores)


if __name__ == "__main__":
    main()
