#!/usr/bin/env python3
"""Writes the tiny models in testdata/embed/, with which tests make embedding fail or slow down, or use a graph of
another layout.

    python tools/export_test_models.py testdata/embed

failing/     loads, and fails at every run
tripwire/    works (384 numbers of no meaning, from the letters of a text), but a text with the
             word "explode" fails and one with the word "dawdle" takes about a second
tokens/      a vector of 4 numbers for each token, as most exporters give; wants token types
neighbours/  vectors that depend on the longest text of the batch
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from export_onnx import Graph

PADDING, BEFORE, BEHIND, UNKNOWN, EXPLODE, DAWDLE, FIRST_LETTER = range(7)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Products of two 256 x 256 matrices: a second or so on one core of today's servers.
SLOW_STEPS = 6000


def tokenizer():
    """The tokenizer: letters as tokens, and the two words with a special effect."""
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    vocabulary = {token: index for index, token in enumerate([*special, "explode", "dawdle"])}
    vocabulary |= {letter: FIRST_LETTER + index for index, letter in enumerate(LETTERS)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": vocabulary[t], "content": t, "special": True, **flags} for t in special]
    added += [
        {"id": vocabulary[t], "content": t, "special": False, **flags}
        for t in ("explode", "dawdle")
    ]
    frame = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": "\\S"},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": frame,
            "pair": frame,
            "special_tokens": {
                t: {"id": t, "ids": [vocabulary[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "vocab": vocabulary,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }


def constant(graph, value, kind):
    return graph.constant(f"constant_{len(graph.constants)}", np.array(value, kind))


def waves(graph, size):
    """[batch, sequence, size]: for token t the sines of t, 2t, 3t ..."""
    ids = graph.node("Cast", ["input_ids"], to=TensorProto.FLOAT)
    ids = graph.node("Unsqueeze", [ids, constant(graph, [2], np.int64)])
    steps = constant(graph, np.arange(1, size + 1), np.float32)
    return graph.node("Sin", [graph.node("Mul", [ids, steps])])


def mean(graph, tokens):
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", [mask, constant(graph, [2], np.int64)])
    return graph.node(
        "ReduceSum",
        [graph.node("Mul", [tokens, mask]), constant(graph, [1], np.int64)],
        keepdims=0,
    )


def contains(graph, token):
    """1 when any text of the batch has the token, else 0."""
    equal = graph.node("Equal", ["input_ids", constant(graph, token, np.int64)])
    return graph.node("ReduceMax", [graph.node("Cast", [equal], to=TensorProto.INT64)], keepdims=0)


def one_or_failure(graph, index):
    """1.0 at index 0; any other index is out of bounds, which is found at run time."""
    return graph.node("Gather", [constant(graph, [1.0], np.float32), index])


def one_slowly(graph, times):
    """1.0, after `times` products of a matrix whose square is itself."""
    shape = constant(graph, [256, 256], np.int64)
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [1 / 256])
    matrix = graph.node("ConstantOfShape", [shape], value=value)
    flag = constant(graph, True, np.bool_)

    def info(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", matrix], ["next"]),
            helper.make_node("Identity", ["go"], ["go_on"]),
        ],
        "steps",
        [
            info("step", TensorProto.INT64, []),
            info("go", TensorProto.BOOL, []),
            info("x", TensorProto.FLOAT, [256, 256]),
        ],
        [info("go_on", TensorProto.BOOL, []), info("next", TensorProto.FLOAT, [256, 256])],
    )
    product = graph.node("Loop", [times, flag, matrix], body=body)
    return graph.node("ReduceSum", [product], keepdims=0), 256


def save(graph, folder, inputs, output):
    body = helper.make_graph(
        graph.nodes,
        folder.name,
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "s"]) for n in inputs],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        graph.constants,
    )
    model = helper.make_model(body, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    place = folder / "onnx" if folder.name == "tokens" else folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    text = json.dumps(tokenizer(), ensure_ascii=False, indent=1)
    (folder / "tokenizer.json").write_text(text + "\n")


IDS_AND_MASK = ["input_ids", "attention_mask"]


def failing(folder):
    graph = Graph()
    some_id = graph.node("ReduceMax", ["input_ids"], keepdims=0)
    beyond = graph.node("Add", [some_id, constant(graph, 1000, np.int64)])
    vector = mean(graph, waves(graph, 384))
    factor = one_or_failure(graph, beyond)
    graph.node("Mul", [vector, factor], output="sentence_embedding")
    save(graph, folder, IDS_AND_MASK, ("sentence_embedding", ["b", 384]))


def tripwire(folder):
    graph = Graph()
    factor = one_or_failure(graph, contains(graph, EXPLODE))
    times = graph.node("Mul", [contains(graph, DAWDLE), constant(graph, SLOW_STEPS, np.int64)])
    slow, sum_of_slow = one_slowly(graph, times)
    vector = mean(graph, waves(graph, 384))
    vector = graph.node("Mul", [vector, factor])
    vector = graph.node("Mul", [vector, slow])
    scale = constant(graph, 1 / sum_of_slow, np.float32)
    graph.node("Mul", [vector, scale], output="sentence_embedding")
    save(graph, folder, IDS_AND_MASK, ("sentence_embedding", ["b", 384]))


def tokens(folder):
    graph = Graph()
    types = graph.node("Cast", ["token_type_ids"], to=TensorProto.FLOAT)
    types = graph.node("Unsqueeze", [types, constant(graph, [2], np.int64)])
    graph.node("Add", [waves(graph, 4), types], output="last_hidden_state")
    inputs = [*IDS_AND_MASK, "token_type_ids"]
    save(graph, folder, inputs, ("last_hidden_state", ["b", "s", "h"]))


def neighbours(folder):
    graph = Graph()
    vector = mean(graph, waves(graph, 4))
    shape = graph.node("Cast", [graph.node("Shape", ["input_ids"])], to=TensorProto.FLOAT)
    longest = graph.node("Gather", [shape, constant(graph, 1, np.int64)])
    shift = graph.node("Mul", [longest, constant(graph, [1, 0, 0, 0], np.float32)])
    graph.node("Add", [vector, shift], output="sentence_embedding")
    save(graph, folder, IDS_AND_MASK, ("sentence_embedding", ["b", 4]))


def main():
    root = Path(sys.argv[1])
    for write in (failing, tripwire, tokens, neighbours):
        write(root / write.__name__)


if __name__ == "__main__":
    main()
