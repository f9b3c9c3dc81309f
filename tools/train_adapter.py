#!/usr/bin/env python3
"""Trains what turns a question's vector towards the memories that answer it (crates/models/src/query_adapter.rs).

    memgate eval scenarios testdata/scenarios/adapter.jsonl --features target/adapter.features
    .assets/train/bin/python tools/train_adapter.py target/adapter.features --into models/all-MiniLM-L6-v2 [--check]

For a model whose layers are not trained for it (all-MiniLM-L6-v2, named by the configuration).
A sentence model puts a question near texts about the same thing. The memory that helps is often about something
else: "suggest a film for tonight" wants "I can't stomach blood". So the question's vector, and only that, is
multiplied by a matrix near the identity before it is compared; stored vectors do not change. Trained on
testdata/cards/cards.jsonl (memories, messages that need them, near misses) and on the stories' candidates.
The loss: the needed memory must win a softmax over all memories of the batch, and over those of its story.
--check cross-validates and writes nothing. Equal input gives equal bytes.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import model_file
import rust_features
from model_file import ROOT, scalar

CARDS = ROOT / "testdata/cards/cards.jsonl"
DATA = [CARDS, ROOT / "testdata/scenarios/adapter.jsonl"]

# Chosen by cross-validation: the penalty for distance from the identity, and the sharpness of the softmax.
RIDGE, TEMPERATURE = 0.03, 0.07
EPOCHS, BATCH, STORIES, RATE = 15, 96, 64, 1e-3
MOST = 24  # candidates of a story
FOLDS = 5


def parts(content):
    """The texts of a memory that are embedded: the two sides of a turn, or the whole memory."""
    if content.startswith("User: "):
        user, _, reply = content[len("User: ") :].partition("\nAssistant: ")
        return (user, reply or user)
    return (content, content)


class Data:
    def __init__(self, cards, stories):
        stories = [s for s in stories if s["needed"] and s["candidates"]]
        asks = [q for card in cards for q in card["direct"] + card["indirect"]] + [s["query"] for s in stories]
        contents = [c for card in cards for c in [card["memory"], *card["near"]]]
        contents += [c["content"] for s in stories for c in s["candidates"][:MOST]]
        of = rust_features.vectors(asks + [part for content in contents for part in parts(content)]).__getitem__

        def memories(contents):
            return np.array([[of(part) for part in parts(content)] for content in contents])

        self.asks = np.array([[of(q) for q in card["direct"] + card["indirect"]] for card in cards])
        self.cards = np.array([memories([card["memory"], *card["near"]]) for card in cards])
        self.stories = stories
        self.questions = np.array([of(s["query"]) for s in stories])
        self.found = [memories([c["content"] for c in s["candidates"][:MOST]]) for s in stories]
        self.wanted = [np.array([float(bool(c["items"])) for c in s["candidates"][:MOST]]) for s in stories]


def pull(vectors, matrix, memories, wanted):
    """The loss of a softmax over memories [k, 2, d] for questions [n, d] with target shares [n, k], and
    its slope by the matrix."""
    turned = vectors @ matrix
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    unit = turned / length
    sides = np.einsum("nd,kpd->nkp", unit, memories)
    side = sides.argmax(-1)
    scores = sides.max(-1) / TEMPERATURE
    scores -= scores.max(1, keepdims=True)
    share = np.exp(scores)
    share /= share.sum(1, keepdims=True)
    loss = -(wanted * np.log(share + 1e-12)).sum(1).mean()
    slope = (share - wanted) / TEMPERATURE / len(vectors)
    along = sum(np.where(side == p, slope, 0) @ memories[:, p] for p in (0, 1))
    along = (along - (along * unit).sum(1, keepdims=True) * unit) / length
    return loss, vectors.T @ along


def fit(data, cards, stories, seed=0):
    random = np.random.RandomState(seed)
    size = data.asks.shape[-1]
    matrix, mean, square, step = np.eye(size), 0.0, 0.0, 0
    for _ in range(EPOCHS):
        order = random.permutation(cards)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            asks = data.asks[some].reshape(-1, size)
            each = data.asks.shape[1]
            kinds = data.cards.shape[1]
            wanted = np.zeros((len(asks), len(some) * kinds))
            wanted[np.arange(len(asks)), np.repeat(np.arange(len(some)) * kinds, each)] = 1
            _, slope = pull(asks, matrix, data.cards[some].reshape(-1, 2, size), wanted)
            for story in random.choice(stories, STORIES):
                share = data.wanted[story] / max(data.wanted[story].sum(), 1)
                if share.any():
                    slope += pull(data.questions[story : story + 1], matrix, data.found[story], share[None])[1] / STORIES
            slope += 2 * RIDGE * (matrix - np.eye(size))
            step += 1
            mean = 0.9 * mean + 0.1 * slope
            square = 0.999 * square + 0.001 * slope**2
            matrix = matrix - RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return matrix


def turned(vectors, matrix):
    out = vectors @ matrix
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


def check(data):
    """The shares of cards and stories that are found, each with a matrix that never saw it, and without a
    matrix. Stories are searched among the memories of all stories."""
    random = np.random.RandomState(1)
    of_card, of_story = random.randint(0, FOLDS, len(data.asks)), random.randint(0, FOLDS, len(data.stories))
    fits = [fit(data, np.where(of_card != k)[0], np.where(of_story != k)[0]) for k in range(FOLDS)]
    everything = np.concatenate(data.found)
    whose = np.concatenate([np.full(len(m), i) for i, m in enumerate(data.found)])
    items = [set(c["items"]) for s in data.stories for c in s["candidates"][:MOST]]
    pool = data.cards.reshape(-1, *data.cards.shape[2:])
    for name, matrices in (("plain", [np.eye(data.asks.shape[-1])] * FOLDS), ("turned", fits)):
        found = {}
        for card, asks in enumerate(data.asks):
            scores = np.einsum("nd,kpd->nkp", turned(asks, matrices[of_card[card]]), pool).max(-1)
            ranks = (scores > scores[:, card * data.cards.shape[1], None]).sum(1)
            for kind, some in (("direct", ranks[:2]), ("indirect", ranks[2:])):
                for k in (1, 5, 20):
                    found.setdefault(f"{kind} @{k}", []).extend(some < k)
        for story, entry in enumerate(data.stories):
            question = turned(data.questions[story], matrices[of_story[story]])
            for place, memories, kind, of in (
                ("alone", data.found[story], (1, 3, 5), np.full(len(data.found[story]), story)),
                ("among all", everything, (5, 20), whose),
            ):
                base = int((whose < story).sum()) if place == "alone" else 0
                order = np.argsort(-np.einsum("d,kpd->kp", question, memories).max(-1))
                for k in kind:
                    hits = set().union(*(items[base + i] for i in order[:k] if of[i] == story))
                    found.setdefault(f"{place} @{k}", []).append(len(hits) / entry["needed"])
        print(f"{name:<7}" + "  ".join(f"{key} {np.mean(values):.3f}" for key, values in found.items()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("features", nargs="+", type=Path, help="files written by --features")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, required=True, help="the folder of the model files")
    given = arguments.parse_args()
    lines = lambda path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stories = [story for path in given.features for story in lines(path)]
    data = Data(lines(CARDS), stories)
    if given.check:
        check(data)
        return
    matrix = fit(data, np.arange(len(data.asks)), np.arange(len(data.stories)))
    step = float(np.float32(np.abs(matrix - np.eye(len(matrix))).max() / 127))
    # Row i computes the i-th number of the turned vector.
    rows = np.round((matrix - np.eye(len(matrix))).T / step).astype(np.int8)
    found = {"query_adapter.matrix": rows, "query_adapter.scale": scalar(step)}
    model_file.save("query_adapter", found, data=DATA, command="tools/train_adapter.py FEATURES", folder=given.into)


if __name__ == "__main__":
    main()
