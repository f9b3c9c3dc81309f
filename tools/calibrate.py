"""Fits the relevance (crates/models/src/relevance.rs) to what `memgate eval … --features` wrote.

    memgate eval scenarios testdata/scenarios/train.jsonl --features target/train.features
    cat testdata/ordinary/*.jsonl > target/ordinary.jsonl
    memgate eval ordinary target/ordinary.jsonl --features target/ordinary.features
    python3 tools/cross_scenarios.py testdata/scenarios/train.jsonl > target/crossed.jsonl
    memgate eval scenarios target/crossed.jsonl --features target/crossed.features
    .assets/train/bin/python tools/calibrate.py target/train.features target/ordinary.features \\
        --nothing target/crossed.features --write

Two steps. A logistic regression gives the weights. Memories that help and others have the same total weight, because
there are many more others; the memories of --nothing, whose owners are asked another person's question, are among
the others. Then the sums are shifted so that the best threshold becomes 0.6, the default. The best threshold
has the highest mean F3 over the questions: recall counts three times as much as precision, because a missed memory
costs the answer and a needless one some tokens. A question that needs no memory counts 1 when nothing is
presented, else 0. Both steps are done for questions in English, for those in other languages, and for all by their
words alone.
"""

import argparse
import json
import pathlib

import numpy as np

import model_file
from model_file import MODEL, ROOT, scalar

# The weight of a memory's length is held: fitted to long stories it alone would decide on short remarks, and
# a sentence that has nothing to do with the question must not be near the threshold for being one.
LENGTH_WEIGHT = 0.9
# The weight of being a raw turn is held, too: the facts of testdata/ordinary stand in statements more often than those
# of other conversations, because the statement model was trained on them. At -1 the contexts of other conversations
# gain; at the fitted -1.7 they lose facts.
TURN_WEIGHT = -1.0
# The weight of recall relative to precision, the beta of F-beta.
BETA = 3
# How far a hit must be beyond the threshold for every step that it is behind the best one, in log-odds, where
# `memory.ranking.score_gap` is on. Fitted it is 0, which is why that is off: it is for those who want fewer memories.
BEHIND = 0.6
# The least distance of a sentence without evidence below the threshold, in log-odds.
APART = 0.1
DATA = [ROOT / "testdata/scenarios/train.jsonl", *sorted((ROOT / "testdata/ordinary").glob("*.jsonl"))]
THRESHOLD = 0.6
LIMIT = 5
# L2 regularisation: pulls weights with little evidence towards zero.
RIDGE = 1e-4


def read(path):
    """The file's questions that were searched, without summaries: these are presented only where nothing else is."""
    with open(path, encoding="utf-8") as lines:
        scenarios = [json.loads(line) for line in lines]
    for scenario in scenarios:
        found = scenario["candidates"]
        scenario["candidates"] = [c for c in found if not c["content"].startswith("Session summary")]
    return scenarios


def helps(candidate):
    """Whether a memory is needed, or, where conversations are labelled with that, is to the point."""
    return bool(candidate["items"]) or candidate.get("helps", False)


def held(candidate):
    """The part of a candidate's sum whose weights are not fitted."""
    return LENGTH_WEIGHT * candidate["length"] + TURN_WEIGHT * candidate["turn"]


def logistic(features, labels, known):
    """Fits the weights (the last one is the bias), both labels having the same total weight. `known`: a fixed
    part of each sum."""
    rows = np.hstack([features, np.ones((len(features), 1))])
    share = labels.mean()
    counts = np.where(labels > 0, 0.5 / share, 0.5 / (1 - share)) / len(labels)
    ridge = RIDGE * np.diag([1.0] * features.shape[1] + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(100):
        guess = 1 / (1 + np.exp(-(rows @ weights + known)))
        slope = rows.T @ (counts * (guess - labels)) + ridge @ weights
        curve = (rows * (counts * guess * (1 - guess))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-10:
            break
    return weights


def presented(candidates, sums, threshold):
    """The hits that selection would present if relevance alone ordered them."""
    order = np.argsort(-sums, kind="stable")
    return [candidates[i] for i in order if sums[i] >= threshold][:LIMIT]


def worth(scenarios, all_sums, threshold):
    """The mean over the questions: F3 of the presented memories, or, where no memory is needed, 1 if none was
    presented."""
    total = 0.0
    for scenario, sums in zip(scenarios, all_sums):
        hits = presented(scenario["candidates"], sums, threshold)
        if not scenario["needed"]:
            total += all(helps(hit) for hit in hits)
        elif hits:
            recall = len({item for hit in hits for item in hit["items"]}) / scenario["needed"]
            precision = sum(helps(hit) for hit in hits) / len(hits)
            total += (1 + BETA**2) * recall * precision / max(BETA**2 * precision + recall, 1e-9)
    return total / len(scenarios)


def fit(scenarios, nothing, features_of, lexical):
    """Weights and bias such that THRESHOLD is the best threshold."""
    candidates = [c for s in scenarios + nothing for c in s["candidates"]]
    features = np.array([features_of(c) for c in candidates], dtype=float)
    labels = np.array([helps(c) for c in candidates], dtype=float)
    weights = logistic(features, labels, np.array([held(c) for c in candidates]))[:-1]

    def sums(scenario):
        rows = np.array([features_of(c) for c in scenario["candidates"]], dtype=float)
        return rows.reshape(len(rows), len(weights)) @ weights + np.array([held(c) for c in scenario["candidates"]])

    all_sums = [sums(s) for s in scenarios]
    # By words alone, a sentence that shares none must not pass.
    least = LENGTH_WEIGHT + APART if lexical else 0.0
    places = {place: worth(scenarios, all_sums, place) for place in np.arange(least, 8, 0.1)}
    place, best = max(places.items(), key=lambda score: score[1])
    return weights, np.log(THRESHOLD / (1 - THRESHOLD)) - place, best


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("features", nargs="+", help="files written by --features")
    arguments.add_argument("--nothing", required=True, help="the same, of questions that nothing answers")
    arguments.add_argument("--write", action="store_true", help="write the tensors `relevance.…`")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    given = arguments.parse_args()
    scenarios = [s for path in given.features for s in read(path)]
    nothing = read(given.nothing)

    def words(candidate):
        return [candidate["coverage"] or 0.0]

    def both(candidate):
        return [candidate["cosine"] or 0.0, candidate["background"] or 0.0, *words(candidate)]

    # Without vectors a search finds only what shares a word with the query.
    def by_words(some):
        return [dict(s, candidates=[c for c in s["candidates"] if c["coverage"]]) for s in some]

    def of(some, english):
        return [s for s in some if s["english"] == english]

    groups = {
        "english": (of(scenarios, True), of(nothing, True), both, ("cosine", "background", "coverage")),
        "others": (of(scenarios, False), of(nothing, False), both, ("cosine", "background", "coverage")),
        "words": (by_words(scenarios), by_words(nothing), words, ("coverage",)),
    }
    found, scores = {"relevance.behind": scalar(BEHIND)}, []
    for group, (some, none, features_of, names) in groups.items():
        weights, bias, best = fit(some, none, features_of, group == "words")
        constants = {"cosine": 0.0, "background": 0.0, **dict(zip(names, weights))}
        constants |= {"length": LENGTH_WEIGHT, "turn": TURN_WEIGHT, "bias": bias}
        print(f"{group}: {len(some)} questions, mean F{BETA} {best:.3f}")
        for name, value in constants.items():
            print(f"  {name} = {value:.2f}")
            found[f"relevance.{group}.{name}"] = scalar(float(f"{value:.2f}"))
        scores.append({"set": f"{group}: {len(some)} questions, fitted to them", f"mean_f{BETA}": f"{best:.3f}"})
    if given.write:
        command = "tools/calibrate.py TRAIN ORDINARY --nothing CROSSED --write"
        model_file.save("relevance", found, data=DATA, command=command, folder=given.into, scores=scores)


if __name__ == "__main__":
    main()
