"""Shared by the trainers: linear models over hashed n-grams, cues and the vectors of an embedding model. src/classify
computes the same features in Rust; parity files ensure that both agree.
"""

import re
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
from scipy import sparse
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
CUES_FILE = ROOT / "src/classify/cues.txt"

BITS = 17  # of the hash: 131,072 weights a vector
DIMENSION = 384
QUERY_TOKENS, PASSAGE_TOKENS = 64, 256
# The scale of each kind of feature, before the model's weights.
NGRAMS, CUES, PAIRS, VECTOR = 12.0, 1.2, 1.2, 4.0

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def plain(text):
    """Normalises a text: NFKC, lower case, straight apostrophes."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub("[’‘`]", "'", text)


def tokens(plain_text):
    """Splits a text into words without apostrophes, digits as 0; Chinese and Japanese characters and marks singly."""
    out, word = [], ""
    for c in re.sub(r"\d", "0", plain_text).replace("'", ""):
        if CJK.match(c) or unicodedata.category(c)[0] not in "LMN":
            if word:
                out.append(word)
                word = ""
            if not c.isspace():
                out.append(c)
        else:
            word += c
    return out + [word] if word else out


def sections(file):
    """Reads a word list: section names in brackets, and the lines under each."""
    found, name = {}, None
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("# ") or line == "#":
            continue
        if heading := re.fullmatch(r"\[([a-z_]+)\]", line):
            found[name := heading[1]] = []
        else:
            found[name].append(line)
    return found


class Cues:
    def __init__(self):
        self.phrases, self.prefixes, self.parts = {}, [], []
        for name, lines in sections(CUES_FILE).items():
            for entry in (e.strip() for line in lines for e in line.split("|")):
                entry = plain(entry)
                if not entry:
                    continue
                if CJK.search(entry):
                    self.parts.append((entry, name))
                elif entry.endswith("*"):
                    self.prefixes.append((entry[:-1], name))
                else:
                    self.phrases.setdefault(tuple(tokens(entry)), set()).add(name)
        self.longest = max(map(len, self.phrases))

    def find(self, text, words):
        """The names of the cues in a text, and of the cues that it begins with."""
        found, first = set(), set()
        for at in range(len(words)):
            for end in range(at + 1, min(at + self.longest, len(words)) + 1):
                names = self.phrases.get(tuple(words[at:end]), ())
                found.update(names)
                if at == 0:
                    first.update(names)
            for prefix, name in self.prefixes:
                if words[at].startswith(prefix):
                    found.add(name)
                    if at == 0:
                        first.add(name)
        for part, name in self.parts:
            where = text.find(part)
            if where >= 0:
                found.add(name)
                if where == 0:
                    first.add(name)
        return sorted(found), sorted(first)


SHAPES = [
    ("ask", r"[?؟]"),
    ("ask_last", r"^¿|[?؟][\s\"'”’)»!.]*$"),
    ("quote_first", r"^[\"“„«「『']"),
    ("quote", r"[\"“”„«»「」『』]"),
    ("colon", r":"),
    ("code", r"[{}<>;=]|[a-z0-9_]\(|```|//|#"),
    ("digit", r"[0-9]"),
    ("digits", r"[0-9][0-9 -]{2,}[0-9]"),
    ("cry", r"!"),
    ("mixed", r"[a-z][^\s]*[0-9][^\s]*[a-z]|[a-z0-9][_#@!$&][a-z0-9]"),
    ("lines", r"\n"),
]
SHAPES = [(name, re.compile(pattern)) for name, pattern in SHAPES]
NAME = re.compile(r"[^\s]\s+[A-ZÀ-Þ][a-zß-ÿ]")
LENGTHS = (3, 5, 8, 12, 18, 30)


def shapes(text, plain_text, words):
    found = [name for name, pattern in SHAPES if pattern.search(plain_text)]
    if NAME.search(text):
        found.append("name")
    found.append(f"length{sum(len(words) >= bound for bound in LENGTHS)}")
    sentences = [s for s in re.split(r"[.!?。\n]+", plain_text) if s.strip()]
    found.append(f"sentences{min(len(sentences), 4)}")
    return found


def bucket(feature):
    """FNV-1a, folded."""
    h = 0x811C9DC5
    for byte in feature.encode():
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (h ^ (h >> 15)) & ((1 << BITS) - 1)


def features(cues, text):
    """Maps a feature's bucket to its value."""
    text = text.strip()
    low = plain(text)
    words = tokens(low)
    grams = set()
    framed = ["<s>", *words, "</s>"]
    for n in (1, 2, 3):
        grams.update("w " + " ".join(framed[i : i + n]) for i in range(len(framed) - n + 1))
    for word in words:
        word = f"_{word}_"
        for n in (3, 4, 5):
            grams.update("c " + word[i : i + n] for i in range(len(word) - n + 1))
    buckets = sorted({bucket(gram) for gram in grams})
    values = dict.fromkeys(buckets, NGRAMS / len(buckets) ** 0.5)
    found, first = cues.find(low, words)
    marks = found + shapes(text, low, words)
    for name in [f"q {mark}" for mark in marks] + [f"q0 {name}" for name in first]:
        values[bucket(name)] = values.get(bucket(name), 0.0) + CUES
    for i, one in enumerate(marks):
        for other in marks[i + 1 :]:
            b = bucket(f"p {one} {other}")
            values[b] = values.get(b, 0.0) + PAIRS
    return values


class Embedder:
    """The embedder that memgate uses by default."""

    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"), options)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, text):
        """The vector of a passage."""
        return self._run(text, PASSAGE_TOKENS, ["sentence_embedding"])[0]

    def read(self, text):
        """The vector of a question, and the means of the inner layers."""
        return self._run(text, QUERY_TOKENS, ["sentence_embedding", "layer_means"])

    def _run(self, text, tokens, outputs):
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[: tokens - 2]
        ids = np.array([[101, *ids, 102]], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        return [output[0] for output in self.session.run(outputs, inputs)]


def matrix(cues, texts):
    rows = [sorted(features(cues, text).items()) for text in texts]
    indices = [b for row in rows for b, _ in row]
    data = [v for row in rows for _, v in row]
    starts = np.cumsum([0] + [len(row) for row in rows])
    return sparse.csr_matrix((data, indices, starts), shape=(len(texts), 1 << BITS))


def quantised(weights):
    """Quantises weights to bytes; returns them and the step between two values."""
    step = float(np.float32(np.abs(weights).max() / 127))
    return np.clip(np.round(weights / step), -127, 127).astype(np.int8), step
