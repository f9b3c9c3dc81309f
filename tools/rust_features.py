"""The features that trainers learn from, extracted by the program itself (examples/export_features.rs), so that a model sees the
same in training and in use.

`cargo run` builds the exporter; where the environment names one in MEMGATE_EXPORT_FEATURES, that is used.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

import model_file
from model_file import ROOT

CARGO = ["cargo", "run", "--release", "--locked", "--quiet", "--example", "export_features", "--"]


class Exported:
    """The features of rows: `vectors`, and more for some models."""

    def __init__(self, kind, files):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "features"
            run(kind, out, *files)
            self.tensors, metadata = model_file.read(out)
        self.buckets = int(metadata["buckets"])

    def __getitem__(self, name):
        return self.tensors[name]

    def grams(self, prefix=""):
        """The hashed features, a row a text."""
        values, buckets, starts = (self[prefix + name] for name in ("values", "buckets", "starts"))
        return sparse.csr_matrix((values, buckets, starts), shape=(len(starts) - 1, self.buckets))


def run(*arguments):
    program = os.environ.get("MEMGATE_EXPORT_FEATURES")
    subprocess.run([*([program] if program else CARGO), *arguments], check=True, cwd=ROOT)


def pieces(rows):
    """The sentences and clauses of messages, as the program cuts them."""
    with tempfile.TemporaryDirectory() as folder:
        texts, out = Path(folder) / "texts.jsonl", Path(folder) / "pieces.jsonl"
        texts.write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in rows), encoding="utf-8")
        run("pieces", out, texts)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def vectors(texts):
    """The passage vector of each text."""
    texts = sorted(set(texts))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in texts)
        file.flush()
        return dict(zip(texts, Exported("texts", [file.name])["vectors"]))
