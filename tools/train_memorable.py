#!/usr/bin/env python3
"""Trains the model that decides which statements are worth keeping (crates/models/src/memorable.rs).

    python tools/train_memorable.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/memorable/*.jsonl; writes the tensors `memorable.…` and, into the project's own folder,
testdata/memorable/parity.json, with which a test compares the program's figures.
--check only cross-validates: it prints F1 with the rules and writes nothing.

The model: logistic regression on hashed n-grams of words and letters, on cues (alone and in pairs),
and on the sentence vector of the embedder that memgate uses. Three weight vectors: `keep`;
`words`, the same without the sentence vector, for other embedders; `procedural`, which gives the
type. The same input gives the same bytes.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score

import model_file
from model_file import MODEL, ROOT, quantised, scalar
from rust_features import Exported

DATA = ROOT / "testdata/memorable"
FILES = sorted(DATA.glob("*.jsonl"))

# A message is kept above the first; a clause before a question, above the second.
THRESHOLD, CLAUSE_THRESHOLD = 0.45, 0.7
REGULARISATION = 1.0
FOLDS, BLOCK = 5, 8  # near-minimal pairs stand beside each other and stay in one fold
VECTOR = 4.0  # how much the sentence vector counts


def fit(x, y):
    model = LogisticRegression(C=REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
    return model.fit(x, y)


def rows():
    found = []
    for file in FILES:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            found.append({**row, "file": file.stem, "group": (file.stem, number // BLOCK)})
    return found


def with_vectors(grams, vectors):
    return sparse.hstack([grams, sparse.csr_matrix(vectors * VECTOR)]).tocsr()


def check(all_rows, exported):
    """Cross-validated F1 with the rules, by file."""
    x = with_vectors(exported.grams(), exported["vectors"])
    y = np.array([row["memorable"] for row in all_rows])
    # What questions tell before they ask, and of which rows.
    xt, told = with_vectors(exported.grams("told."), exported["told.vectors"]), exported["told.row"]
    dropped, excluded = (exported[name].astype(bool) for name in ("dropped", "excluded"))
    groups = sorted({row["group"] for row in all_rows})
    kept = []
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(len(groups))
        fold_of = {groups[g]: i % FOLDS for i, g in enumerate(order)}
        fold = np.array([fold_of[row["group"]] for row in all_rows])
        keep = np.zeros(len(y), bool)
        for k in range(FOLDS):
            model = fit(x[fold != k], y[fold != k])
            whole = model.predict_proba(x)[:, 1] > THRESHOLD
            clause = np.zeros(len(y), bool)
            clause[told[model.predict_proba(xt)[:, 1] > CLAUSE_THRESHOLD]] = True
            part = fold == k
            keep[part] = ((whole & ~excluded) | clause)[part] & ~dropped[part]
        kept.append(keep)
    files = np.array([row["file"] for row in all_rows])
    for name in [None, *sorted(set(files))]:
        some = files == name if name else np.ones(len(y), bool)
        scores = [np.mean([f(y[some], k[some]) for k in kept]) for f in (f1_score, precision_score, recall_score)]
        print(f"{name or 'all':<12} rows {some.sum():5} F1 {scores[0]:.3f} precision {scores[1]:.3f} recall {scores[2]:.3f}")


def probabilities(model, grams, vectors):
    """Of rows, as the program computes them."""
    bias, vector_weights, weights = model
    small, step = quantised(weights)
    score = bias + step * (grams @ small.astype(float)) + vectors @ vector_weights
    return 1 / (1 + np.exp(-score))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    all_rows, exported = rows(), Exported("memorable", FILES)
    if arguments.check:
        check(all_rows, exported)
        return
    grams, vectors = exported.grams(), exported["vectors"]
    both = with_vectors(grams, vectors)
    memorable = np.array([row["memorable"] for row in all_rows])
    procedural = np.array([row["type"] == "procedural" for row in all_rows])
    size, none = grams.shape[1], np.zeros(vectors.shape[1])
    models = {}
    for name, x, y in [
        ("keep", both, memorable),
        ("words", grams, memorable),
        ("procedural", both[memorable], procedural[memorable]),
    ]:
        model = fit(x, y)
        weights = model.coef_[0]
        vector = weights[size:] * VECTOR if len(weights) > size else none
        models[name] = (model.intercept_[0], vector, weights[:size])
    found = {"memorable.threshold": scalar(THRESHOLD), "memorable.clause_threshold": scalar(CLAUSE_THRESHOLD)}
    for name, (bias, vector, weights) in models.items():
        found |= model_file.linear(f"memorable.{name}", bias, weights, vector if vector.any() else None)
    model_file.save("memorable", found, data=FILES, command="tools/train_memorable.py", folder=arguments.into)
    if arguments.into == MODEL:
        figures = {name: probabilities(model, grams, vectors) for name, model in models.items()}
        sample = range(0, len(all_rows), len(all_rows) // 60)
        model_file.write_parity(DATA / "parity.json", [row["text"].strip() for row in all_rows], grams, figures, sample)


if __name__ == "__main__":
    sys.exit(main())
