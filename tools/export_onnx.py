#!/usr/bin/env python3
"""Writes a BERT-family sentence encoder as ONNX, from its safetensors, without torch.

    python tools/export_onnx.py SOURCE_DIR OUTPUT_DIR

SOURCE_DIR holds model.safetensors, tokenizer.json and config.json. OUTPUT_DIR gets
    model.onnx        fp32
    model_int8.onnx   int8 weights, activations quantised token by token
    tokenizer.json, config.json   copies
Both graphs take input_ids and attention_mask (int64, [batch, sequence]) and give
sentence_embedding (float, [batch, hidden]): mean-pooled over the mask and L2-normalised;
layer_means (float, [batch, inner * hidden]): the means over the mask of what each inner
layer gives (all but the first and the last), one behind the other. They know more of how a text
is put than the sentence's vector does, which was trained to know what it is about.

The graphs use ONNX Runtime's own operators (domain com.microsoft) where they are faster: its
load-time optimiser does not find attention by itself. Its SkipLayerNormalization is not used;
measured, it takes twice as long as two additions and a LayerNormalization.
The same input gives the same bytes.
"""

import json
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CONTRIB = "com.microsoft"
# Weights are rounded to -63..63: seven bits, since processors without VNNI add two products of
# a byte and a signed byte in 16 bits, and 2 * 255 * 63 fits while 2 * 255 * 127 does not. So
# every processor computes the same integers.
WEIGHT_LEVELS = 63
# Activations are bytes around a fixed zero. Those behind GELU are never below -0.17, so nearly
# all of the range is theirs above zero.
ZERO, LEVELS = 128, 127
GELU_ZERO, GELU_LEVELS, GELU_LOWEST = 16, 239, 0.17


def read_safetensors(path):
    """Name to array, of every float tensor. The format: u64 header length, JSON, data."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def rounded(weight):
    """A weight as integers, and what one of them is worth in each output."""
    scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / np.float32(WEIGHT_LEVELS)
    return np.rint(weight / scale[:, None]).astype(np.int8), scale.astype(np.float32)


class Graph:
    """Nodes and constants of a graph under construction, in a fixed order."""

    def __init__(self):
        self.nodes = []
        self.constants = []

    def constant(self, name, value):
        """The constant of that name, added when it is new."""
        if all(known.name != name for known in self.constants):
            # np.ascontiguousarray would turn a scalar into a vector.
            self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, op, inputs, domain="", output=None, **attributes):
        output = output or f"{op}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes)
        )
        return output

    def contrib(self, op, inputs, **attributes):
        return self.node(op, inputs, domain=CONTRIB, **attributes)


class Fp32:
    """Weights as they are."""

    def prepare(self, graph, x, after_gelu=False):
        """The input of `linear`, made once for all weights that it meets."""
        return x

    def linear(self, graph, x, name, weight):
        """Prepared x times the transposed weight, without the bias."""
        return graph.node("MatMul", [x, graph.constant(name, weight.T)])

    def lookup(self, graph, ids, name, table):
        return graph.node("Gather", [graph.constant(name, table), ids])


class Int8:
    """Integers with a scale for each output of a weight, each token of an activation, and each
    word of the table. No scale is shared by texts, so a text's vector is the same in any batch.
    """

    def prepare(self, graph, x, after_gelu=False):
        last = graph.constant("last", np.array([-1], np.int64))
        if after_gelu:
            zero, levels = GELU_ZERO, GELU_LEVELS
            largest = graph.node("ReduceMax", [x, last], keepdims=1)
            least = GELU_LOWEST / GELU_ZERO
        else:
            zero, levels = ZERO, LEVELS
            largest = graph.node("ReduceMax", [graph.node("Abs", [x]), last], keepdims=1)
            least = 1e-12
        step = graph.constant(f"step.{levels}", np.float32(1 / levels))
        least = graph.constant(f"least.{levels}", np.float32(least))
        scale = graph.node("Max", [graph.node("Mul", [largest, step]), least])
        zero = graph.constant(f"zero.{zero}", np.uint8(zero))
        scaled = graph.node("Div", [x, scale])
        one = graph.constant("one", np.float32(1))
        return graph.node("QuantizeLinear", [scaled, one, zero]), scale, zero

    def linear(self, graph, x, name, weight):
        values, scale, zero = x
        rounded_weight, weight_scale = rounded(weight)
        product = graph.contrib(
            "MatMulIntegerToFloat",
            [
                values,
                graph.constant(name, rounded_weight.T),
                graph.constant("one", np.float32(1)),
                graph.constant(f"{name}.scale", weight_scale),
                zero,
            ],
        )
        return graph.node("Mul", [product, scale])

    def lookup(self, graph, ids, name, table):
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12) / np.float32(127)
        values = np.rint(table / scale).astype(np.int8)
        row = graph.node("Gather", [graph.constant(name, values), ids])
        row_scale = graph.node("Gather", [graph.constant(f"{name}.scale", scale), ids])
        return graph.node("Mul", [graph.node("Cast", [row], to=TensorProto.FLOAT), row_scale])


def embed_tokens(graph, config, weights, precision):
    """Word, position and (always the first) segment, summed and normalised."""
    words = precision.lookup(
        graph, "input_ids", "words", weights["embeddings.word_embeddings.weight"]
    )
    places = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = graph.node("Shape", ["input_ids"], start=1, end=2)
    start = graph.constant("start", np.array([0], np.int64))
    places = graph.node("Slice", [graph.constant("places", places), start, length])
    return graph.node(
        "LayerNormalization",
        [
            graph.node("Add", [words, places]),
            graph.constant("embed.gamma", weights["embeddings.LayerNorm.weight"]),
            graph.constant("embed.beta", weights["embeddings.LayerNorm.bias"]),
        ],
        axis=-1,
        epsilon=config["layer_norm_eps"],
    )


def encode_layer(graph, config, weights, precision, index, x, mask):
    """One transformer layer: self-attention and feed-forward, each added to its input."""
    prefix = f"encoder.layer.{index}."

    def linear(x, name):
        return precision.linear(graph, x, f"{prefix}{name}", weights[f"{prefix}{name}.weight"])

    def bias(name):
        return graph.constant(f"{prefix}{name}.bias", weights[f"{prefix}{name}.bias"])

    def add_and_normalise(x, skip, dense, norm):
        x = graph.node("Add", [graph.node("Add", [x, bias(dense)]), skip])
        gamma = graph.constant(f"{prefix}{norm}.gamma", weights[f"{prefix}{norm}.weight"])
        return graph.node(
            "LayerNormalization", [x, gamma, bias(norm)], axis=-1, epsilon=config["layer_norm_eps"]
        )

    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    prepared = precision.prepare(graph, x)
    attended = graph.contrib(
        "MultiHeadAttention",
        [
            *(linear(prepared, part) for part in parts),
            graph.constant(
                f"{prefix}attention.bias",
                np.concatenate([weights[f"{prefix}{part}.bias"] for part in parts]),
            ),
            mask,
        ],
        num_heads=config["num_attention_heads"],
    )
    dense = "attention.output.dense"
    attended = linear(precision.prepare(graph, attended), dense)
    x = add_and_normalise(attended, x, dense, "attention.output.LayerNorm")

    dense = "intermediate.dense"
    wide = linear(precision.prepare(graph, x), dense)
    wide = graph.contrib("BiasGelu", [wide, bias(dense)])
    dense = "output.dense"
    narrow = linear(precision.prepare(graph, wide, after_gelu=True), dense)
    return add_and_normalise(narrow, x, dense, "output.LayerNorm")


def pool(graph, x):
    """The mean over the tokens that are no padding, at length 1."""
    axis = graph.constant("axis", np.array([1], np.int64))
    last = graph.constant("last", np.array([-1], np.int64))
    tiny = graph.constant("tiny", np.array(1e-12, np.float32))
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    weighted = graph.node("Mul", [x, graph.node("Unsqueeze", [mask, last])])
    total = graph.node("ReduceSum", [weighted, axis], keepdims=0)
    count = graph.node("ReduceSum", [mask, axis], keepdims=1)
    mean = graph.node("Div", [total, graph.node("Max", [count, tiny])])
    norm = graph.node("ReduceL2", [mean, last], keepdims=1)
    graph.node("Div", [mean, graph.node("Max", [norm, tiny])], output="sentence_embedding")


def layer_means(graph, states):
    """The means over the tokens that are no padding, of each state, side by side."""
    axis = graph.constant("axis", np.array([1], np.int64))
    tiny = graph.constant("tiny", np.array(1e-12, np.float32))
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    count = graph.node("ReduceSum", [mask, axis], keepdims=1)
    share = graph.node("Div", [mask, graph.node("Max", [count, tiny])])
    share = graph.node("Unsqueeze", [share, axis])
    means = [graph.node("MatMul", [share, x]) for x in states]
    wide = graph.node("Concat", means, axis=-1)
    graph.node("Squeeze", [wide, axis], output="layer_means")


def layer_states(graph, states):
    """Each state of each token, side by side."""
    graph.node("Concat", states, axis=-1, output="layer_states")


def build(config, weights, precision, inner=None, read=None):
    """`inner`: the layers whose means are given, counted from 1; `read`: those that are given of each token."""
    graph = Graph()
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.INT32)
    x = embed_tokens(graph, config, weights, precision)
    states = []
    for index in range(config["num_hidden_layers"]):
        x = encode_layer(graph, config, weights, precision, index, x, mask)
        states.append(x)
    pool(graph, x)
    inner, hidden = inner or range(2, len(states)), config["hidden_size"]
    layer_means(graph, [states[layer - 1] for layer in inner])
    read = read or (len(states) // 2, len(states) - 1)
    layer_states(graph, [states[layer - 1] for layer in read])

    def tensor(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        graph.nodes,
        "sentence_encoder",
        [
            tensor("input_ids", TensorProto.INT64, "batch", "sequence"),
            tensor("attention_mask", TensorProto.INT64, "batch", "sequence"),
        ],
        [
            tensor("sentence_embedding", TensorProto.FLOAT, "batch", hidden),
            tensor("layer_means", TensorProto.FLOAT, "batch", len(inner) * hidden),
            tensor("layer_states", TensorProto.FLOAT, "batch", "sequence", len(read) * hidden),
        ],
        graph.constants,
    )
    return helper.make_model(
        body,
        ir_version=8,
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)],
        producer_name="memgate",
    )


def check(config):
    """Refuses what the graph would get silently wrong."""
    expected = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
    }
    for key, value in expected.items():
        if config.get(key, value) != value:
            sys.exit(f"config.json: {key} is {config[key]!r}, but only {value!r} is supported")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    config = json.loads((source / "config.json").read_text())
    check(config)
    weights = read_safetensors(source / "model.safetensors")
    output.mkdir(parents=True, exist_ok=True)
    for name, precision in (("model.onnx", Fp32()), ("model_int8.onnx", Int8())):
        model = build(config, weights, precision)
        (output / name).write_bytes(model.SerializeToString(deterministic=True))
    for name in ("tokenizer.json", "config.json"):
        shutil.copyfile(source / name, output / name)


if __name__ == "__main__":
    main()
