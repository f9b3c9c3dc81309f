#!/usr/bin/env python3
"""Trains the reader of messages (crates/models/src/reader.rs): of each sentence and clause, whose words it is, whether it
is worth keeping, and whether it says how something is done.

    python tools/train_reader.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/messages/*.jsonl (messages cut into labelled parts), testdata/memorable/*.jsonl, testdata/ordinary/*.jsonl,
testdata/asides/*.jsonl and testdata/profiles/*.jsonl (what is to be kept of a message); writes the tensors `reader.…`.
--check only cross-validates, and writes nothing.

The model: what the embedding model's inner layers make of a piece within its message, a hidden layer, three outputs. Foreign
parts and the user's words around them are also put together anew, a message's words around another's foreign part, so that
the model learns them apart.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

import model_file
import train_memorable as statements
from model_file import MODEL, ROOT
from rust_features import Exported, pieces

MESSAGES = sorted((ROOT / "testdata/messages").glob("*.jsonl"))
LEFT_OUT = "[…]"
OUTPUTS = ("keep", "own", "procedural")
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 128, 16, 256, 1e-3, 0.2
# A piece that is kept is above the first; a clause above the second is kept out of a sentence that is not, below the
# third it is cut off a sentence that is. Words are the user's above the fourth; in a short message of one line, in which
# hardly anything is pasted, above the fifth.
THRESHOLDS = {"keep": 0.5, "clause": 0.8, "trim": 0.15, "own": 0.7, "own_short": 0.05}
# How much rows count: statements of profiles stand alone, which in conversations few do.
PROFILE, CONVERSATION, REJOINED, TOLD = 0.3, 1.5, 0.5, 1.0
# Messages put together of what each profile tells.
MESSAGES_OF_A_PROFILE = 8
FOLDS = 5


def labelled(files=MESSAGES):
    """Messages as lists of parts (text, own, kept), with a group that must not be divided between folds."""
    found = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for turn in row["turns"]:
                parts = [(part["t"], part["w"] == "own", bool(part.get("k"))) for part in turn["user"]]
                found.append({"parts": parts, "lang": row["lang"], "file": "messages/" + file.stem, "kind": row["kind"],
                              "group": row["id"], "weight": CONVERSATION})
    return found


def rejoined(rows):
    """The user's words of one message around the foreign part of another of its language. Both stay in their fold: the
    group of the foreign part."""
    chance, found, by = random.Random(0), [], {}
    for row in rows:
        foreign = [at for at, part in enumerate(row["parts"]) if not part[1]]
        if foreign and row["file"] in ("messages/mail", "messages/web", "messages/mail2", "messages/web2"):
            first, last = foreign[0], foreign[-1] + 1
            around = row["parts"][:first], row["parts"][first:last], row["parts"][last:]
            by.setdefault((row["lang"], hash_fold(row["group"])), []).append((row, around))
    for some in by.values():
        for row, (_, foreign, _) in some:
            other, (before, _, after) = chance.choice(some)
            if other is not row:
                found.append({**row, "parts": [*before, *foreign, *after], "weight": REJOINED})
    return found


def told():
    """Several statements in one message, as people introduce themselves: of one profile, and of single rows; some greet or
    ask, too."""
    chance, found, greetings = random.Random(1), [], {}
    for file in MESSAGES:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            some = [part["t"].strip() for turn in row["turns"] for part in turn["user"] if part["a"] == "small"]
            greetings.setdefault(row["lang"], []).extend(some)

    def add(some, ask, **row):
        some = [text if text[-1] in ".!?。！？" else text + "." for text in map(str.strip, some)]
        parts = [(text + chance.choice([" ", " ", "\n"]), True, True) for text in some]
        greeting = chance.choice(greetings[row["lang"]]) + " "
        parts = [(greeting, True, False)] * (chance.random() < 0.3) + parts + [(ask, True, False)] * (chance.random() < 0.3)
        found.append({"parts": parts, "weight": TOLD, **row})

    for file in statements.PROFILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            user = json.loads(line)
            for _ in range(MESSAGES_OF_A_PROFILE):
                some = chance.sample(user["memories"], chance.randint(2, 4))
                add(some, chance.choice(user["asks"])["text"], lang=user["lang"], file="told/" + file.stem, group=user["id"])
    for file in statements.MESSAGES:
        for start, block in blocks(file):
            for lang in sorted({row.get("lang", "en") for row in block}):
                some = [row["text"] for row in block if row["memorable"] and row.get("lang", "en") == lang]
                for _ in range(len(some) - 1):
                    add(chance.sample(some, min(len(some), chance.randint(2, 3))), "", lang=lang, file="told/" + file.stem,
                        group=(file.stem, start))
    return found


def joined(rows):
    """The rows with their texts, trimmed as the program trims a message."""
    for row in rows:
        row["parts"][0] = (row["parts"][0][0].lstrip(), *row["parts"][0][1:])
        row["text"] = "".join(part[0] for part in row["parts"]).rstrip()
    return rows


def blocks(file):
    """The rows of a file in the groups that stay in one fold."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(start // statements.BLOCK, rows[start : start + statements.BLOCK]) for start in range(0, len(rows), statements.BLOCK)]


def hash_fold(group):
    return int(model_file.hashlib.sha256(str(group).encode()).hexdigest(), 16) % FOLDS


def rows_of_statements():
    found = []
    for row in statements.messages():
        file = row["file"]
        weight = PROFILE if file.startswith("profiles") else CONVERSATION if "/" in file else 1.0
        found.append({**row, "weight": weight})
    return found


def exported(rows, kind):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": row["text"]}) + "\n" for row in rows)
        file.flush()
        return Exported(kind, [file.name])


def places(row, piece):
    """Where a piece stands in its message, which was written before foreign words were left out of it."""
    text, at, done = row["text"], 0, 0
    start = len(piece["before"])
    for segment in (piece["before"] + piece["text"] + piece["after"]).split(LEFT_OUT):
        found = max(text.find(segment, at), at)
        if start < done + len(segment) + len(LEFT_OUT):
            begin = found + max(start - done, 0)
            return begin, begin + len(piece["text"])
        at, done = found + len(segment), done + len(segment) + len(LEFT_OUT)
    return at, at + len(piece["text"])


def marks(rows, found):
    """Labels of each piece: kept, the user's own, how something is done; -1 where nobody said."""
    kept, own = statements.labels([row | {"keep": row.get("keep", [])} for row in rows], found), np.full(len(found), -1)
    how = np.full(len(found), -1)
    for at, piece in enumerate(found):
        row = rows[piece["row"]]
        if "parts" not in row:
            own[at] = 1 if kept[at] == 1 else -1
            if kept[at] == 1 and row["type"] is not None:
                how[at] = row["type"] == "procedural"
            continue
        begin, end = places(row, piece)
        mine = worth = length = start = 0
        holds = False
        for text, is_own, is_kept in row["parts"]:
            stop = start + len(text)
            shared = max(0, min(end, stop) - max(begin, start))
            mine, worth, length = mine + shared * is_own, worth + shared * is_kept, length + shared
            holds |= is_kept and shared >= 0.6 * len(text.strip())
            start = stop
        own[at] = int(mine > length / 2)
        kept[at] = int(worth >= 0.5 * max(length, 1) or holds)
    # Whether others' words are worth keeping is not asked.
    kept[own == 0] = -1
    return np.stack([kept, own, how], 1)


def fit(x, y, weight):
    """The layers of the model, which sees numbers around 0."""
    chance, key = np.random.default_rng(0), jax.random.PRNGKey(0)
    normal = lambda scale, *shape: jnp.asarray(chance.normal(0, scale, shape), jnp.float32)
    outputs = y.shape[1]
    model = {"hidden": normal(x.shape[1] ** -0.5, x.shape[1], HIDDEN), "hidden_bias": jnp.zeros(HIDDEN),
             "out": normal(0.05, HIDDEN, outputs), "direct": jnp.zeros((x.shape[1], outputs)), "bias": jnp.zeros(outputs)}
    steps = max(len(x) // BATCH, 1) * EPOCHS
    optimiser = optax.adamw(optax.cosine_decay_schedule(RATE, steps), weight_decay=DECAY)

    def loss(model, x, y, weight, key):
        first, second = jax.random.split(key)
        x = x * jax.random.bernoulli(first, 0.8, x.shape) / 0.8
        hidden = jax.nn.gelu(x @ model["hidden"] + model["hidden_bias"])
        hidden = hidden * jax.random.bernoulli(second, 0.7, hidden.shape) / 0.7
        score = hidden @ model["out"] + x @ model["direct"] + model["bias"]
        known = (y >= 0) * weight[:, None]
        return ((jax.nn.softplus(score) - jnp.maximum(y, 0) * score) * known).sum() / known.sum()

    @jax.jit
    def step(model, state, x, y, weight, key):
        updates, state = optimiser.update(jax.grad(loss)(model, x, y, weight, key), state, model)
        return optax.apply_updates(model, updates), state

    state = optimiser.init(model)
    for _ in range(EPOCHS):
        order = chance.permutation(len(x))
        for start in range(0, max(len(x) - BATCH, 0) + 1, BATCH):
            some = order[start : start + BATCH]
            key, now = jax.random.split(key)
            model, state = step(model, state, x[some], y[some], weight[some], now)
    return {name: np.asarray(value) for name, value in model.items()}


def probabilities(model, x):
    gelu = lambda v: np.asarray(jax.nn.gelu(v))
    score = gelu(x @ model["hidden"] + model["hidden_bias"]) @ model["out"] + x @ model["direct"] + model["bias"]
    return 1 / (1 + np.exp(-score))


def normalising(x):
    return x.mean(0), 1 / (x.std(0) + 1e-5)


def normal(x, mean, scale):
    return np.clip((x - mean) * scale, -6, 6)


def cross_validated(x, y, weight, fold):
    found = np.zeros(y.shape)
    for k in range(FOLDS):
        train = fold != k
        mean, scale = normalising(x[train])
        model = fit(normal(x[train], mean, scale), y[train], weight[train])
        found[~train] = probabilities(model, normal(x[~train], mean, scale))
    return found


def check(rows, found, x, y, weight):
    fold = np.array([hash_fold(rows[piece["row"]]["group"]) for piece in found])
    likely = cross_validated(x, y, weight, fold)
    clause = np.array([piece["clause"] for piece in found])
    excluded = np.array([piece["excluded"] or piece["dropped"] for piece in found])
    files = np.array([rows[piece["row"]]["file"] for piece in found])
    langs = np.array([rows[piece["row"]]["lang"] for piece in found])
    whole = np.array([rows[piece["row"]]["weight"] != REJOINED for piece in found])
    for subset in sorted({file.split("/")[0] for file in files} | set(files)):
        some = whole & ~clause & np.array([file.startswith(subset) for file in files])
        part = some & (y[:, 0] >= 0)
        statements.curve(f"keep {subset}", likely[part, 0] * ~excluded[part], y[part, 0])
        if subset.startswith("messages"):
            statements.curve(f"own {subset}", likely[some, 1], y[some, 1])
    for lang in sorted(set(langs)):
        part = whole & ~clause & (y[:, 0] >= 0) & (langs == lang) & np.array([f.startswith("ordinary") for f in files])
        if part.sum():
            statements.curve(f"keep ordinary {lang}", likely[part, 0] * ~excluded[part], y[part, 0])
    part = clause & (y[:, 0] >= 0)
    statements.curve("keep clauses", likely[part, 0] * ~excluded[part], y[part, 0])
    part = y[:, 2] >= 0
    statements.curve("procedural", likely[part, 2], y[part, 2])
    return likely


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    rows = labelled()
    rows = joined(rows + rejoined(rows) + told()) + rows_of_statements()
    found = pieces(rows)
    x, y = np.asarray(exported(rows, "readings")["readings"]), marks(rows, found)
    weight = np.array([rows[piece["row"]]["weight"] for piece in found], np.float32)
    print(f"{len(rows)} messages, {len(found)} pieces, {x.shape[1]} numbers each")
    if arguments.check:
        check(rows, found, x, y, weight)
        return
    mean, scale = normalising(x)
    model = fit(normal(x, mean, scale), y, weight)
    tensors = {f"reader.threshold.{name}": model_file.scalar(value) for name, value in THRESHOLDS.items()}
    tensors |= {f"reader.{name}": np.asarray(value, np.float32) for name, value in
                (model | {"mean": mean, "scale": scale}).items()}
    data = [*MESSAGES, *statements.MESSAGES, *statements.STORIES, *statements.ASIDES, *statements.PROFILES]
    model_file.save("reader", tensors, data=data, command="tools/train_reader.py", folder=arguments.into)
    if arguments.into == MODEL:
        # What the program must say of numbers that anybody can make.
        seen = np.sin(np.arange(3 * len(mean), dtype=np.float64)).reshape(3, -1).astype(np.float32)
        said = probabilities(model, normal(seen, mean, scale)).round(5).tolist()
        (ROOT / "testdata/memorable/reader.json").write_text(json.dumps(said) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
