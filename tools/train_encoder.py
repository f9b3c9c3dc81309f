#!/usr/bin/env python3
"""Trains the top layers of multilingual-e5-small to tell which of a user's memories a message needs.

    python tools/train_encoder.py E5_SMALL_Q4_BIN [--into FOLDER]

The encoder reads a question and a memory separately, so a memory's vector is computed once. The lower layers do not
change; their output is computed once and kept in memory. Questions get one more matrix. Each message is scored against
all memories of its user and against "nothing", whose score is learned as well. So one threshold fits all messages.

FOLDER receives layers.safetensors (the trained layers, as integers that the exported graph computes with). The
matrix is made anew by tools/train_turn.py. No user of testdata/ordinary is trained on, because the relevance is fitted to them. The
trainer prints how well their memories are ranked before and after.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tokenizers import Tokenizer

import encoder_data as data
import export_e5
import model_file
from encoder import embedded, encode_layer, layer_weights, named_weights, places, pooled, unit
from encoder_data import passage, query
from export_onnx import rounded

# Layers that stay as they are.
FROZEN = 8
# A message or a memory has fewer tokens, nearly always.
LONGEST = 48
# The bounds of a batch: tokens, texts, pairs, messages.
TOKENS, TEXTS, PAIRS, ASKS = 6144, 384, 8192, 512
EPOCHS = 4
RATE, FAST_RATE = 1e-4, 2e-2
# Messages that need nothing, added to each user in each epoch.
IDLE = 3
# How much the pairs count beside the lists.
PAIRWISE = 2.0


class Texts:
    """Texts as tokens, and what the frozen layers make of them."""

    def __init__(self, config, tokenizer, weights):
        self.tokenizer = Tokenizer.from_str(json.dumps(tokenizer))
        self.weights, self.config = weights, config
        self.states = {}

    def read(self, texts):
        texts = sorted(set(texts) - self.states.keys(), key=lambda text: (len(text), text))
        ids = [encoded.ids for encoded in self.tokenizer.encode_batch(texts)]
        ids = [row if len(row) <= LONGEST else [*row[: LONGEST - 1], row[-1]] for row in ids]
        layers = [layer_weights(self.weights, index) for index in range(FROZEN)]

        @jax.jit
        def lower(x, place, token):
            for layer in layers:
                x = encode_layer(layer, x, place, token)
            return x.astype(jnp.float16)

        at = 0
        while at < len(texts):
            end, tokens = at, 0
            while end < len(texts) and end - at < TEXTS and tokens + len(ids[end]) <= TOKENS:
                tokens, end = tokens + len(ids[end]), end + 1
            x = np.zeros((TOKENS, self.config["hidden_size"]), np.float32)
            x[:tokens] = np.concatenate([embedded(self.weights, row) for row in ids[at:end]])
            lengths = [len(row) for row in ids[at:end]]
            place, token, _ = places(lengths, TOKENS, TEXTS, LONGEST)
            states = np.asarray(lower(x, place, token))
            for text, state in zip(texts[at:end], np.split(states[:tokens], np.cumsum(lengths)[:-1])):
                self.states[text] = state
            at = end


class Batches:
    """Whole users, as many as fit."""

    def __init__(self, texts, users, idle):
        self.texts, self.users, self.idle = texts, users, idle

    def epoch(self, order):
        for at in order.permutation(len(self.users)):
            user = self.users[at]
            idle = self.idle.get(user.lang, [])
            more = order.choice(idle, IDLE) if idle else []
            yield user, user.asks + [(str(text), [data.OTHER] * len(user.memories)) for text in more]

    def pack(self, units):
        kept, sizes = [], np.zeros(4, int)
        for user, asks in units:
            states = [self.texts.states[passage(text)] for text in user.memories]
            states += [self.texts.states[query(text)] for text, _ in asks]
            size = np.array([sum(map(len, states)), len(states), len(user.memories) * len(asks), len(asks)])
            if kept and (sizes + size > (TOKENS, TEXTS, PAIRS, ASKS - 1)).any():
                yield self.batch(kept)
                kept, sizes = [], np.zeros(4, int)
            kept.append((len(user.memories), [labels for _, labels in asks], states))
            sizes += size
        if kept:
            yield self.batch(kept)

    def batch(self, kept):
        states = [state for _, _, of_user in kept for state in of_user]
        joined = np.concatenate(states)
        x = np.zeros((TOKENS, joined.shape[1]), np.float16)
        x[: len(joined)] = joined
        place, token, text = places([len(state) for state in states], TOKENS, TEXTS, LONGEST)
        ask, memory, group = (np.full(PAIRS, fill, np.int32) for fill in (0, 0, ASKS - 1))
        label, counts = np.zeros(PAIRS, np.float32), np.zeros(PAIRS, np.float32)
        pair = first = number = 0
        for memories, asks, of_user in kept:
            for at, labels in enumerate(asks):
                end = pair + memories
                ask[pair:end] = first + memories + at
                memory[pair:end] = first + np.arange(memories)
                group[pair:end] = number
                label[pair:end] = np.array(labels) == data.NEEDED
                counts[pair:end] = np.array(labels) != data.UNKNOWN
                pair, number = end, number + 1
            first += len(of_user)
        return dict(x=x, place=place, token=token, text=text, ask=ask, memory=memory, group=group, label=label, counts=counts)


def vectors(parameters, batch):
    x = batch["x"].astype(jnp.float32)
    for layer in parameters["layers"]:
        x = encode_layer(layer, x, batch["place"], batch["token"])
    return unit(pooled(x, batch["text"], TEXTS))


def scores(parameters, batch):
    """Scores of each pair, in log-odds against "nothing"."""
    memories = vectors(parameters, batch)
    asks = unit(memories + memories @ parameters["turn"])
    cosine = (asks[batch["ask"]] * memories[batch["memory"]]).sum(-1)
    return jnp.exp(parameters["scale"]) * cosine - parameters["nothing"]


def loss(parameters, batch):
    label, counts, group = batch["label"], batch["counts"], batch["group"]
    score = jnp.where(counts > 0, scores(parameters, batch), 0.0)
    by_ask = lambda value: jax.ops.segment_sum(value, group, ASKS)
    likely = jnp.exp(jnp.clip(score, -30, 30))
    others = 1 + by_ask(jnp.where((label == 0) & (counts > 0), likely, 0.0))
    missed = jnp.where((label == 1) & (counts > 0), jnp.log(likely + others[group]) - score, 0.0)
    needed = by_ask(label * counts)
    lists = jnp.where(needed > 0, by_ask(missed) / jnp.maximum(needed, 1), jnp.log(others))
    is_there = by_ask(counts) > 0
    lists = jnp.where(is_there, lists, 0.0).sum() / is_there.sum()
    pairs = ((jax.nn.softplus(score) - label * score) * counts).sum() / counts.sum()
    return lists + PAIRWISE * pairs, lists


def begin(texts, sample):
    """The layers as they are, but that vectors have their middle at zero: the last bias moves by it. Else everything
    is near everything, and a cosine says little."""
    weights, hidden = texts.weights, texts.config["hidden_size"]
    layers = [layer_weights(weights, index) for index in range(FROZEN, texts.config["num_hidden_layers"])]

    @jax.jit
    def mean(x, place, token, text):
        for layer in layers:
            x = encode_layer(layer, x, place, token)
        return pooled(x, text, TEXTS)

    sums, count = np.zeros(hidden), 0
    for at in range(0, len(sample), TOKENS // LONGEST):
        states = [texts.states[text] for text in sample[at : at + TOKENS // LONGEST]]
        x = np.zeros((TOKENS, hidden), np.float32)
        joined = np.concatenate(states)
        x[: len(joined)] = joined
        found = mean(x, *places([len(state) for state in states], TOKENS, TEXTS, LONGEST))
        sums, count = sums + np.asarray(found)[: len(states)].sum(0), count + len(states)
    layers[-1]["narrow_norm"]["bias"] -= jnp.asarray(sums / count, jnp.float32)
    return {
        "layers": layers,
        "turn": jnp.zeros((hidden, hidden)),
        "scale": jnp.array(2.3),
        "nothing": jnp.array(5.0),
    }


def train(parameters, batches, order):
    steps = sum(1 for _ in batches.pack(batches.epoch(np.random.default_rng(0))))
    total = steps * EPOCHS
    rate = optax.warmup_cosine_decay_schedule(0, 1.0, max(1, total // 10), total, 0.02)
    kinds = {"layers": "slow", "turn": "slow", "scale": "fast", "nothing": "fast"}
    by_kind = {
        "slow": optax.adamw(lambda step: RATE * rate(step), weight_decay=0.01),
        "fast": optax.adam(lambda step: FAST_RATE * rate(step)),
    }
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.multi_transform(by_kind, kinds))
    state = optimiser.init(parameters)

    @jax.jit
    def step(parameters, state, batch):
        (_, lists), gradient = jax.value_and_grad(loss, has_aux=True)(parameters, batch)
        change, state = optimiser.update(gradient, state, parameters)
        return optax.apply_updates(parameters, change), state, lists

    started, done, told = time.monotonic(), 0, []
    for _ in range(EPOCHS):
        for batch in batches.pack(batches.epoch(order)):
            parameters, state, lists = step(parameters, state, batch)
            told.append(float(lists))
            done += 1
            if done % 20 == 0:
                seconds = time.monotonic() - started
                print(f"step {done} of about {total}, {seconds:.0f} s, loss {np.mean(told[-20:]):.3f}", flush=True)
    return parameters


def tell(name, parameters, batches, users):
    """Mean average precision, and at the threshold where so much of what is needed is found: how much of what is
    above it is needed, and how many of the messages that need nothing get nothing."""
    score = jax.jit(scores)
    of, labels, quiet, precisions = [], [], [], []
    for batch in batches.pack((user, user.asks) for user in users):
        found = np.asarray(score(parameters, batch))
        for group in range(batch["group"][batch["counts"] + batch["label"] > 0].max(initial=-1) + 1):
            at = (batch["group"] == group) & (batch["counts"] > 0)
            values, wanted = found[at], batch["label"][at] == 1
            if not wanted.any():
                quiet.append(values.max(initial=-99))
            else:
                places_of = np.flatnonzero(wanted[np.argsort(-values, kind="stable")])
                precisions.append(np.mean((np.arange(len(places_of)) + 1) / (places_of + 1)))
            of.append(values)
            labels.append(wanted)
    of, labels, quiet = np.concatenate(of), np.concatenate(labels), np.array(quiet)
    line = f"{name}: {len(precisions)} messages with need, {len(quiet)} without; AP {np.mean(precisions):.3f}"
    for recall in (0.9, 0.8, 0.7, 0.6):
        threshold = np.sort(of[labels])[::-1][int(np.ceil(recall * labels.sum())) - 1]
        precision, silence = labels[of >= threshold].mean(), (quiet < threshold).mean()
        line += f"; at {recall}: precision {precision:.3f}, silence {silence:.2f}, score {threshold:.2f}"
    print(line, flush=True)


def save(parameters, folder):
    tensors = {}
    for index, layer in enumerate(parameters["layers"], FROZEN):
        for name, value in named_weights(layer, index).items():
            if value.ndim == 2:
                value, scale = rounded(value)
                tensors[f"{name}.scale"] = scale
            tensors[name] = value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "layers.safetensors").write_bytes(model_file.packed(tensors, {}))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("--into", type=model_file.folder, default=model_file.MODEL)
    given = arguments.parse_args()
    started = time.monotonic()
    texts = Texts(*export_e5.read(export_e5.Source(given.source.read_bytes())))
    sets = {"profiles": list(data.profiles()), "ordinary": list(data.ordinary()), "cards": list(data.cards())}
    idle = {lang: [text for text in rows if len(text) < 160] for lang, rows in data.idle().items()}
    everybody = [user for users in sets.values() for user in users]
    texts.read(
        [passage(text) for user in everybody for text in user.memories]
        + [query(text) for user in everybody for text, _ in user.asks]
        + [query(text) for rows in idle.values() for text in rows]
    )
    print(f"{len(texts.states)} texts read in {time.monotonic() - started:.0f} s", flush=True)

    trained = sets["profiles"] + sets["cards"]
    batches = Batches(texts, trained, idle)
    order = np.random.default_rng(0)
    sample = [passage(text) for user in trained for text in user.memories]
    sample = [sample[at] for at in order.permutation(len(sample))[:2000]]
    parameters = begin(texts, sample)
    tell("before", parameters, batches, sets["ordinary"])
    parameters = train(parameters, batches, order)
    tell("after", parameters, batches, sets["ordinary"])
    print(f"scale {float(parameters['scale']):.2f}, nothing {float(parameters['nothing']):.2f}, all in {time.monotonic() - started:.0f} s")
    save(parameters, given.into)


if __name__ == "__main__":
    main()
