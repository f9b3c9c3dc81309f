"""Fits the relevance in src/recall/calibration.rs to what `memgate eval scenarios --features` wrote.

    memgate eval scenarios testdata/scenarios/train.jsonl --features target/train.features
    memgate eval scenarios testdata/scenarios/train.jsonl --together --features target/train-together.features
    .assets/venv/bin/python tools/calibrate.py target/train.features target/train-together.features --write

Two steps. A logistic regression gives the weights: needed memories and others count the same
altogether, since others are many more. Then the sums are shifted so that the best threshold becomes
0.6, the default. The best one has the highest mean F5 over the questions: recall counts five times as
much as precision, since a missed memory costs the answer and a needless one some tokens. A question that
needs no memory counts 1 when nothing is presented, else 0. The same again for the words alone. The
mean is taken over the files given, so that memories with little and with much in them count alike.
"""

import argparse
import json
import pathlib
import re

import numpy as np

# The weight of a memory's length is held: fitted to long stories it alone would decide on short remarks.
# dev.jsonl is as good with it (docs/quality.md).
LENGTH_WEIGHT = 1.6
# How many times as much recall counts.
BETA = 5
TARGET = pathlib.Path(__file__).parent.parent / "src/recall/calibration.rs"
THRESHOLD = 0.6
LIMIT = 5
# Pulls weights that the data say little about towards zero.
RIDGE = 1e-4


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def logistic(features, labels, known):
    """Weights, the last one the bias, with both labels counting the same altogether. `known`: what is in
    the sums besides."""
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


def presented(candidates, sums, threshold, behind):
    """What the gate lets through, as src/recall/rank.rs does it."""
    order = np.argsort(-sums, kind="stable")
    best = sums.max(initial=-np.inf)
    passing = [i for i in order if sums[i] >= threshold and sums[i] - behind * (best - sums[i]) >= threshold]
    return [candidates[i] for i in passing[:LIMIT]]


def worth(scenarios, all_sums, threshold, behind):
    """The mean over the questions: F5 of what was presented, or, where nothing is needed, whether
    nothing was."""
    total = 0.0
    for scenario, sums in zip(scenarios, all_sums):
        hits = presented(scenario["candidates"], sums, threshold, behind)
        if not scenario["needed"]:
            total += not hits
        elif hits:
            recall = len({item for hit in hits for item in hit["items"]}) / scenario["needed"]
            precision = sum(bool(hit["items"]) for hit in hits) / len(hits)
            total += (1 + BETA**2) * recall * precision / max(BETA**2 * precision + recall, 1e-9)
    return total / len(scenarios)


def fit(files, features_of, shifts, behinds, nothing=None):
    """Weights, bias, shift and `behind` such that THRESHOLD is the best threshold. A shift takes off
    so many times what all candidates of a question have in common: the regression over candidates
    hardly sees that, the threshold over questions does. Features like `nothing` must not pass."""
    candidates = [c for scenarios in files for s in scenarios for c in s["candidates"]]
    features = np.array([features_of(c) for c in candidates], dtype=float)
    labels = np.array([bool(c["items"]) for c in candidates], dtype=float)
    lengths = np.array([LENGTH_WEIGHT * c["length"] for c in candidates])
    weights = logistic(features, labels, lengths)[:-1]

    def sums(scenario, shift):
        rows = np.array([features_of(c) for c in scenario["candidates"]], dtype=float)
        common = np.array([c["everyday"] or 0.0 for c in scenario["candidates"]])
        lengths = np.array([c["length"] for c in scenario["candidates"]])
        return rows.reshape(len(rows), len(weights)) @ weights + LENGTH_WEIGHT * lengths - shift * common

    lowest = -2.0 if nothing is None else weights @ np.array(nothing) + LENGTH_WEIGHT + 0.1
    places = np.arange(lowest, 8, 0.1)
    scores = {}
    for shift in shifts:
        all_sums = [[sums(s, shift) for s in scenarios] for scenarios in files]
        for behind in behinds:
            for place in places:
                found = [worth(s, x, place, behind) for s, x in zip(files, all_sums)]
                scores[shift, behind, place] = np.mean(found)
    (shift, behind, _), top = max(scores.items(), key=lambda score: score[1])
    # Within a hair of the best: of these the lowest, since what is missed cannot be made good.
    good = [place for place in places if scores[shift, behind, place] >= top - 0.01]
    return weights, np.log(THRESHOLD / (1 - THRESHOLD)) - min(good), shift, behind, top


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("features", nargs="+", help="files written by --features")
    arguments.add_argument("--write", action="store_true", help=f"put the constants into {TARGET.name}")
    given = arguments.parse_args()
    files = [read(path) for path in given.features]

    def words(candidate):
        return [candidate["coverage"] or 0.0]

    def both(candidate):
        return [candidate["cosine"] or 0.0, *words(candidate)]

    weights, bias, everyday, behind, best = fit(
        files, both, shifts=np.arange(0, 3.1, 1), behinds=np.arange(0, 1.1, 0.1)
    )
    constants = dict(zip(("COSINE", "COVERAGE"), weights))
    constants |= {"LENGTH": LENGTH_WEIGHT, "EVERYDAY": everyday, "BEHIND": behind, "BIAS": bias}
    print(f"with vectors: mean F{BETA} {best:.3f}")

    # Without vectors a search finds only what shares a word with the query.
    found = [
        [dict(s, candidates=[c for c in s["candidates"] if c["coverage"]]) for s in scenarios]
        for scenarios in files
    ]
    weights, bias, _, _, best = fit(found, words, shifts=[0.0], behinds=[behind], nothing=[0.0])
    constants |= {"LEXICAL_COVERAGE": weights[0], "LEXICAL_LENGTH": LENGTH_WEIGHT, "LEXICAL_BIAS": bias}
    print(f"words alone:  mean F{BETA} {best:.3f}")

    text = TARGET.read_text(encoding="utf-8")
    for name, value in constants.items():
        print(f"{name} = {value:.2f}")
        text, times = re.subn(rf"(const {name}: f32 = )[^;]+;", rf"\g<1>{value:.2f};", text)
        assert times == 1, f"{name} is not in {TARGET}"
    if given.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
