"""The default embedding model's weights, unpacked from four bits, give the vectors that the engine gives with which they
were published."""

import json
import os
import sys
from pathlib import Path

# Threads of a matrix product that wait for each other take minutes where other tests have the processors. numpy reads
# this when it is first imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import pytest

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / ".assets/e5-small/e5-small-q4.bin"
sys.path.insert(0, str(ROOT / "tools"))

import export_e5  # noqa: E402
from reference_vectors import embed  # noqa: E402


def test_vectors_of_200_texts_in_12_languages_are_those_of_the_published_engine():
    rows = [json.loads(line) for line in (ROOT / "testdata/embed/e5.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 200
    tokens = sorted({token for row in rows for token in row["ids"]})
    config, _, weights = export_e5.read(export_e5.Source(WEIGHTS.read_bytes()), only=tokens)
    near = []
    for row in rows:
        published = np.array(row["published"], np.float32)
        near.append(float(embed(np.searchsorted(tokens, row["ids"]), weights, config) @ published / np.linalg.norm(published)))
    assert min(near) >= 0.999, (min(near), rows[int(np.argmin(near))]["text"])


def test_a_damaged_weights_file_is_refused():
    with pytest.raises(SystemExit, match="does not begin with"):
        export_e5.Source(b"no such file")
