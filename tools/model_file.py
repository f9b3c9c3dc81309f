"""The files of models/<embedder>/: weights.safetensors (named tensors) and manifest.toml (what they are and how
they were made). Every trainer writes through `save`; crates/models/src reads both.

The same tensors give the same bytes: tensors stand by the size of their numbers, then by name.
"""

import hashlib
import json
import struct
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# The default embedder's folder.
MODEL = ROOT / "models/multilingual-e5-small-memgate-1"

TYPES = {"F64": np.float64, "F32": np.float32, "I8": np.int8, "I64": np.int64, "U32": np.uint32}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


def folder(text):
    """A folder of model files, as an argument of trainers."""
    return Path(text).resolve()


def read(path):
    """The tensors of a safetensors file by name, and its metadata."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    body = memoryview(data)[8 + size :]

    def tensor(entry):
        start, end = entry["data_offsets"]
        return np.frombuffer(body[start:end], np.dtype(TYPES[entry["dtype"]])).reshape(entry["shape"])

    return {name: tensor(entry) for name, entry in header.items()}, metadata


def packed(tensors, metadata):
    """A safetensors file: the length of the header, the header as JSON, the numbers."""
    header, parts, offset = {"__metadata__": dict(sorted(metadata.items()))}, [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name)):
        tensor = np.asarray(tensors[name])
        parts.append(tensor.astype(tensor.dtype.newbyteorder("<")).tobytes())
        end = offset + len(parts[-1])
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def linear(name, bias, weights, dense=None):
    """The tensors of a logistic regression: the weights of hashed features as bytes with a scale, and those of
    what the embedding model gives."""
    small, scale = quantised(weights)
    tensors = {f"{name}.bias": scalar(bias), f"{name}.scale": scalar(scale), f"{name}.hashed": small}
    if dense is not None:
        tensors[f"{name}.dense"] = np.asarray(dense, np.float32)
    return tensors


def quantised(weights):
    """Bytes and the step between two of them."""
    step = float(np.float32(np.abs(weights).max() / 127))
    return np.clip(np.round(weights / step), -127, 127).astype(np.int8), step


def scalar(number):
    return np.asarray(number, np.float32)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save(model, tensors, *, data, command, folder=MODEL, metadata=None, scores=None):
    """Puts a model's tensors, all named `model.…`, in place of its former ones, and says in the manifest what it
    was trained on (`data`: paths below the project's root) and how. The scores of
    former weights are dropped; `scores` are those that the caller has just measured."""
    assert all(name.startswith(f"{model}.") for name in tensors), tensors.keys()
    weights, manifest = folder / "weights.safetensors", folder / "manifest.toml"
    old, notes = read(weights) if weights.exists() else ({}, {})
    before = weights.read_bytes() if weights.exists() else b""
    kept = {name: tensor for name, tensor in old.items() if not name.startswith(f"{model}.")}
    notes = {name: note for name, note in notes.items() if not name.startswith(f"{model}.")}
    file = packed(kept | tensors, notes | {f"{model}.{name}": note for name, note in (metadata or {}).items()})
    weights.write_bytes(file)
    told = tomllib.loads(manifest.read_text(encoding="utf-8"))
    told["weights_sha256"] = hashlib.sha256(file).hexdigest()
    section = told.setdefault("models", {}).setdefault(model, {})
    if file != before:
        section["scores"] = scores or []
    section["command"] = command
    section["data"] = {str(Path(path).relative_to(ROOT)): sha256(path) for path in sorted(data)}
    manifest.write_text(manifest_text(told), encoding="utf-8")
    print(f"{folder.name}: {model} in {len(file)} bytes, sha256 {told['weights_sha256']}")


def write_parity(path, texts, grams, figures, sample):
    """Some rows with the number of their features and the trainer's figures: a test compares the program's."""
    counts = np.diff(grams.indptr)
    rows = []
    for at in sample:
        of = {name: round(float(figure[at]), 6) for name, figure in figures.items()}
        rows.append({"text": texts[at], "features": int(counts[at]), **of})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def manifest_text(told):
    """The manifest as TOML; tomllib only reads."""
    value = lambda it: json.dumps(it, ensure_ascii=False)
    fields = lambda table, *names: [f"{name} = {value(table[name])}" for name in names if name in table]
    lines = [
        "# The contents of weights.safetensors and their training: docs/models.md. Written by tools/model_file.py.",
        *fields(told, "format", "features", "weights_sha256"),
        *("", "[embedder]", *fields(told["embedder"], *told["embedder"])),
    ]
    for name, model in told["models"].items():
        lines += ["", f"[models.{name}]", *fields(model, "decides", "command")]
        lines += ["", f"[models.{name}.data]", *(f"{value(path)} = {value(sha)}" for path, sha in model["data"].items())]
        for score in model.get("scores", []):
            lines += ["", f"[[models.{name}.scores]]", *fields(score, *score)]
    return "\n".join(lines) + "\n"
