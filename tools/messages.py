"""Messages as numbers, and the logistic regressions over them: what the models of crates/models/src/message have in common.

A message is its hashed n-grams and cues and, where the embedder has read it, the means of the embedder's inner layers and its
sentence vector.
"""

import json
import tempfile

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import model_file
from model_file import scalar
from rust_features import Exported

# How much the means of the inner layers count, once each is brought to mean 0 and deviation 1.
LAYERS = 8.0
# How much the sentence vector counts.
VECTOR = 4.0
REGULARISATION = 0.3
FOLDS = 5


def fit(x, y):
    model = LogisticRegression(C=REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
    return model.fit(x, y)


class Messages:
    """Rows with `text`, as numbers: `grams` alone, and `whole` with the embedder's beside them."""

    def __init__(self, rows):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": row["text"]}) + "\n" for row in rows)
            file.flush()
            exported = Exported("need", [file.name])
        self.rows = rows
        self.grams, vectors, layers = exported.grams(), exported["vectors"], exported["layers"]
        self.weight = LAYERS / vectors.shape[1] ** 0.5
        self.middle, self.spread = layers.mean(0), layers.std(0) + 1e-6
        self.dense = np.hstack([layers, vectors])
        weighed = np.hstack([(layers - self.middle) / self.spread * self.weight, vectors * VECTOR])
        self.whole = sparse.hstack([self.grams, sparse.csr_matrix(weighed)]).tocsr()

    def linear(self, model):
        """Bias, weights of the layers and the vector as the embedder gives them, weights of n-grams."""
        weights, size = model.coef_[0], self.grams.shape[1]
        bias, grams, dense = float(model.intercept_[0]), weights[:size], weights[size:]
        if len(dense) == 0:
            return bias, dense, grams
        layers, vector = np.split(dense, [len(self.spread)])
        layers = layers * self.weight / self.spread
        return bias - float(layers @ self.middle), np.hstack([layers, vector * VECTOR]), grams


class Judged(Messages):
    """Messages of which two regressions judge one thing: `whole`, and `words` on the n-grams alone. A subclass says by whom a
    row is judged (`by_others`), from where on it is (`threshold`), and what is `told` of both."""

    def __init__(self, rows, is_so):
        super().__init__(rows)
        self.is_so = np.array([row[is_so] for row in rows])

    def train(self, name):
        """The tensors `name.…`, and the scores."""
        tensors, scores = {}, []
        for part, x in (("whole", self.whole), ("words", self.grams)):
            likely = self.by_others(x)
            threshold = self.threshold(likely)
            scores += self.told(part, likely, threshold)
            bias, dense, weights = self.linear(fit(x, self.is_so))
            tensors |= model_file.linear(f"{name}.{part}", bias, weights, dense if len(dense) else None)
            tensors[f"{name}.{part}.threshold"] = scalar(threshold)
        return tensors, scores
