"""A BERT encoder in JAX, for texts laid one after another: dense layers see no padding, attention alone does.

Products are computed in bfloat16 and summed in float32, which halves the time of training and leaves vectors as
they are within 0.001.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

# What a layer is made of: the names of a BERT model's weights.
DENSE = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
}
NORMS = {"attended_norm": "attention.output.LayerNorm", "narrow_norm": "output.LayerNorm"}


def layer_weights(weights, index):
    """One layer of a BERT model, as named in its file."""
    of = lambda name, part: jnp.asarray(weights[f"encoder.layer.{index}.{name}.{part}"], jnp.float32)
    layer = {short: {"weight": of(name, "weight").T, "bias": of(name, "bias")} for short, name in DENSE.items()}
    return layer | {short: {"weight": of(name, "weight"), "bias": of(name, "bias")} for short, name in NORMS.items()}


def named_weights(layer, index):
    """The reverse of `layer_weights`."""
    prefix = f"encoder.layer.{index}."
    named = {f"{prefix}{name}.weight": np.asarray(layer[short]["weight"]).T for short, name in DENSE.items()}
    named |= {f"{prefix}{name}.weight": np.asarray(layer[short]["weight"]) for short, name in NORMS.items()}
    both = (DENSE | NORMS).items()
    return named | {f"{prefix}{name}.bias": np.asarray(layer[short]["bias"]) for short, name in both}


def normalised(x, weight, bias, epsilon=1e-12):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + epsilon) * weight + bias


@jax.custom_vjp
def product(a, b):
    return jax.lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


def _product_backwards(saved, gradient):
    a, b = saved
    gradient = gradient.astype(jnp.bfloat16)
    dot = functools.partial(jax.lax.dot, preferred_element_type=jnp.float32)
    return dot(gradient, b.T), dot(a.T, gradient)


product.defvjp(
    lambda a, b: (product(a, b), (a.astype(jnp.bfloat16), b.astype(jnp.bfloat16))), _product_backwards
)


@jax.custom_vjp
def to_texts(x, place, _token):
    """From tokens [tokens, numbers] to texts [texts, length, numbers]. The reverse of a gather is a scatter, which is
    slow; since both directions are known, each is the other's reverse."""
    return jnp.concatenate([x, jnp.zeros((1, x.shape[1]), x.dtype)])[place]


def _to_texts_backwards(token, gradient):
    return gradient.reshape(-1, gradient.shape[-1])[token], None, None


to_texts.defvjp(lambda x, place, token: (to_texts(x, place, token), token), _to_texts_backwards)


@jax.custom_vjp
def to_tokens(x, _place, token):
    return x.reshape(-1, x.shape[-1])[token]


def _to_tokens_backwards(place, gradient):
    padded = jnp.concatenate([gradient, jnp.zeros((1, gradient.shape[1]), gradient.dtype)])
    return padded[place], None, None


to_tokens.defvjp(lambda x, place, token: (to_tokens(x, place, token), place), _to_tokens_backwards)


def encode_layer(layer, x, place, token, heads=12):
    """One layer over tokens. `place` and `token`: see `places`."""
    texts, length = place.shape
    size = x.shape[1]
    dense = lambda x, name: product(x, layer[name]["weight"]) + layer[name]["bias"]
    norm = lambda x, name: normalised(x, layer[name]["weight"], layer[name]["bias"])
    split = lambda y: to_texts(y, place, token).reshape(texts, length, heads, -1).transpose(0, 2, 1, 3)
    query, key, value = (split(dense(x, name)) for name in ("query", "key", "value"))
    padding = jnp.where(place < x.shape[0], 0.0, -1e9)[:, None, None, :]
    shares = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) * (size // heads) ** -0.5 + padding, -1)
    attended = to_tokens((shares @ value).transpose(0, 2, 1, 3).reshape(texts, length, size), place, token)
    x = norm(x + dense(attended, "attended"), "attended_norm")
    return norm(x + dense(jax.nn.gelu(dense(x, "wide"), approximate=False), "narrow"), "narrow_norm")


def places(lengths, tokens, texts, longest):
    """Where the tokens of each text stand (`tokens`: nowhere), where each token stands in the texts, and which text
    it belongs to (`texts`: none)."""
    place = np.full((texts, longest), tokens, np.int32)
    token = np.zeros(tokens, np.int32)
    text = np.full(tokens, texts, np.int32)
    at = 0
    for number, length in enumerate(lengths):
        place[number, :length] = np.arange(at, at + length)
        token[at : at + length] = number * longest + np.arange(length)
        text[at : at + length] = number
        at += length
    return place, token, text


def pooled(x, text, texts):
    """The mean over each text's tokens."""
    total = jax.ops.segment_sum(x, text, texts + 1)[:texts]
    count = jax.ops.segment_sum(jnp.ones(len(x)), text, texts + 1)[:texts]
    return total / jnp.maximum(count, 1)[:, None]


def unit(x):
    return x * jax.lax.rsqrt((x * x).sum(-1, keepdims=True) + 1e-9)


def embedded(weights, ids, epsilon=1e-12):
    """The tokens of one text before the first layer."""
    part = lambda name: weights[f"embeddings.{name}"]
    x = part("word_embeddings.weight")[ids] + part("position_embeddings.weight")[: len(ids)]
    x = x + part("token_type_embeddings.weight")[0]
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
    return scaled * part("LayerNorm.weight") + part("LayerNorm.bias")
