#!/usr/bin/env python3
"""Trains the reader of messages (crates/models/src/reader.rs): of each sentence and clause, whose words it is, whether it
is worth keeping, whether it says how something is done, whether it is a wish about every later answer, and whether it asks
that something not be remembered.

    python tools/train_reader.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/messages/*.jsonl (messages cut into labelled parts), testdata/wishes/*.jsonl (wishes and their near misses;
labels.jsonl has labels for rows of other files), testdata/memorable/*.jsonl, testdata/ordinary/*.jsonl,
testdata/conversations/*.jsonl, testdata/asides/*.jsonl and testdata/profiles/*.jsonl (what is to be kept of a message);
writes the tensors `reader.…`.
--check only cross-validates, and writes nothing.

The model: what the embedding model's inner layers make of a piece within its message, a hidden layer, an output for each
question; for wishes about every answer also a logistic regression over the words (crates/models/src/features.rs), and the mean of
both log-odds counts. Wishes about a topic and about one answer are learned beside those about every answer, so that the layer tells them
apart; the program does not ask for them. Foreign parts and the user's words around them are also put together anew, a message's words around another's foreign part, so that
the model learns them apart.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

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
OUTPUTS = ("keep", "own", "procedural", "standing", "private")
# What is learned for the sake of the others.
BESIDE = ("topic", "now")
WISHES = sorted(path for path in (ROOT / "testdata/wishes").glob("*.jsonl") if path.stem != "labels")
LABELS = ROOT / "testdata/wishes/labels.jsonl"
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 128, 16, 256, 1e-3, 0.2
# A piece that is kept is above the first; a clause above the second is kept out of a sentence that is not, below the
# third it is cut off a sentence that is. Words are the user's above "own"; in a short message of one line, in which
# hardly anything is pasted, above "own_short".
THRESHOLDS = {"keep": 0.5, "clause": 0.8, "trim": 0.15, "own": 0.4, "own_short": 0.1,
              "standing": 0.3, "private": 0.3}
# How much rows count: statements of profiles stand alone, which in conversations few do.
PROFILE, CONVERSATION, REJOINED, TOLD = 0.3, 1.5, 0.5, 1.0
# How people write lists of their own.
LISTS = ("{}. ", "- ", "* ", "{}) ", "• ")
# Messages put together of what each profile tells.
MESSAGES_OF_A_PROFILE = 8
FOLDS = 5


class Part(NamedTuple):
    """A part of a message with its labels; `None` where nobody said."""

    text: str
    own: bool = True
    kept: bool | None = False
    # standing, topic, now or none
    wish: str | None = "none"
    private: bool = False


def rows_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def wish_labels():
    """What labels.jsonl says of rows of other files: by source, and for messages by their part."""
    found, parts = {}, {}
    for row in rows_of(LABELS):
        wish = None if row["wish"] == "unsure" else row["wish"]
        if row["src"] == "messages":
            parts[row["id"], row["turn"], row["part"]] = wish
        else:
            found.setdefault(row["src"], {})[row["t"].strip()] = wish
    return found, parts


def labelled(files=MESSAGES):
    """Messages as lists of parts, with a group that must not be divided between folds."""
    found, (_, labels) = [], wish_labels()

    def wish(row, turn, at, part):
        usual = {"wish": None, "now": "now"}.get(part["a"], "none")
        return part.get("wish", labels.get((row["id"], turn, at), usual))

    for file in files:
        for row in rows_of(file):
            for number, turn in enumerate(row["turns"]):
                parts = [Part(part["t"], part["w"] == "own", bool(part.get("k")), wish(row, number, at, part), bool(part.get("private")))
                         for at, part in enumerate(turn["user"])]
                of = {"lang": row["lang"], "file": "messages/" + file.stem, "kind": row["kind"], "group": row["id"],
                      "weight": CONVERSATION}
                asked = question(row["turns"][number - 1].get("assistant", ""), parts) if number else None
                if asked:
                    # The program reads an answer with its question, and alone only for whose words it is.
                    found.append({"parts": [Part(asked + "\n", False, None), *parts], **of})
                    parts = [part._replace(kept=None) for part in parts]
                found.append({"parts": parts, **of})
    return found


def question(reply, parts):
    """The question at the end of a reply that a message answers in few words, as in crates/capture/src/extract/local."""
    last = re.split(r"(?<=[.!?。！？؟।…])\s+|(?<=[。！？])|\n", reply.strip())[-1].strip() if reply else ""
    message = "".join(part.text for part in parts).strip()
    first = re.split(r"(?<=[.!?。！？।…])(?=\s|$)|(?<=[。！？])|\n", message)[0]
    few = len(re.findall(r"\w", first)) <= 12 if re.search("[\u3040-\u30ff\u4e00-\u9fff]", first) else len(first.split()) <= 6
    return last if few and last.endswith(("?", "？", "؟")) and len(last) < 160 else None


def wishes(files=WISHES):
    """Messages with wishes and their near misses, whose other labels nobody gave."""
    found = []
    for file in files:
        for row in rows_of(file):
            parts = []
            for part in row["parts"]:
                wish = part["wish"].replace("quoted", "none")
                kept = {"standing": True, "topic": True, "now": False}.get(wish)
                parts.append(Part(part["t"] + " ", part["wish"] != "quoted", kept, wish))
            found.append({"parts": parts, "lang": row["lang"], "file": "wishes/" + file.stem, "kind": "acts",
                          "group": row["id"], "weight": CONVERSATION})
    for text, wish in wish_labels()[0]["conversations"].items():
        found.append({"parts": [Part(text, kept=None, wish=wish)], "lang": "en", "file": "wishes/conversations", "kind": "acts",
                      "group": text, "weight": CONVERSATION})
    return found


def rejoined(rows):
    """The user's words of one message around the foreign part of another of its language. Both stay in their fold: the
    group of the foreign part."""
    chance, found, by = random.Random(0), [], {}
    for row in rows:
        foreign = [at for at, part in enumerate(row["parts"]) if not part.own]
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
    """Several statements in one message, as people introduce themselves: of one profile, also as a list, and of single rows; some
    greet or ask, too."""
    chance, lister, found, greetings = random.Random(1), random.Random(2), [], {}
    for file in MESSAGES:
        for row in rows_of(file):
            some = [part["t"].strip() for turn in row["turns"] for part in turn["user"] if part["a"] == "small"]
            greetings.setdefault(row["lang"], []).extend(some)

    def add(some, ask, **row):
        some = [text if text[-1] in ".!?。！？" else text + "." for text in map(str.strip, some)]
        parts = [Part(text + chance.choice([" ", " ", "\n"]), kept=True, wish=None) for text in some]
        greeting = chance.choice(greetings[row["lang"]]) + " "
        parts = [Part(greeting)] * (chance.random() < 0.3) + parts + [Part(ask)] * (chance.random() < 0.3)
        found.append({"parts": parts, "weight": TOLD, **row})

    for file in statements.PROFILES:
        for number, user in enumerate(rows_of(file)):
            mark = LISTS[number % len(LISTS)]
            lines = enumerate(lister.sample(user["memories"], lister.randint(2, 5)), 1)
            parts = [Part(mark.format(at) + text.strip() + "\n", kept=True, wish=None) for at, text in lines]
            asked = [Part(lister.choice(user["asks"])["text"])] * (number % 2)
            found.append({"parts": parts + asked, "weight": TOLD, "lang": user["lang"], "file": "told/" + file.stem, "group": user["id"]})
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
        first = row["parts"][0]
        row["parts"][0] = first._replace(text=first.text.lstrip())
        row["text"] = "".join(part.text for part in row["parts"]).rstrip()
    return rows


def blocks(file):
    """The rows of a file in the groups that stay in one fold."""
    rows = rows_of(file)
    return [(start // statements.BLOCK, rows[start : start + statements.BLOCK]) for start in range(0, len(rows), statements.BLOCK)]


def hash_fold(group):
    return int(model_file.hashlib.sha256(str(group).encode()).hexdigest(), 16) % FOLDS


def rows_of_statements():
    """Messages of which the stretches to keep are known. Of the wishes among them, those of labels.jsonl are; nobody said which
    stretches of asides and profiles are wishes."""
    found, (labels, _) = [], wish_labels()
    for row in statements.messages():
        file = row["file"]
        weight = PROFILE if file.startswith("profiles") else CONVERSATION if "/" in file else 1.0
        known = labels["ordinary"] if file.startswith("ordinary") else labels["memorable"]
        spans = None if file.startswith(("asides", "profiles")) else {t: wish for t, wish in known.items() if t in row["text"]}
        found.append({**row, "weight": weight, "wishes": spans})
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
    """Labels of each piece, a column for each of OUTPUTS and BESIDE; -1 where nobody said."""
    kept = statements.labels([row | {"keep": row.get("keep", [])} for row in rows], found)
    said = {name: np.full(len(found), -1) for name in (*OUTPUTS, *BESIDE)}
    for at, piece in enumerate(found):
        row = rows[piece["row"]]
        labels = of_parts(row, piece) if "parts" in row else of_stretches(row, piece, kept[at])
        for name, label in labels.items():
            said[name][at] = -1 if label is None else int(label)
    return np.stack(list(said.values()), 1)


def of_wish(wish):
    return {name: None if wish is None else wish == name for name in ("standing", "topic", "now")}


def of_stretches(row, piece, kept):
    """The labels of a piece of a message whose stretches to keep are known."""
    labels = {"keep": None if kept < 0 else kept, "own": True if kept == 1 else None}
    if kept == 1:
        labels |= {"private": False, "procedural": None if row["type"] is None else row["type"] == "procedural"}
    if row["wishes"] is None:
        return labels | (of_wish("none") if kept == 0 else {})
    near = [wish for text, wish in row["wishes"].items() if statements.shared(piece["text"], text) >= 0.6]
    return labels | of_wish(near[0] if near else "none")


def of_parts(row, piece):
    """The labels of a piece of a message whose parts are labelled: those of the parts that it is made of."""
    begin, end = places(row, piece)
    length = start = 0
    shares, holds = {}, set()
    for part in row["parts"]:
        stop = start + len(part.text)
        shared = max(0, min(end, stop) - max(begin, start))
        start, length = stop, length + shared
        of = {"own": part.own, "keep": part.kept, "private": part.private} | of_wish(part.wish)
        for name, label in of.items():
            share = shares.setdefault(name, {True: 0, False: 0, None: 0})
            share[label] += shared
            if label and shared >= 0.6 * len(part.text.strip()) > 0:
                holds.add(name)
    labels = {}
    for name, share in shares.items():
        most = share[True] >= 0.5 * max(length, 1) if name != "own" else share[True] > length / 2
        labels[name] = True if most or (name in holds and name != "own") else None if share[None] else False
    if not labels["own"]:
        # Whether others' words are worth keeping is not asked; they wish nothing of the user's.
        labels |= {"keep": None}
    return labels


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


def log_odds(likely):
    likely = np.clip(likely, 1e-6, 1 - 1e-6)
    return np.log(likely / (1 - likely))


def with_words(network, words):
    """The probability of a wish by the network and by the words."""
    return 1 / (1 + np.exp(-(log_odds(network) + log_odds(words)) / 2))


def wishes_by_words(grams, y, weight):
    known = y[:, OUTPUTS.index("standing")] >= 0
    return statements.fit(grams[known], y[known, OUTPUTS.index("standing")], weight[known])


def check(rows, found, x, y, weight):
    fold = np.array([hash_fold(rows[piece["row"]]["group"]) for piece in found])
    likely, grams = cross_validated(x, y, weight, fold), statements.features(found).grams()
    standing = OUTPUTS.index("standing")
    for k in range(FOLDS):
        words = wishes_by_words(grams[fold != k], y[fold != k], weight[fold != k]).predict_proba(grams[fold == k])[:, 1]
        likely[fold == k, standing] = with_words(likely[fold == k, standing], words)
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
    for name in OUTPUTS[2:]:
        at = OUTPUTS.index(name)
        part = (y[:, at] >= 0) & whole & ~clause
        statements.curve(name, likely[part, at], y[part, at])
        for file in sorted(set(files[part & (y[:, at] == 1)])):
            of = part & (files == file)
            statements.curve(f"{name} {file}", likely[of, at], y[of, at])
    return likely


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    rows = labelled()
    rows = joined(rows + rejoined(rows) + told() + wishes()) + rows_of_statements()
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
    asked = {name: value[..., : len(OUTPUTS)] if name in ("out", "direct", "bias") else value for name, value in model.items()}
    tensors |= {f"reader.{name}": np.asarray(value, np.float32) for name, value in
                (asked | {"mean": mean, "scale": scale}).items()}
    words = wishes_by_words(statements.features(found).grams(), y, weight)
    tensors |= model_file.linear("reader.wish", float(words.intercept_[0]), words.coef_[0])
    data = [*MESSAGES, *WISHES, LABELS, *statements.MESSAGES, *statements.STORIES, *statements.ASIDES, *statements.PROFILES]
    model_file.save("reader", tensors, data=data, command="tools/train_reader.py", folder=arguments.into)
    if arguments.into == MODEL:
        # What the program must say of numbers that anybody can make.
        seen = np.sin(np.arange(3 * len(mean), dtype=np.float64)).reshape(3, -1).astype(np.float32)
        said = probabilities(asked, normal(seen, mean, scale)).round(5).tolist()
        (ROOT / "testdata/memorable/reader.json").write_text(json.dumps(said) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
