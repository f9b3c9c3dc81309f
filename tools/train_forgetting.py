#!/usr/bin/env python3
"""Trains what notices a request to forget in free words, and tells which of the older sentences it means
(crates/models/src/pairs/forgetting.rs).

    python tools/train_forgetting.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/forgetting/*.jsonl and testdata/messages/*.jsonl (sentences that ask to forget), testdata/ordinary/*.jsonl
and testdata/conversations/*.jsonl (sentences that do not, and requests among much that was told); writes the tensors
`forgetting.…`. --check only cross-validates, with whole users left out, and writes nothing.

Two logistic regressions: whether a sentence asks, by its n-grams and by what the reader sees of it within its message; and
whether it means an older sentence, by how near that is among the others, and by the passage vectors of both. A request
is embedded with the sentence before it, which often names what "it" is.
"""

import argparse
import json
import sys
import tempfile

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

import model_file
from model_file import MODEL, ROOT, scalar
from rust_features import Exported, pieces, vectors

FORGETTING = [path for name in ("", "further") for path in sorted((ROOT / "testdata/forgetting" / name).glob("*.jsonl"))]
MESSAGES = sorted((ROOT / "testdata/messages").glob("*.jsonl"))
CONVERSATIONS = [path for name in ("ordinary", "conversations") for path in sorted((ROOT / "testdata" / name).glob("*.jsonl"))]
# How much the reader's numbers count beside n-grams, and the regressions' strengths.
READINGS, ASKS, PAIRS = 8.0, 10.0, 1e-3
# As crates/models/src: standardised numbers further from the mean say no more; keeps deviations of near cosines in bounds.
FARTHEST, LEAST_DEVIATION = 8.0, 0.05
# A sentence asks from the first likelihood on, and means an older one from the second: a wrong forgetting costs as much
# as a missed one, though it can be undone for a while.
THRESHOLDS = {"asks": 0.5, "means": 0.5}
FOLDS = 8


def rows(*files):
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def messages():
    """Messages with the parts that ask to forget, and for requests what was told before and is meant."""
    found = []
    for row in rows(*FORGETTING):
        *told, last = [turn for session in row["sessions"] for turn in session["turns"]]
        olds = [part for turn in told for part in turn["keep"]]
        found += [{"text": turn["user"], "asks": [], "group": row["id"], "set": "told"} for turn in told]
        found.append({"text": last["user"], "asks": last["asks"], "group": row["id"], "set": "forgetting", "olds": olds,
                      "forgets": last["forgets"]})
    for row in rows(*MESSAGES):
        for turn in row["turns"]:
            asks = [part["t"].strip() for part in turn["user"] if part["a"] == "forget" and part["w"] == "own"]
            text = "".join(part["t"] for part in turn["user"])
            found.append({"text": text, "asks": asks, "group": row["id"], "set": "messages"})
    for row in rows(*CONVERSATIONS):
        olds = []
        for turn in (turn for session in row["sessions"] for turn in session["turns"]):
            # Which of its sentences asks nobody marked.
            of = {"asks": None, "olds": list(olds), "forgets": turn["forgets"]} if turn.get("forgets") else {"asks": []}
            found.append({"text": turn["user"], "group": row["id"], "set": "conversations", **of})
            olds += turn.get("keep", [])
    for row in found:
        row["text"] = row["text"].strip()
    return found


def sentences(messages):
    """The sentences of messages, each with what the reader sees of it."""
    found = pieces(messages)
    some = [at for at, piece in enumerate(found) if not piece["clause"]]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": row["text"]}) + "\n" for row in messages)
        file.flush()
        readings = Exported("readings", [file.name])["readings"]
    found = [found[at] for at in some]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(piece) + "\n" for piece in found)
        file.flush()
        grams = Exported("statements", [file.name]).grams()
    return found, grams, readings[some]


def asks(piece, parts):
    """Whether a third of a sentence, or a few letters of it, are of parts that ask."""
    text = piece["before"] + piece["text"] + piece["after"]
    begin, end = len(piece["before"]), len(piece["before"]) + len(piece["text"])
    places = ((text.find(part), len(part)) for part in parts)
    shared = sum(max(0, min(end, at + length) - max(begin, at)) for at, length in places if at >= 0)
    return shared >= min(0.3 * len(piece["text"]), 12) and shared > 0


class Asking:
    """Whether sentences ask."""

    def __init__(self, messages, cut, grams, readings):
        self.known = np.array([messages[piece["row"]]["asks"] is not None for piece in cut])
        self.asks = np.array([asks(piece, messages[piece["row"]]["asks"] or []) for piece in cut])
        self.groups = np.array([messages[piece["row"]]["group"] for piece in cut])
        self.mean, self.scale = readings.mean(0), READINGS / readings.shape[1] ** 0.5 / (readings.std(0) + 1e-6)
        self.numbers = sparse.hstack([grams, sparse.csr_matrix((readings - self.mean) * self.scale)]).tocsr()
        self.width = readings.shape[1]

    def fit(self, some):
        some = some[self.known[some]]
        return LogisticRegression(C=ASKS, max_iter=500).fit(self.numbers[some], self.asks[some])

    def by_others(self):
        """For each sentence the likelihood by a model that saw nothing of its user."""
        likely = np.zeros(len(self.asks))
        for fit, left in GroupKFold(FOLDS).split(self.numbers, groups=self.groups):
            likely[left] = self.fit(fit).predict_proba(self.numbers[left])[:, 1]
        return likely

    def tensors(self):
        model = self.fit(np.arange(len(self.asks)))
        weights = model.coef_[0]
        dense = weights[-self.width :] * self.scale
        bias = float(model.intercept_[0]) - float(dense @ self.mean)
        return model_file.linear("forgetting.asks", bias, weights[: -self.width], dense)


def requests(messages, cut, asking):
    """For each message that asks: its requests, each with the sentence before it, and all that was told."""
    found = {}
    for at, piece in enumerate(cut):
        row = messages[piece["row"]]
        if row.get("forgets") and row["olds"]:
            before = cut[at - 1]["text"] if at and cut[at - 1]["row"] == piece["row"] else ""
            found.setdefault(piece["row"], []).append((f"{before} {piece['text']}".strip(), asking[at]))
    chosen = []
    for row, texts in found.items():
        some = [text for text, asks in texts if asks] or [text for text, _ in texts]
        chosen.append((messages[row], some))
    return chosen


class Meaning:
    """Whether requests mean older sentences."""

    def __init__(self, chosen):
        texts = {text for row, texts in chosen for text in (*texts, *row["olds"])}
        self.vectors = vectors(list(texts))
        self.centre = np.mean(list(self.vectors.values()), axis=0)
        numbers, meant, groups, self.sets, self.of = [], [], [], [], []
        for at, (row, texts) in enumerate(chosen):
            olds = np.array([self.centred(old) for old in row["olds"]])
            news = np.array([self.centred(text) for text in texts])
            nearest = news[(olds @ news.T).argmax(1)]
            numbers.append(np.hstack([standing((olds * nearest).sum(1)), between(nearest, olds)]))
            meant += [old in row["forgets"] for old in row["olds"]]
            groups += [row["group"]] * len(olds)
            self.sets += [row["set"]] * len(olds)
            self.of += [at] * len(olds)
        self.numbers, self.meant, self.groups = np.vstack(numbers), np.array(meant), np.array(groups)
        self.mean, self.scale = self.numbers.mean(0), 1 / (self.numbers.std(0) + 1e-6)
        self.normal = np.clip((self.numbers - self.mean) * self.scale, -FARTHEST, FARTHEST)

    def centred(self, text):
        vector = self.vectors[text] - self.centre
        return vector / np.linalg.norm(vector)

    def fit(self, some):
        return LogisticRegression(C=PAIRS, max_iter=2000).fit(self.normal[some], self.meant[some])

    def by_others(self):
        likely = np.zeros(len(self.meant))
        for fit, left in GroupKFold(FOLDS).split(self.normal, groups=self.groups):
            likely[left] = self.fit(fit).predict_proba(self.normal[left])[:, 1]
        return likely

    def tensors(self):
        model = self.fit(np.arange(len(self.meant)))
        numbers = {"centre": self.centre, "mean": self.mean, "scale": self.scale, "weights": model.coef_[0]}
        tensors = {f"forgetting.{name}": np.asarray(value, np.float32) for name, value in numbers.items()}
        return tensors | {"forgetting.bias": scalar(model.intercept_[0])}


def standing(cosines):
    """How near each older sentence is among all; as `Standing::among`."""
    rank = np.array([(cosines > cosine).sum() for cosine in cosines])
    deviations = (cosines - cosines.mean()) / (cosines.std() + LEAST_DEVIATION)
    count = np.full(len(cosines), len(cosines) ** 0.5)
    return np.stack([cosines, 1 / (1 + rank), np.log1p(rank), cosines - cosines.max(), deviations, count], 1)


def between(new, old):
    """Features of two vectors; as `PairModel::between`."""
    return np.hstack([np.abs(new - old), new * old, new, old])


def told(name, likely, holds, some):
    print(f"{name}: {some.sum()}, {(some & holds).sum()} hold, average precision"
          f" {average_precision_score(holds[some], likely[some]):.3f}")
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        found = some & (likely >= least)
        print(f"  from {least}: found {(found & holds).sum()}, wrongly {(found & ~holds).sum()}")


def found(name, likely, holds, some, least):
    said = some & (likely >= least)
    return {"set": f"{name}, {some.sum()}, {(some & holds).sum()} hold, cross-validated",
            "found": int((said & holds).sum()), "wrongly": int((said & ~holds).sum())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    args = parser.parse_args()
    of = messages()
    cut, grams, readings = sentences(of)
    asking = Asking(of, cut, grams, readings)
    sets = np.array([of[piece["row"]]["set"] for piece in cut])
    scores, likely = [], asking.by_others()
    for name in ("forgetting", "messages", "conversations", "told"):
        some = (sets == name) & asking.known
        if name != "told":
            told(f"sentences of {name}", likely, asking.asks, some)
        scores.append(found(f"sentences of {name}", likely, asking.asks, some, THRESHOLDS["asks"]))
    meaning = Meaning(requests(of, cut, asking.asks))
    likely, sets = meaning.by_others(), np.array(meaning.sets)
    for name in ("forgetting", "conversations"):
        told(f"pairs of {name}", likely, meaning.meant, sets == name)
        scores.append(found(f"pairs of {name}", likely, meaning.meant, sets == name, THRESHOLDS["means"]))
    if not args.check:
        tensors = asking.tensors() | meaning.tensors()
        tensors |= {f"forgetting.threshold.{name}": scalar(value) for name, value in THRESHOLDS.items()}
        data = [*FORGETTING, *MESSAGES, *CONVERSATIONS]
        model_file.save("forgetting", tensors, data=data, command="tools/train_forgetting.py", folder=args.into, scores=scores)


if __name__ == "__main__":
    sys.exit(main())
