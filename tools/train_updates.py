"""Trains what tells which older sentences a message outdates (crates/models/src/update), on pairs that
`memgate eval updates … --features` wrote:

    cat testdata/ordinary/*.jsonl testdata/conversations/*.jsonl > target/conversations.jsonl
    for set in reconcile/messages reconcile/changes scenarios/train scenarios/adapter; do
        memgate eval updates testdata/$set.jsonl --features target/$(basename $set).pairs
    done
    cat testdata/forgetting/*.jsonl > target/forgetting.jsonl
    for set in conversations forgetting; do
        memgate eval updates target/$set.jsonl --features target/$set.pairs
    done
    .assets/train/bin/python tools/train_updates.py \
        target/{messages,changes,conversations,forgetting,train,adapter}.pairs --write

Two logistic regressions: whether a message announces a change of anything, on its n-grams and passage vector, and
whether it outdates one older sentence, on `UpdateFeatures` and the passage vectors of the older sentence and of the
message's nearest one. The features hold the likelihood of an announcement as models see it that did not see the message.
Cross-validated with whole users left out. `--write` writes the tensors `update.…`. Equal input gives equal bytes.
"""

import argparse
import json
import math
import pathlib
import random
import tempfile

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

import model_file
from model_file import MODEL, ROOT, quantised, scalar
from rust_features import Exported, vectors

DATA = [
    *(ROOT / "testdata/reconcile" / name for name in ("messages.jsonl", "changes.jsonl")),
    *sorted((ROOT / "testdata/ordinary").glob("*.jsonl")),
    *sorted((ROOT / "testdata/conversations").glob("*.jsonl")),
    *sorted((ROOT / "testdata/forgetting").glob("*.jsonl")),
    *(ROOT / "testdata/scenarios" / name for name in ("adapter.jsonl", "train.jsonl")),
]
# How much a message counts that may announce something, and how much its pairs. Written pairs are far more often over than
# what people say, and of the changes in scenarios not all are labelled; near misses ("pairs") keep it apart from what people
# wish, add or tell of others.
ANNOUNCED = {"pairs": 0.1, "changes": 0.1, "conversations": 1.0, "forgetting": 1.0, "scenarios": 0.3}
PAIRS = {"conversations": 1.0, "forgetting": 1.0, "pairs": 1.0, "changes": 0.05}
# The weight of a message beside a few of the older sentences: who is new has no more, and one of them is always the nearest.
FEW, MOST_OF_FEW = 0.5, 4
REGULARISATION = 1e-3
# Standardised numbers further from the mean than this say no more; as in crates/models/src/update.
FARTHEST = 8.0
# Of the announcements, and how much the vector counts beside the n-grams.
ANNOUNCED_REGULARISATION, VECTOR = 2.0, 3.0
FOLDS = 8
# A wrong replacement loses a true statement, a missed one leaves an old value beside the new; what is marked stays. Chosen
# from the table. Nothing is sure that is hardly announced, either.
THRESHOLDS = {"surely": 0.7, "perhaps": 0.3, "announced": 0.05}
# Features of what is never sure: somebody wishes, adds one thing more, or tells of another person.
UNSURE = ("unreal", "old_unreal", "more", "nearest_of_another", "old_of_another")
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


def ids(*folders):
    files = (path for folder in folders for path in (ROOT / "testdata" / folder).glob("*.jsonl"))
    return {json.loads(line)["id"] for path in files for line in path.open(encoding="utf-8")}


CONVERSATIONS, FORGETTING = ids("ordinary", "conversations"), ids("forgetting")


def kind(group):
    """The kind of a group of rows, by the names that `memgate eval updates` gives it."""
    if group.startswith(("pairs-", "changes-")):
        return group.split("-")[0]
    return "conversations" if group in CONVERSATIONS else "forgetting" if group in FORGETTING else "scenarios"


def read(paths):
    found = []
    for number, path in enumerate(paths):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            also = any(row["old"].startswith(old) and row["new"].startswith(new) for old, new in ALSO_OVER)
            of = kind(row["group"])
            # An older sentence stays in one fold with all messages near it.
            group = row["old"] if of == "pairs" else row["group"]
            row |= {"group": f"{number} {group}", "replaces": row["replaces"] or also, "kind": of, "weight": PAIRS.get(of, 0.0)}
            found.append(row)
    return found


def few(rows):
    """Messages beside a few of the older sentences that they stand beside: the features that place these among the others
    are computed anew, as `Standing::among` does."""
    chance, beside = random.Random(0), {}
    for row in rows:
        if row["kind"] in ("conversations", "forgetting"):
            beside.setdefault((row["group"], row["new"]), []).append(row)
    found = []
    for some in beside.values():
        some = chance.sample(some, min(len(some), chance.randint(1, MOST_OF_FEW)))
        features = [dict(row["features"]) for row in some]
        cosines = np.array([of["centred"] for of in features])
        for row, of in zip(some, features):
            rank = int((cosines > of["centred"]).sum())
            of |= {"rank": 1 / (1 + rank), "log_rank": math.log1p(rank), "gap": of["centred"] - cosines.max(),
                   "deviations": (of["centred"] - cosines.mean()) / (cosines.std() + 0.05)}
            found.append({**row, "features": list(of.items()), "kind": "few", "weight": FEW})
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
        self.weights = np.zeros(len(texts))
        np.maximum.at(self.weights, self.of, [ANNOUNCED.get(row["kind"], 0.0) for row in rows])

    def model(self, rows):
        """Bias, weights of the n-grams and of the vector, fitted to the messages of rows."""
        at = np.unique(self.of[rows])
        model = LogisticRegression(C=ANNOUNCED_REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
        weights = model.fit(self.all[at], self.changes[at], sample_weight=self.weights[at]).coef_[0]
        size = self.grams.shape[1]
        return float(model.intercept_[0]), weights[:size], weights[size:] * VECTOR

    def likely(self, model):
        """The likelihood for each row's message, as the program computes it."""
        bias, weights, dense = model
        small, step = quantised(weights)
        sums = bias + step * (self.grams @ small.astype(float)) + self.vectors @ dense
        return (1 / (1 + np.exp(-sums)))[self.of]


class Pairs:
    """The numbers of pairs, as the program computes them for given likelihoods of an announcement."""

    def __init__(self, rows):
        self.names = [name for name, _ in rows[0]["features"]]
        self.values = np.array([[value for _, value in row["features"]] for row in rows])
        found = vectors([row[text] for row in rows for text in ("nearest", "old")])
        self.centre = np.mean([found[text] for text in sorted(found)], axis=0)
        near, old = ([found[row[text]] - self.centre for row in rows] for text in ("nearest", "old"))
        near, old = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (np.array(near), np.array(old)))
        self.between = np.hstack([abs(near - old), near * old, near, old]).astype(np.float32)

    def numbers(self, announced):
        values = self.values.copy()
        column = lambda name: values[:, self.names.index(name)]
        near = column("near") + column("near_untrusted")
        share = np.clip(announced, 1e-6, 1 - 1e-6)
        for name, value in (
            ("announced", announced),
            ("announced_odds", np.log(share / (1 - share)) / 10),
            ("near_if_announced", announced * near),
            ("rank_if_announced", announced * column("rank")),
            ("centred_if_announced", announced * column("centred")),
        ):
            values[:, self.names.index(name)] = value
        return np.hstack([values.astype(np.float32), self.between])


class Regression:
    """A logistic regression on standardised numbers."""

    def __init__(self, numbers, rows):
        over = np.array([row["replaces"] for row in rows])
        weights = np.array([row["weight"] for row in rows])
        some = weights > 0
        self.mean, self.scale = numbers[some].mean(0), 1 / (numbers[some].std(0) + 1e-6)
        model = LogisticRegression(C=REGULARISATION, max_iter=5000)
        model.fit(self.normal(numbers[some]), over[some], sample_weight=weights[some])
        self.weights, self.bias = model.coef_[0], float(model.intercept_[0])

    def normal(self, numbers):
        return np.clip((numbers - self.mean) * self.scale, -FARTHEST, FARTHEST)

    def likely(self, numbers):
        return 1 / (1 + np.exp(-(self.normal(numbers) @ self.weights + self.bias)))


def told(rows, announced, likely):
    """Prints what is found from which likelihood on, and gives what is found in use as scores."""
    scores = []
    over = np.array([row["replaces"] for row in rows])
    values = [dict(row["features"]) for row in rows]
    unsure = np.array([any(of[name] > 0 for name in UNSURE) for of in values]) | (announced < THRESHOLDS["announced"])
    kinds, langs = (np.array([row[name] for row in rows]) for name in ("kind", "lang"))
    for of in [*ANNOUNCED, "few"]:
        for lang in ("", "en", "others") if of == "conversations" else ("",):
            some = (kinds == of) & ((lang == "") | ((langs == "en") == (lang == "en")))
            print(f"{of} {lang}: {some.sum()} pairs, {(some & over).sum()} outdated,"
                  f" average precision {average_precision_score(over[some], likely[some]):.3f}")
            for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7):
                said = some & (likely >= least)
                print(f"  from {least}: found {(said & over).sum()}, wrongly {(said & ~over).sum()}")
        some = kinds == of
        surely = some & (likely >= THRESHOLDS["surely"]) & ~unsure
        perhaps = some & (likely >= THRESHOLDS["perhaps"]) & ~surely
        scores.append({"set": f"{of}, {some.sum()} pairs, {(some & over).sum()} outdated, cross-validated",
                       "found": int((surely & over).sum()), "superseded_wrongly": int((surely & ~over).sum()),
                       "marked": int((perhaps & over).sum()), "marked_wrongly": int((perhaps & ~over).sum())})
    return scores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    args = parser.parse_args()
    rows = read(args.files)
    rows += few(rows)
    groups = np.array([row["group"] for row in rows])
    messages, pairs = Announcements(rows), Pairs(rows)
    folds = list(GroupKFold(FOLDS).split(rows, groups=groups))
    announced, likely = np.zeros(len(rows)), np.zeros(len(rows))
    for fit, left in folds:
        announced[left] = messages.likely(messages.model(fit))[left]
    numbers = pairs.numbers(announced)
    for fit, left in folds:
        likely[left] = Regression(numbers[fit], [rows[at] for at in fit]).likely(numbers[left])
    scores = told(rows, announced, likely)
    announces, model = messages.model(np.arange(len(rows))), Regression(numbers, rows)
    conversations = np.array([row["kind"] == "conversations" for row in rows])
    least = float(np.quantile(announced[conversations & (likely >= THRESHOLDS["perhaps"])], MISSED))
    print(f"announced from {least:.3f} on: {(announced[conversations] >= least).mean():.1%} of the pairs")
    if args.write:
        write(announces, least, model, pairs, scores, args.into)


def write(announces, least, model, pairs, scores, folder):
    bias, grams, dense = announces
    numbers = {"centre": pairs.centre, "mean": model.mean, "scale": model.scale, "weights": model.weights}
    tensors = model_file.linear("update.announces", bias, grams, dense) | {
        "update.announces.least": scalar(float(f"{least:.3f}")),
        "update.bias": scalar(model.bias),
        **{f"update.{name}": np.asarray(values, np.float32) for name, values in numbers.items()},
        # The likelihoods from which on an older sentence is outdated, or may be; of an announcement, to be sure.
        **{f"update.threshold.{name}": scalar(value) for name, value in THRESHOLDS.items()},
    }
    command = "tools/train_updates.py MESSAGES.pairs CHANGES.pairs CONVERSATIONS.pairs FORGETTING.pairs TRAIN.pairs ADAPTER.pairs --write"
    metadata = {"features": " ".join(pairs.names)}
    model_file.save("update", tensors, data=DATA, command=command, folder=folder, metadata=metadata, scores=scores)


if __name__ == "__main__":
    main()
