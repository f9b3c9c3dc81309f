"""Fits the relevance (crates/models/src/relevance.rs) to what `memgate eval … --features` wrote.

    memgate eval scenarios testdata/scenarios/train.jsonl --features target/train.features
    cat testdata/ordinary/*.jsonl > target/ordinary.jsonl
    memgate eval ordinary target/ordinary.jsonl --features target/ordinary.features
    python3 tools/cross_scenarios.py testdata/scenarios/train.jsonl > target/crossed.jsonl
    memgate eval scenarios target/crossed.jsonl --features target/crossed.features
    python3 tools/small_memories.py testdata/asked/pairs.jsonl > target/asked.jsonl
    memgate eval ordinary target/asked.jsonl --features target/asked.features
    .assets/train/bin/python tools/calibrate.py target/train.features target/ordinary.features \\
        --asked target/asked.features --nothing target/crossed.features --write

Two steps. A logistic regression gives the weights. Each question has the same total weight, however many candidates it
has; those of --nothing, whose owners are asked another person's question, have half of it, and those of --asked, of which
there are many, to memories of 1 to 300 sentences, a fiftieth. Then the sums are shifted so
that the best threshold becomes 0.6, the default. The best threshold has the highest mean F over the questions, of which
recall counts BETA times as much as precision. A question that needs no memory counts 1 when nothing is presented,
else 0. Both steps are done for all languages together, with vectors and by words alone.
"""

import argparse
import json

import numpy as np

import model_file
from model_file import MODEL, ROOT, scalar

# A missed memory costs the answer, a needless one some tokens and, now and then, a wrong answer.
BETA = 1.5
# The weight of a question whose answer nobody has told.
NOTHING = 0.5
# The weight of a question to a memory of one of several sizes: there are many, and the question's matrix has learnt from the same
# rows, so their cosines are better than others are.
ASKED = 0.02
# The least distance of a sentence without evidence below the threshold, in log-odds.
APART = 0.1
DATA = [ROOT / "testdata/asked/pairs.jsonl", ROOT / "testdata/scenarios/train.jsonl", *sorted((ROOT / "testdata/ordinary").glob("*.jsonl"))]
THRESHOLD = 0.6
LIMIT = 5
# L2 regularisation: pulls weights with little evidence towards zero.
RIDGE = 1e-4
FEATURES = ("cosine", "gap", "coverage", "length", "turn", "idle")


def read(path):
    """The file's questions with candidates, without summaries: these are presented only where nothing else is."""
    with open(path, encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    for question in questions:
        found = question["candidates"]
        question["candidates"] = [c for c in found if not c["content"].startswith("Session summary")]
    return questions


def helps(candidate):
    """Whether a memory is needed, or, where conversations are labelled with that, is to the point."""
    return bool(candidate["items"]) or candidate.get("helps", False)


def by_vectors(candidate):
    return [float(candidate[name] or 0.0) for name in FEATURES]


def by_words(candidate):
    return [0.0, 0.0, *by_vectors(candidate)[2:]]


def logistic(rows, labels, counts):
    """Fits the weights; the last one is the bias."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    counts = counts / counts.sum()
    ridge = RIDGE * np.diag([1.0] * (rows.shape[1] - 1) + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(100):
        guess = 1 / (1 + np.exp(-(rows @ weights)))
        slope = rows.T @ (counts * (guess - labels)) + ridge @ weights
        curve = (rows * (counts * guess * (1 - guess))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-10:
            break
    return weights


def worth(questions, all_sums, counts, threshold):
    """The mean over the questions, each counted so much: F of the presented memories, or, where no memory is needed, 1 if nothing that is not
    to the point was presented."""
    total = 0.0
    for question, sums, count in zip(questions, all_sums, counts):
        order = [at for at in np.argsort(-sums, kind="stable") if sums[at] >= threshold][:LIMIT]
        hits = [question["candidates"][at] for at in order]
        if not question["needed"]:
            total += count * all(helps(hit) for hit in hits)
        elif hits:
            recall = len({item for hit in hits for item in hit["items"]}) / question["needed"]
            precision = sum(helps(hit) for hit in hits) / len(hits)
            total += count * (1 + BETA**2) * recall * precision / max(BETA**2 * precision + recall, 1e-9)
    return total / sum(counts)


def fit(questions, asked, nothing, features):
    """Weights and bias such that THRESHOLD is the best threshold at which a sentence without evidence does not pass."""
    rows, labels, counts = [], [], []
    for some, weight in ((questions, 1.0), (asked, ASKED), (nothing, NOTHING)):
        for question in some:
            candidates = question["candidates"]
            rows += [features(c) for c in candidates]
            labels += [helps(c) for c in candidates]
            counts += [weight / max(len(candidates), 1)] * len(candidates)
    found = logistic(np.array(rows), np.array(labels, float), np.array(counts))
    weights, bias = found[:-1], found[-1]
    placed, each = questions + asked, [1.0] * len(questions) + [ASKED] * len(asked)
    sums = [np.array([features(c) for c in q["candidates"]]).reshape(-1, len(FEATURES)) @ weights + bias for q in placed]
    least = bias + weights[FEATURES.index("length")] + APART
    places = {place: worth(placed, sums, each, place) for place in np.arange(-4, 4, 0.1) if place >= least}
    place, best = max(places.items(), key=lambda found: found[1])
    return weights, bias + np.log(THRESHOLD / (1 - THRESHOLD)) - place, best


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("features", nargs="+", help="files written by --features")
    arguments.add_argument("--asked", required=True, help="the same, of memories of several sizes")
    arguments.add_argument("--nothing", required=True, help="the same, of questions that nothing answers")
    arguments.add_argument("--write", action="store_true", help="write the tensors `relevance.…`")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    given = arguments.parse_args()
    questions = [q for path in given.features for q in read(path)]
    asked, nothing = read(given.asked), read(given.nothing)

    # Without vectors a search finds only what shares a word with the query.
    def sharing(some):
        return [dict(q, candidates=[c for c in q["candidates"] if c["coverage"]]) for q in some]

    found, scores = {}, []
    # A question in other words shares none.
    for group, features, change, asked in (("vectors", by_vectors, list, asked), ("words", by_words, sharing, [])):
        weights, bias, best = fit(change(questions), asked, change(nothing), features)
        constants = dict(zip(FEATURES, weights)) | {"bias": bias}
        print(f"{group}: {len(questions)} questions and {len(asked)} to small memories, mean F{BETA} {best:.3f}")
        for name, value in constants.items():
            print(f"  {name} = {value:.2f}")
            found[f"relevance.{group}.{name}"] = scalar(float(f"{value:.2f}"))
        scores.append({"set": f"{group}: {len(questions)} questions and {len(asked)} to small memories, fitted to them", f"mean_f{BETA}".replace(".", "_"): f"{best:.3f}"})
    if given.write:
        command = "tools/calibrate.py TRAIN ORDINARY --asked ASKED --nothing CROSSED --write"
        model_file.save("relevance", found, data=DATA, command=command, folder=given.into, scores=scores)


if __name__ == "__main__":
    main()
