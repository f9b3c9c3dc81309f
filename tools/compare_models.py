#!/usr/bin/env python3
"""Compares retrained models with the committed ones, for `cargo xtask train --check`.

    .assets/train/bin/python tools/compare_models.py FOLDER [--pairs OWN.pairs] [--only need …]

A model passes when its tensors are equal to the last bit, or its predictions differ by at most TOLERANCE: of need,
reader and memorable on the rows of parity files, of update on the near misses (--pairs), of relevance on a grid; of
query_adapter, one less the cosine between a question turned by one and by the other, on the rows of need; of the
encoder, the same between the vectors of 200 texts, by plain numpy.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import export_e5
import model_file
from model_file import MODEL, ROOT
from reference_vectors import embed
from rust_features import Exported

MODELS = ("encoder", "need", "housekeeping", "reader", "memorable", "update", "query_adapter", "relevance")
LAYERS = "layers.safetensors"
TOLERANCE = 0.01


def sigmoid(sums):
    return 1 / (1 + np.exp(-sums))


def exported(kind):
    """The program's features of the rows of a parity file."""
    file = ROOT / "testdata" / ("signals" if kind == "need" else "memorable") / "parity.json"
    part = {"row": 0, "before": "", "after": "", "clause": False, "excluded": False, "dropped": False}
    rows = [part | {"text": row["text"]} for row in json.loads(file.read_text(encoding="utf-8"))]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        return Exported(kind, [file.name])


def linear(tensors, name, grams, dense):
    sums = tensors[f"{name}.bias"] + tensors[f"{name}.scale"] * (grams @ tensors[f"{name}.hashed"].astype(float))
    return sigmoid(sums + (dense @ tensors[f"{name}.dense"] if f"{name}.dense" in tensors else 0.0))


def need(tensors, notes, rows, _):
    dense = np.hstack([rows["need"]["layers"], rows["need"]["vectors"]])
    kinds = ("search", "words", "tool", "greeting", "personal")
    return np.array([linear(tensors, f"need.{kind}", rows["need"].grams(), dense) for kind in kinds])


def housekeeping(tensors, notes, rows, _):
    dense = np.hstack([rows["need"]["layers"], rows["need"]["vectors"]])
    return np.array([linear(tensors, f"housekeeping.{kind}", rows["need"].grams(), dense) for kind in ("whole", "words")])


def memorable(tensors, notes, rows, _):
    of = rows["statements"]
    grams = {"words": of.grams(), "procedural": of.grams("alone.")}
    return np.array([linear(tensors, f"memorable.{kind}", some, None) for kind, some in grams.items()])


def reader(tensors, notes, rows, _):
    of = {name: tensors[f"reader.{name}"] for name in ("mean", "scale", "hidden", "hidden_bias", "out", "direct", "bias")}
    seen = np.clip((rows["readings"]["readings"] - of["mean"]) * of["scale"], -6, 6)
    wide = seen @ of["hidden"] + of["hidden_bias"]
    wide = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    return sigmoid(wide @ of["out"] + seen @ of["direct"] + of["bias"])


def update(tensors, notes, rows, pairs):
    weights = dict(zip(notes["update.features"].split(), tensors["update.weights"]))
    sums = [sum(weights[name] * value for name, value in pair["features"]) for pair in pairs]
    return sigmoid(np.array(sums) + tensors["update.bias"])


def query_adapter(tensors, notes, rows, _):
    vectors = rows["need"]["vectors"]
    turned = vectors + vectors @ (tensors["query_adapter.scale"] * tensors["query_adapter.matrix"].astype(float)).T
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def encoder(folder):
    """The vectors of testdata/embed/e5.jsonl by the trained layers of a folder."""
    lines = (ROOT / "testdata/embed/e5.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["ids"] for line in lines]
    tokens = sorted({token for text in texts for token in text})
    source = export_e5.Source((ROOT / ".assets/e5-small/e5-small-q4.bin").read_bytes())
    config, _, weights = export_e5.read(source, only=tokens)
    weights |= export_e5.trained(folder / LAYERS)
    return np.array([embed(np.searchsorted(tokens, text), weights, config) for text in texts])


def relevance(tensors, notes, rows, _):
    names = ("bias", "cosine", "gap", "coverage", "length", "turn", "idle")
    steps = np.linspace(0, 1, 6)
    rows = np.array(np.meshgrid([1], steps, -steps, steps, [1], [0, 1], [0, 1])).reshape(len(names), -1)
    sums = [[float(tensors[f"relevance.{group}.{name}"]) for name in names] @ rows for group in ("vectors", "words")]
    return sigmoid(np.array(sums))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--pairs", type=Path)
    arguments.add_argument("--only", nargs="*", default=MODELS, choices=MODELS)
    given = arguments.parse_args()
    (old, old_notes), (new, new_notes) = (
        model_file.read(folder / "weights.safetensors") for folder in (MODEL, given.folder)
    )
    pairs = [json.loads(line) for line in given.pairs.read_text(encoding="utf-8").splitlines()] if given.pairs else []
    rows, failed = {}, False
    for model in given.only:
        if model == "encoder":
            one, other = ((folder / LAYERS).read_bytes() for folder in (MODEL, given.folder))
            same = one == other
        else:
            same = all(np.array_equal(old[name], new.get(name)) for name in old if name.startswith(f"{model}."))
        if same:
            print(f"{model}: the same to the last bit")
            continue
        kinds = {"need": "need", "reader": "readings", "memorable": "statements", "query_adapter": "need"}
        if kind := kinds.get(model):
            rows.setdefault(kind, exported(kind))
        if model == "encoder":
            one, other = encoder(MODEL), encoder(given.folder)
        else:
            predict = globals()[model]
            one, other = predict(old, old_notes, rows, pairs), predict(new, new_notes, rows, pairs)
        if model in ("encoder", "query_adapter"):
            apart = float(1 - (one * other).sum(1).min())
        else:
            apart = float(np.abs(one - other).max(initial=0))
        failed |= apart > TOLERANCE
        print(f"{model}: {'DIFFERS' if apart > TOLERANCE else 'the same predictions'}, at most {apart:.2g} apart")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
