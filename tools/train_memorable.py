#!/usr/bin/env python3
"""Trains the model that picks statements worth keeping (src/capture/extract/local/).

    python tools/train_memorable.py [--check] [--models .assets/models/all-MiniLM-L6-v2]

Reads testdata/memorable/*.jsonl, src/classify/cues.txt and rules.txt; writes weights.bin and its digest beside
them, and testdata/memorable/parity.json, with which a test compares the program's figures.
--check only cross-validates: it prints F1 with the rules and writes nothing.

The model: logistic regression on hashed n-grams of words and letters, on cues (alone and in pairs),
and on the sentence vector of the embedder that memgate uses. Three weight vectors: `memorable`;
`words`, the same without the sentence vector, for other embedders; `procedural`, which decides the
type. The same input gives the same bytes.
"""

import argparse
import hashlib
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score

from classify import BITS, DIMENSION, ROOT, VECTOR, Cues, Embedder, features, matrix, plain, quantised, sections

DATA = ROOT / "testdata/memorable"
HOME = ROOT / "src/capture/extract/local"

# A message is kept above the first; a clause before a question, above the second.
THRESHOLD, CLAUSE_THRESHOLD = 0.45, 0.7
REGULARISATION = 1.0
FOLDS, BLOCK = 5, 8  # near-minimal pairs stand beside each other and stay in one fold

class Rules:
    DROP = ("secret", "injection", "forgery", "no_store")
    NOT = ("hypothetical", "quoted", "code", "fiction")

    def __init__(self):
        self.patterns = {n: [re.compile(p) for p in ps] for n, ps in sections(HOME / "rules.txt").items()}

    def any(self, names, text):
        text = plain(text.strip())
        return any(p.search(text) for n in names for p in self.patterns[n])


def clauses(text):
    """The part of each question before its last clause."""
    found = []
    for sentence in sentences(text):
        parts = re.split(r"[,;:—–，、；：]| - |(?=¿)", sentence)
        before = sentence[: len(sentence) - len(parts[-1])].rstrip(",;:—–，、；： -")
        if len(parts) > 1 and before.strip() and re.search("[?？؟]", parts[-1]):
            found.append(before.strip())
    return found


def sentences(text):
    found, start = [], 0
    ends = ".!?…。！？؟।\n"
    for i, c in enumerate(text):
        following = text[i + 1 : i + 2]
        if c == ".":
            end = not following or following.isspace()
        else:
            end = c in ends and following not in tuple(ends)
        if end:
            found.append(text[start : i + 1].strip())
            start = i + 1
    found.append(text[start:].strip())
    return [s for s in found if any(c.isalnum() for c in s)]


def fit(x, y):
    model = LogisticRegression(C=REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
    return model.fit(x, y)


def rows():
    found = []
    for file in sorted(DATA.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            found.append({**row, "file": file.stem, "group": (file.stem, number // BLOCK)})
    return found


def check(all_rows, grams, vectors, cues, embed):
    """Cross-validated F1 with the rules, by file."""
    rules = Rules()
    x = sparse.hstack([grams, sparse.csr_matrix(vectors * VECTOR)]).tocsr()
    y = np.array([row["memorable"] for row in all_rows])
    texts = [row["text"] for row in all_rows]
    before = [clauses(text) for text in texts]
    flat = sorted({c for cs in before for c in cs if not rules.any(Rules.NOT, c)})
    at = {c: i for i, c in enumerate(flat)}
    extra = np.array([embed(c) for c in flat])
    xc = sparse.hstack([matrix(cues, flat), sparse.csr_matrix(extra * VECTOR)]).tocsr()
    dropped = np.array([rules.any(Rules.DROP, t) for t in texts])
    excluded = np.array([rules.any(Rules.NOT, t) for t in texts])
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
            good = model.predict_proba(xc)[:, 1] > CLAUSE_THRESHOLD
            clause = np.array([any(good[at[c]] for c in cs if c in at) for cs in before])
            part = fold == k
            keep[part] = ((whole & ~excluded) | clause)[part] & ~dropped[part]
        kept.append(keep)
    files = np.array([row["file"] for row in all_rows])
    for name in [None, *sorted(set(files))]:
        some = files == name if name else np.ones(len(y), bool)
        scores = [np.mean([f(y[some], k[some]) for k in kept]) for f in (f1_score, precision_score, recall_score)]
        print(f"{name or 'all':<12} rows {some.sum():5} F1 {scores[0]:.3f} precision {scores[1]:.3f} recall {scores[2]:.3f}")


def packed(models):
    """The file: magic, bits, dimension, two thresholds; then of each model bias, step, vector
    and weights, all little-endian."""
    out = [b"MGSTMT01", struct.pack("<IIff", BITS, DIMENSION, THRESHOLD, CLAUSE_THRESHOLD)]
    for bias, vector, weights in models:
        small, step = quantised(weights)
        out += [struct.pack("<ff", bias, step), vector.astype("<f4").tobytes(), small.tobytes()]
    return b"".join(out)


def probability(model, values, vector):
    bias, vector_weights, weights = model
    small, step = quantised(weights)
    score = bias + float(vector_weights @ vector)
    score += sum(value * float(small[b]) * step for b, value in values.items())
    return 1 / (1 + np.exp(-score))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--models", type=Path, default=ROOT / ".assets/models/all-MiniLM-L6-v2")
    arguments = arguments.parse_args()
    cues, embed, all_rows = Cues(), Embedder(arguments.models), rows()
    texts = [row["text"].strip() for row in all_rows]
    grams, vectors = matrix(cues, texts), np.array([embed(text) for text in texts])
    if arguments.check:
        check(all_rows, grams, vectors, cues, embed)
        return
    both = sparse.hstack([grams, sparse.csr_matrix(vectors * VECTOR)]).tocsr()
    memorable = np.array([row["memorable"] for row in all_rows])
    procedural = np.array([row["type"] == "procedural" for row in all_rows])
    size, none = 1 << BITS, np.zeros(DIMENSION)
    models = []
    for x, y in [(both, memorable), (grams, memorable), (both[memorable], procedural[memorable])]:
        model = fit(x, y)
        weights = model.coef_[0]
        vector = weights[size:] * VECTOR if len(weights) > size else none
        models.append((model.intercept_[0], vector, weights[:size]))
    data = packed(models)
    (HOME / "weights.bin").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    (HOME / "weights.sha256").write_text(digest + "\n")
    sample = all_rows[:: len(all_rows) // 60]
    parity = []
    for row in sample:
        text = row["text"].strip()
        values, vector = features(cues, text), embed(text)
        figures = [round(float(probability(m, values, vector)), 6) for m in models]
        parity.append({"text": text, "features": len(values), "memorable": figures[0], "words": figures[1], "procedural": figures[2]})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in parity)
    (DATA / "parity.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(all_rows)} rows, {len(data)} bytes, sha256 {digest}")


if __name__ == "__main__":
    sys.exit(main())
