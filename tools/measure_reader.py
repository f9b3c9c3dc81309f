#!/usr/bin/env python3
"""What the trained reader makes of labelled messages that it did not learn from, as tables for docs/quality.md.

    python tools/measure_reader.py testdata/messages/kept/all.jsonl [--into models/all-MiniLM-L6-v2]

A sentence counts as the program takes it: with the thresholds of the model file, and as pasted only in a message of several
lines or of more than 120 characters. The second table shows what other thresholds for own words would give.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import model_file
import train_reader as reader
from model_file import MODEL
from rust_features import pieces

# As in crates/capture/src/extract/local/judge.rs.
TYPED_CHARS = 120
CURVE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def share(some, of):
    return f"{100 * some[of].mean():.1f}% of {of.sum()}" if of.any() else "–"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    tensors, _ = model_file.read(arguments.into / "weights.safetensors")
    model = {name.removeprefix("reader."): np.array(value) for name, value in tensors.items() if name.startswith("reader.")}
    threshold = {name: float(model["threshold." + name].item()) for name in reader.THRESHOLDS}

    rows = reader.joined(reader.labelled([arguments.file]))
    found = pieces(rows)
    x, y = np.asarray(reader.exported(rows, "readings")["readings"]), reader.marks(rows, found)
    likely = reader.probabilities(model, reader.normal(x, model["mean"], model["scale"]))
    sentence = np.array([not piece["clause"] for piece in found])
    excluded = np.array([piece["excluded"] or piece["dropped"] for piece in found])
    kinds = np.array([rows[piece["row"]]["kind"] for piece in found])
    texts = [rows[piece["row"]]["text"] for piece in found]
    pasted = np.array(["\n" in text or len(text) > TYPED_CHARS for text in texts])
    mine, theirs, worth = y[:, 1] == 1, y[:, 1] == 0, y[:, 0] == 1

    own = likely[:, 1] > np.where(pasted, threshold["own"], threshold["own_short"])
    kept = (likely[:, 0] > threshold["keep"]) & own & ~excluded
    print("| messages | own and worth keeping: found | precision | others' kept as a fact | shown in the turn | own left out |")
    print("|---|---|---|---|---|---|")
    for kind in [*sorted(set(kinds)), "all"]:
        of = sentence & ((kinds == kind) | (kind == "all"))
        found_of, right = share(kept, of & worth), share(worth, of & kept)
        told = found_of, right, share(kept, of & theirs), share(own, of & theirs), share(~own, of & mine)
        print(f"| {kind} | " + " | ".join(told) + " |")

    print("\n| own words above | mail: others' shown | own left out | web: others' shown | own left out |")
    print("|--:|---|---|---|---|")
    for level in CURVE:
        own = likely[:, 1] > np.where(pasted, level, threshold["own_short"])
        both = [sentence & (kinds == kind) for kind in ("mail", "web")]
        parts = [part for of in both for part in (share(own, of & theirs), share(~own, of & mine))]
        print(f"| {level} | " + " | ".join(parts) + " |")


if __name__ == "__main__":
    sys.exit(main())
