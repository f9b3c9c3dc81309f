#!/usr/bin/env python3
"""Measures how far a turn is from the centre of its session, where the topic changes and where it does not.

    python tools/drift.py [--locomo DIRECTORY]

Prints the figures for memory.sessions.drift_threshold (docs/quality.md). A turn's vector is the mean of its two stored
vectors, the user's words and the reply's. The centre is the mean of the turns since the topic last changed, and the
distance is 1 - cosine. The algorithm is that of crates/capture/src/jobs/drift.rs: a detected change starts a new centre, and a topic
of fewer than TURNS turns does not end.

Turns that only ask (recognised by a question mark) make no memory and are skipped; a change of topic that begins with
one counts at the next turn. Measured on testdata/drift and, where given, on LoCoMo's conversations with their sessions
one after the other. Needs tools/train_requirements.txt.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import rust_features
from model_file import ROOT

THRESHOLDS = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
TURNS = 3  # crates/capture/src/jobs/drift.rs, FEWEST_TURNS


class Embedder:
    """The vectors of all texts of some turns, as the program makes them."""

    def __init__(self, turns):
        self.known = rust_features.vectors([text for turn in turns for text in (turn["user"], turn["assistant"])])

    def turn(self, turn):
        mean = self.known[turn["user"]] + (self.known[turn["assistant"]] if len(turn["assistant"].split()) > 2 else 0)
        return mean / np.linalg.norm(mean)


def distances(vectors, threshold, changes):
    """For each judged turn: its distance, whether the topic changes there, and whether the change was detected."""
    centre, turns = np.zeros_like(vectors[0]), 0
    for vector, change in zip(vectors, changes):
        if turns >= TURNS:
            distance = 1 - float(vector @ centre / np.linalg.norm(centre))
            found = distance > threshold
            yield distance, change, found
            if found:
                centre, turns = np.zeros_like(vector), 0
        centre, turns = centre + vector, turns + 1


def drift_rows(languages):
    for line in (ROOT / "testdata/drift/sessions.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["lang"] in languages:
            yield remembered(row["turns"], [turn["new_topic"] for turn in row["turns"]])


def remembered(turns, changes):
    """The turns that make a memory."""
    kept, changed = [], False
    for turn, change in zip(turns, changes):
        changed |= change
        words = turn["user"].rstrip()
        if words.endswith(("?", "？")) and not any(mark in words[:-1] for mark in ".!。,，"):
            continue
        kept.append((turn, changed))
        changed = False
    return [turn for turn, _ in kept], [change for _, change in kept]


def locomo_rows(folder):
    for file in sorted(Path(folder).glob("*.json")):
        talk = json.loads(file.read_text())
        turns, changes = [], []
        for number in range(1, 100):
            said = talk.get(f"session_{number}")
            if not isinstance(said, list):
                break
            for at in range(0, len(said) - 1, 2):
                turns.append({"user": said[at]["text"], "assistant": said[at + 1]["text"]})
                changes.append(at == 0 and number > 1)
        yield remembered(turns, changes)


def report(name, rows):
    rows = list(rows)
    embed = Embedder([turn for turns, _ in rows for turn in turns])
    rows = [([embed.turn(turn) for turn in turns], changes) for turns, changes in rows]
    print(f"\n{name}: {sum(len(c) for _, c in rows)} turns, {sum(map(sum, (c for _, c in rows)))} changes of topic")
    print("threshold  changes found  false alarms (share of the other turns judged)")
    for threshold in THRESHOLDS:
        judged = [it for vectors, changes in rows for it in distances(vectors, threshold, changes)]
        changed = [found for _, change, found in judged if change]
        same = [found for _, change, found in judged if not change]
        print(f"{threshold:9.2f}  {np.mean(changed):13.1%}  {np.mean(same):12.1%}")
    judged = [it for vectors, changes in rows for it in distances(vectors, 9, changes)]
    for label, wanted in (("same topic", False), ("changed topic", True)):
        of = [d for d, change, _ in judged if change == wanted]
        print(f"{label}: distance at 5, 50, 95 %:", " ".join(f"{x:.2f}" for x in np.percentile(of, [5, 50, 95])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    args = parser.parse_args()
    report("testdata/drift, English", drift_rows(["en"]))
    report("testdata/drift, other languages", drift_rows(["de", "es", "fr", "hi", "ja", "pt", "zh"]))
    if args.locomo:
        report("LoCoMo, sessions behind each other", locomo_rows(args.locomo))


if __name__ == "__main__":
    main()
