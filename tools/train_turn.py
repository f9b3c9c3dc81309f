#!/usr/bin/env python3
"""Trains the matrix that turns a question's vector (crates/models/src/query_adapter.rs), for the encoder as it is.

    python tools/train_turn.py [--into FOLDER] [--check]

tools/train_encoder.py trains a matrix with its layers, on messages to large memories that mostly help without being asked for. This one
replaces it: it learns from the same users, and from testdata/asked, where a memory is asked for in other words, alone or among few. The
vectors of memories do not change. The loss is the encoder's, over vectors made once. --check leaves a third of the rows of testdata/asked
out, three times, and writes nothing. Equal input gives equal numbers, but for the last digits.
"""

import argparse
import json
import random
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import optax

import encoder_data as data
import model_file
import small_memories as small
from encoder_data import NEEDED, OTHER, UNKNOWN, User
from model_file import ROOT
from rust_features import Exported, vectors

PAIRS = ROOT / "testdata/asked/pairs.jsonl"
# Users made of cards: there are many, and the encoder has learnt them.
CARD_USERS = 160
# Messages that need nothing, added to each user; and how many of a language there are.
IDLE, IDLE_MOST = 3, 250
# Questions whose answer nobody told, to a memory of one: of the same language and of others.
FOREIGN, FAR = 6, 3
STEPS, RATE, FAST_RATE, RIDGE = 120, 4e-4, 2e-2, 3e-3
# How much the pairs count beside the lists.
PAIRWISE = 2.0


def of_asked(rows, dice):
    """Users with one sentence, and with three and eight."""
    def draw(texts, most):
        return [(text, [OTHER]) for text in dice.sample(texts, min(most, len(texts)))]

    for row in rows:
        far = [other for other in rows if not small.are_near(other["topic"], row["topic"])]
        texts = lambda same: [text for other in far if (other["lang"] == row["lang"]) == same for text in other["asks"]]
        user = User(row["id"], row["lang"], [row["says"]], [(text, [NEEDED]) for text in row["asks"]])
        user.asks += draw(texts(True), FOREIGN) + draw(texts(False), FAR)
        if row["topic"] in small.COMMON:
            others = [other for other in rows if other["topic"] == row["topic"] and other["lang"] != row["lang"]]
            user.asks += [(dice.choice(other["asks"]), [NEEDED]) for other in dice.sample(others, min(2, len(others)))]
        yield user
    for size in (3, 8):
        for _ in range(len(rows) * 3 // size):
            lang = dice.choice(sorted({row["lang"] for row in rows}))
            mine = small.distinct([row for row in rows if row["lang"] == lang], size, dice)
            asks = [(text, [NEEDED if other is row else OTHER for other in mine]) for row in mine for text in row["asks"]]
            yield User(lang, lang, [row["says"] for row in mine], asks)


def with_idle(users, idle, dice):
    for user in users:
        more = dice.sample(idle.get(user.lang, []), IDLE) if idle.get(user.lang) else []
        user.asks += [(text, [OTHER] * len(user.memories)) for text in more]
        yield user


def texts_of(users):
    """The texts of questions and of memories."""
    return {text for user in users for text, _ in user.asks}, {text for user in users for text in user.memories}


def embedded(questions, memories):
    """The vector of each text, as the program embeds it."""
    questions = sorted(questions)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in questions)
        file.flush()
        asked = Exported("need", [file.name])["vectors"]
    return dict(zip(questions, asked)), vectors(list(memories))


def batch(users, asked, told):
    """All pairs of a question and a memory of its user; those that are not known are left out."""
    pairs = []
    for number, (user, (text, labels)) in enumerate((user, ask) for user in users for ask in user.asks):
        pairs += [(text, memory, number, label == NEEDED) for memory, label in zip(user.memories, labels) if label != UNKNOWN]
    places = lambda at: {text: place for place, text in enumerate(dict.fromkeys(pair[at] for pair in pairs))}
    questions, memories = places(0), places(1)
    return {
        "questions": np.array([asked[text] for text in questions]),
        "memories": np.array([told[text] for text in memories]),
        "ask": np.array([questions[pair[0]] for pair in pairs]),
        "memory": np.array([memories[pair[1]] for pair in pairs]),
        "group": np.array([pair[2] for pair in pairs]),
        "label": np.array([pair[3] for pair in pairs], np.float32),
        "groups": pairs[-1][2] + 1,
    }


def scores(parameters, some):
    turned = some["questions"] + some["questions"] @ parameters["turn"]
    turned /= jnp.linalg.norm(turned, axis=1, keepdims=True)
    cosine = (turned[some["ask"]] * some["memories"][some["memory"]]).sum(-1)
    return jnp.exp(parameters["scale"]) * cosine - parameters["nothing"]


def loss(parameters, some):
    score, label, group = scores(parameters, some), some["label"], some["group"]
    by_ask = lambda value: jax.ops.segment_sum(value, group, some["groups"])
    others = 1 + by_ask(jnp.where(label == 0, jnp.exp(jnp.clip(score, -30, 30)), 0.0))
    missed = jnp.where(label == 1, jnp.log(jnp.exp(jnp.clip(score, -30, 30)) + others[group]) - score, 0.0)
    needed = by_ask(label)
    lists = jnp.where(needed > 0, by_ask(missed) / jnp.maximum(needed, 1), jnp.log(others)).mean()
    return lists + PAIRWISE * (jax.nn.softplus(score) - label * score).mean()


def train(sets):
    parameters = {"turn": jnp.zeros((384, 384)), "scale": jnp.array(3.6), "nothing": jnp.array(7.3)}
    whole = lambda it: sum(loss(it, some) for some in sets) / len(sets) + RIDGE * (it["turn"] ** 2).sum()
    rate = optax.warmup_cosine_decay_schedule(0, 1.0, STEPS // 10, STEPS, 0.02)
    kinds = {"turn": "slow", "scale": "fast", "nothing": "fast"}
    by_kind = {"slow": optax.adam(lambda at: RATE * rate(at)), "fast": optax.adam(lambda at: FAST_RATE * rate(at))}
    optimiser = optax.multi_transform(by_kind, kinds)
    state = optimiser.init(parameters)

    @jax.jit
    def step(parameters, state):
        change, state = optimiser.update(jax.grad(whole)(parameters), state)
        return optax.apply_updates(parameters, change), state

    for _ in range(STEPS):
        parameters, state = step(parameters, state)
    return parameters


def told_of(name, parameters, some):
    """How well pairs are told apart, and what is above the score where so much of what is needed is found."""
    score, label = np.asarray(scores(parameters, some)), some["label"] == 1
    ranks = np.argsort(np.argsort(score)) + 1.0
    area = (ranks[label].sum() - label.sum() * (label.sum() + 1) / 2) / (label.sum() * (~label).sum())
    line = f"{name}: {label.sum()} of {len(label)} pairs fit, area {area:.3f}"
    for recall in (0.9, 0.8, 0.7):
        threshold = np.quantile(score[label], 1 - recall)
        line += f"; at {recall}: of those that do not fit {(score[~label] >= threshold).mean():.3f}"
    print(line, flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--into", type=model_file.folder, default=model_file.MODEL)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    dice = random.Random(3)
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    idle = {lang: [text for text in texts if len(text) < 160][:IDLE_MOST] for lang, texts in data.idle().items()}
    cards = list(data.cards())
    cards = dice.sample(cards, CARD_USERS)
    known = [list(with_idle(users, idle, dice)) for users in (list(data.profiles()), cards)]
    held, small_users = list(data.ordinary()), list(of_asked(rows, dice))
    everybody = [user for users in (*known, held, small_users) for user in users]
    questions, memories = texts_of(everybody)
    asked, told = embedded(questions | {text for row in rows for text in row["asks"]}, memories)
    known = [batch(users, asked, told) for users in known]
    ordinary = batch(held, asked, told)
    if given.check:
        plain = {"turn": jnp.zeros((384, 384)), "scale": jnp.array(3.6), "nothing": jnp.array(7.3)}
        told_of("testdata/ordinary, not turned", plain, ordinary)
        for fold in range(3):
            left = [row for at, row in enumerate(rows) if at % 3 == fold]
            some = list(of_asked([row for row in rows if row not in left], dice))
            parameters = train([batch(some, asked, told), *known])
            alone = batch([user for user in of_asked(left, dice) if len(user.memories) == 1], asked, told)
            told_of(f"fold {fold}, not turned", plain, alone)
            told_of(f"fold {fold}", parameters, alone)
            told_of("testdata/ordinary", parameters, ordinary)
        return
    parameters = train([batch(small_users, asked, told), *known])
    # The program multiplies a row of the matrix with the vector.
    matrix, step = model_file.quantised(np.asarray(parameters["turn"]).T)
    tensors = {"query_adapter.matrix": matrix, "query_adapter.scale": model_file.scalar(step)}
    model_file.save("query_adapter", tensors, data=[*data.files(), PAIRS], command="tools/train_turn.py", folder=given.into)


if __name__ == "__main__":
    main()
