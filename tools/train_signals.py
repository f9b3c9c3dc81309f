#!/usr/bin/env python3
"""Trains the model that decides whether a message needs memory (crates/models/src/message/need.rs).

    python tools/train_signals.py [--check] [--doubts N] [--into models/all-MiniLM-L6-v2]

Reads testdata/signals/*.jsonl and the later messages of testdata/profiles/*.jsonl; writes the tensors `need.…` and, into the project's own folder, testdata/signals/parity.json,
with which a test compares the program's figures.
--check only cross-validates: it prints agreement by file and language. What it prints is decided as the product does it
(by words where they are sure, else by the whole model) but for the two rules before that: on these rows the rule for
greetings is never wrong, and the one for follow-ups no better and no worse than the model.
--doubts prints the N rows that the other folds' model disagrees with most: labels to look at.

The model: logistic regression on hashed n-grams of words and letters, on cues (alone and in pairs),
and on the means of the inner layers of the embedder that memgate uses and its sentence vector.
Five weight vectors. `search`: could memory help? A share of it is `words`: the same by n-grams and cues alone, for
other embedders and when embedding fails; a sum of two such models is one. `tool`, `greeting`, `personal`, also by
n-grams and cues: what kind of message it is. Equal input gives equal bytes.
"""

import argparse
import json
import sys

import numpy as np

import model_file
from messages import FOLDS, Messages, fit
from model_file import MODEL, ROOT, quantised, scalar

DATA = ROOT / "testdata/signals"
FILES = sorted(DATA.glob("*.jsonl"))
PROFILES = sorted((ROOT / "testdata/profiles").glob("*.jsonl"))

# The share of words alone in the whole model's log-odds; chosen by cross-validation from 0 to 0.4.
WORDS_SHARE = 0.2
BLOCK = 8  # rows that differ in a few words stand next to each other; a block of rows stays in one fold
NAMES = ("search", "words", "tool", "greeting", "personal")
SHUFFLES = 3  # ways to make folds: which rows meet in one is chance
# What users type; the other files are made of near-minimal pairs. What English counts among these.
ORDINARY = ("everyday", "work", "own-broad")
ENGLISH = 2 / 3
# The cost of a wrong decision: skipping a message about its speaker; any other mistake.
PERSONAL_SKIPPED, OTHER = 10, 1
# Thresholds that cost at most this much more than the best one count as equal, because a few rows decide.
AS_GOOD = 1.1


def rows():
    found = []
    for file in FILES:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            text = row["text"].strip()
            found.append({**row, "text": text, "file": file.stem, "group": (file.stem, number // BLOCK)})
    for file in PROFILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            user = json.loads(line)
            for number, ask in enumerate(user["asks"]):
                helps = bool(ask["needs"])
                found.append({"id": f"{user['id']}-{number}", "lang": user["lang"], "text": ask["text"].strip(), "signal": None,
                              "personal": helps, "search": helps, "file": "profiles", "group": ("profiles", user["id"])})
    return found


class Data(Messages):
    """The rows as numbers."""

    def __init__(self, all_rows):
        super().__init__(all_rows)
        self.search = np.array([row["search"] for row in all_rows])
        self.personal = np.array([row["personal"] for row in all_rows])
        signal = np.array([row["signal"] for row in all_rows], object)
        self.tool, self.greeting = signal == "tool", signal == "greeting"
        self.kind_known = signal != None  # noqa: E711
        self.files = np.array([row["file"] for row in all_rows])
        self.langs = np.array([row["lang"] for row in all_rows])
        ordinary, english = np.isin(self.files, ORDINARY), self.langs == "en"
        here, elsewhere = ordinary & english, ordinary & ~english
        self.usual = ordinary.sum() * (ENGLISH * here / here.sum() + (1 - ENGLISH) * elsewhere / elsewhere.sum())

    def by_others(self, x):
        """For each row the probability that memory helps, by models that did not see its fold; one row of
        figures for each way to make folds."""
        groups = sorted({row["group"] for row in self.rows})
        found = np.zeros((SHUFFLES, len(self.rows)))
        for shuffle in range(SHUFFLES):
            order = np.random.RandomState(shuffle).permutation(len(groups))
            fold_of = {groups[g]: i % FOLDS for i, g in enumerate(order)}
            fold = np.array([fold_of[row["group"]] for row in self.rows])
            for k in range(FOLDS):
                model = fit(x[fold != k], self.search[fold != k])
                found[shuffle, fold == k] = model.predict_proba(x[fold == k])[:, 1]
        return found

    def cost(self, searched, weight):
        """The cost of all mistakes, for one way to make folds; each row has its weight."""
        wrong = searched != self.search
        grave = wrong & self.search & self.personal
        return float((np.where(grave, PERSONAL_SKIPPED, OTHER * wrong) * weight).sum() / len(searched))

    def threshold(self, probability, as_good=1.0):
        """The threshold on this probability that costs least on ordinary messages; of equal ones, the one
        with the most agreement."""
        steps = np.arange(2, 61) / 100
        costs = np.array([self.cost(probability > step, self.usual) for step in steps])
        right = np.array([(((probability > step) == self.search) * self.usual).sum() for step in steps])
        return float(steps[np.where(costs <= as_good * costs.min(), right, 0).argmax()])

    def told(self, name, searched):
        """Agreement, and personal messages wrongly skipped, by file and language; gives the first two as scores."""
        concerned = self.search & self.personal
        print(f"{name}: costs {self.cost(searched, self.usual):.0f} on ordinary messages")
        groups = [("all", self.search | True), ("ordinary", np.isin(self.files, ORDINARY))]
        groups += [(file, self.files == file) for file in sorted(set(self.files))]
        groups += [(lang, self.langs == lang) for lang in sorted(set(self.langs))]
        scores = []
        for group, some in groups:
            right = (searched == self.search)[:, some].mean()
            skipped = (~searched)[:, some & concerned]
            print(
                f"  {group:<14} {some.sum():5} rows, agreement {100 * right:5.1f}%, personal skipped"
                f" {100 * skipped.mean():.1f}% of {skipped.shape[1]}"
            )
            scores.append({
                "set": f"testdata/signals, {group}, {some.sum()} rows, cross-validated, {name}",
                "agreement": f"{100 * right:.1f}%",
                "personal_skipped": f"{100 * skipped.mean():.1f}% of {skipped.shape[1]}",
            })
        return scores[:2]


def sure(data, words, probability, threshold):
    """The probability below which words alone may skip: the highest at which no decision of the whole model gets
    worse on ordinary messages."""
    best = 0.0
    for step in np.arange(1, 21) / 100:
        searched = (probability > threshold) & (words > step)
        if data.cost(searched, data.usual) <= data.cost(probability > threshold, data.usual):
            best = float(step)
    return best


def mixed(whole, words):
    """Mixes two probabilities by their log-odds."""
    odds = [np.log(p) - np.log1p(-p) for p in (whole, words)]
    return 1 / (1 + np.exp(-((1 - WORDS_SHARE) * odds[0] + WORDS_SHARE * odds[1])))


def sum_of(whole, words):
    """Mixes two linear models into one."""
    kept, share = 1 - WORDS_SHARE, WORDS_SHARE
    return kept * whole[0] + share * words[0], kept * whole[1], kept * whole[2] + share * words[2]


def tensors(models, thresholds):
    """By name, as crates/models/src/message/need.rs reads them."""
    found = {}
    for name, (bias, dense, weights) in zip(NAMES, models):
        found |= model_file.linear(f"need.{name}", bias, weights, dense if len(dense) else None)
    names = ("need.search.threshold", "need.words.threshold", "need.words.surely_below")
    return found | {name: scalar(threshold) for name, threshold in zip(names, thresholds)}


def probabilities(model, grams, dense):
    """Features of rows, as the program computes them."""
    bias, dense_weights, weights = model
    small, step = quantised(weights)
    score = bias + step * (grams @ small.astype(float))
    score = score + (dense @ dense_weights if len(dense_weights) else 0.0)
    return 1 / (1 + np.exp(-score))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--doubts", type=int, default=0)
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    data = Data(rows())
    words = data.by_others(data.grams)
    whole = mixed(data.by_others(data.whole), words)
    threshold, words_threshold = data.threshold(whole, AS_GOOD), data.threshold(words)
    surely_not = sure(data, words, whole, threshold)
    below, skipped = words <= surely_not, whole <= threshold
    covered = below.sum() / (below | skipped).sum()
    print(f"skipped below {threshold:.2f}, by words below {words_threshold:.2f}", end="")
    print(f" and, with no embedding, below {surely_not:.2f}: {100 * covered:.0f}% of the skips")
    scores = data.told("decision", ~below & ~skipped) + data.told("words alone", words > words_threshold)
    if arguments.doubts:
        mean = whole.mean(0)
        order = np.argsort(-np.abs(mean - data.search))[: arguments.doubts]
        for at in order:
            row = data.rows[at]
            kind = f"{row['signal']},{row['personal']:d},{row['search']:d}"
            print(f"{mean[at]:.2f} {row['id']} {row['lang']} {kind} {json.dumps(row['text'], ensure_ascii=False)}")
    if arguments.check or arguments.doubts:
        return
    fitted, known = [(data.whole, data.search), (data.grams, data.search)], data.kind_known
    fitted += [(data.grams[known], y[known]) for y in (data.tool, data.greeting, data.personal)]
    models = [data.linear(fit(x, y)) for x, y in fitted]
    models[0] = sum_of(*models[:2])
    found = tensors(models, (threshold, words_threshold, surely_not))
    command = "tools/train_signals.py"
    model_file.save("need", found, data=[*FILES, *PROFILES], command=command, folder=arguments.into, scores=scores)
    if arguments.into == MODEL:
        figures = dict(zip(NAMES, (probabilities(model, data.grams, data.dense) for model in models)))
        sample = range(0, len(data.rows), len(data.rows) // 60)
        model_file.write_parity(DATA / "parity.json", [row["text"] for row in data.rows], data.grams, figures, sample)


if __name__ == "__main__":
    sys.exit(main())
