#!/usr/bin/env python3
"""Trains the model that tells statements worth keeping (src/capture/extract/local/).

    python tools/train_memorable.py [--check] [--models .assets/models/all-MiniLM-L6-v2]

Reads testdata/memorable/*.jsonl, cues.txt and rules.txt; writes weights.bin and its digest beside
them, and testdata/memorable/parity.json, with which a test compares the product's figures.
--check only cross-validates: it prints F1 with the rules and writes nothing.

The model: logistic regression on hashed n-grams of words and letters, on cues (alone and in pairs),
and on the sentence vector of the embedder that memgate uses. Three weight vectors: `memorable`;
`words`, the same without the sentence vector, for other embedders; `procedural`, which tells the
type. The same input gives the same bytes.
"""

import argparse
import hashlib
import json
import re
import struct
import sys
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "testdata/memorable"
HOME = ROOT / "src/capture/extract/local"

BITS = 17  # of the hash: 131,072 weights a vector
DIMENSION = 384
MAX_TOKENS = 256
# How much each kind of feature counts, before the model weighs it.
NGRAMS, CUES, PAIRS, VECTOR = 12.0, 1.2, 1.2, 4.0
# A message is kept above the first; a clause before a question, above the second.
THRESHOLD, CLAUSE_THRESHOLD = 0.45, 0.7
REGULARISATION = 1.0
FOLDS, BLOCK = 5, 8  # near-minimal pairs stand beside each other and stay in one fold

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def plain(text):
    """One form for what looks the same: NFKC, lower case, straight apostrophes."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub("[’‘`]", "'", text)


def tokens(plain_text):
    """Words without apostrophes, digits as 0; Chinese and Japanese characters and marks singly."""
    out, word = [], ""
    for c in re.sub(r"\d", "0", plain_text).replace("'", ""):
        if CJK.match(c) or unicodedata.category(c)[0] not in "LMN":
            if word:
                out.append(word)
                word = ""
            if not c.isspace():
                out.append(c)
        else:
            word += c
    return out + [word] if word else out


def sections(file):
    found, name = {}, None
    for line in (HOME / file).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("# ") or line == "#":
            continue
        if heading := re.fullmatch(r"\[([a-z_]+)\]", line):
            found[name := heading[1]] = []
        else:
            found[name].append(line)
    return found


class Cues:
    def __init__(self):
        self.phrases, self.prefixes, self.parts = {}, [], []
        for name, lines in sections("cues.txt").items():
            for entry in (e.strip() for line in lines for e in line.split("|")):
                entry = plain(entry)
                if not entry:
                    continue
                if CJK.search(entry):
                    self.parts.append((entry, name))
                elif entry.endswith("*"):
                    self.prefixes.append((entry[:-1], name))
                else:
                    self.phrases.setdefault(tuple(tokens(entry)), set()).add(name)
        self.longest = max(map(len, self.phrases))

    def find(self, text, words):
        """Names of the cues in a text, and of those it begins with."""
        found, first = set(), set()
        for at in range(len(words)):
            for end in range(at + 1, min(at + self.longest, len(words)) + 1):
                names = self.phrases.get(tuple(words[at:end]), ())
                found.update(names)
                if at == 0:
                    first.update(names)
            for prefix, name in self.prefixes:
                if words[at].startswith(prefix):
                    found.add(name)
                    if at == 0:
                        first.add(name)
        for part, name in self.parts:
            where = text.find(part)
            if where >= 0:
                found.add(name)
                if where == 0:
                    first.add(name)
        return sorted(found), sorted(first)


SHAPES = [
    ("ask", r"[?؟]"),
    ("ask_last", r"^¿|[?؟][\s\"'”’)»!.]*$"),
    ("quote_first", r"^[\"“„«「『']"),
    ("quote", r"[\"“”„«»「」『』]"),
    ("colon", r":"),
    ("code", r"[{}<>;=]|[a-z0-9_]\(|```|//|#"),
    ("digit", r"[0-9]"),
    ("digits", r"[0-9][0-9 -]{2,}[0-9]"),
    ("cry", r"!"),
    ("mixed", r"[a-z][^\s]*[0-9][^\s]*[a-z]|[a-z0-9][_#@!$&][a-z0-9]"),
    ("lines", r"\n"),
]
SHAPES = [(name, re.compile(pattern)) for name, pattern in SHAPES]
NAME = re.compile(r"[^\s]\s+[A-ZÀ-Þ][a-zß-ÿ]")
LENGTHS = (3, 5, 8, 12, 18, 30)


def shapes(text, plain_text, words):
    found = [name for name, pattern in SHAPES if pattern.search(plain_text)]
    if NAME.search(text):
        found.append("name")
    found.append(f"length{sum(len(words) >= bound for bound in LENGTHS)}")
    sentences = [s for s in re.split(r"[.!?。\n]+", plain_text) if s.strip()]
    found.append(f"sentences{min(len(sentences), 4)}")
    return found


def bucket(feature):
    """FNV-1a, folded."""
    h = 0x811C9DC5
    for byte in feature.encode():
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (h ^ (h >> 15)) & ((1 << BITS) - 1)


def features(cues, text):
    """Bucket to value."""
    text = text.strip()
    low = plain(text)
    words = tokens(low)
    grams = set()
    framed = ["<s>", *words, "</s>"]
    for n in (1, 2, 3):
        grams.update("w " + " ".join(framed[i : i + n]) for i in range(len(framed) - n + 1))
    for word in words:
        word = f"_{word}_"
        for n in (3, 4, 5):
            grams.update("c " + word[i : i + n] for i in range(len(word) - n + 1))
    buckets = sorted({bucket(gram) for gram in grams})
    values = dict.fromkeys(buckets, NGRAMS / len(buckets) ** 0.5)
    found, first = cues.find(low, words)
    marks = found + shapes(text, low, words)
    for name in [f"q {mark}" for mark in marks] + [f"q0 {name}" for name in first]:
        values[bucket(name)] = values.get(bucket(name), 0.0) + CUES
    for i, one in enumerate(marks):
        for other in marks[i + 1 :]:
            b = bucket(f"p {one} {other}")
            values[b] = values.get(b, 0.0) + PAIRS
    return values


class Rules:
    DROP = ("secret", "injection", "no_store")
    NOT = ("hypothetical", "quoted", "code", "fiction")

    def __init__(self):
        self.patterns = {n: [re.compile(p) for p in ps] for n, ps in sections("rules.txt").items()}

    def any(self, names, text):
        text = plain(text.strip())
        return any(p.search(text) for n in names for p in self.patterns[n])


def clauses(text):
    """Of each question, what stands before its last clause."""
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


class Embedder:
    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"), options)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, text):
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[: MAX_TOKENS - 2]
        ids = np.array([[101, *ids, 102]], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        return self.session.run(None, inputs)[0][0]


def matrix(cues, texts):
    rows = [sorted(features(cues, text).items()) for text in texts]
    indices = [b for row in rows for b, _ in row]
    data = [v for row in rows for _, v in row]
    starts = np.cumsum([0] + [len(row) for row in rows])
    return sparse.csr_matrix((data, indices, starts), shape=(len(texts), 1 << BITS))


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


def quantised(weights):
    """Bytes and the step between two of them."""
    step = float(np.float32(np.abs(weights).max() / 127))
    return np.clip(np.round(weights / step), -127, 127).astype(np.int8), step


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
