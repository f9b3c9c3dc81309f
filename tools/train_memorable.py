#!/usr/bin/env python3
"""Trains the model that finds the statements worth keeping by their words (crates/models/src/memorable.rs).

    python tools/train_memorable.py [--check] [--into models/all-MiniLM-L6-v2]

Reads testdata/memorable/*.jsonl (messages, each worth keeping or not), testdata/ordinary/*.jsonl (conversations, with
what is to be kept of each message), testdata/asides/*.jsonl (single messages with the same) and testdata/profiles/*.jsonl
(statements to keep, and messages that tell nothing); writes the tensors `memorable.…` and, into the project's own folder,
testdata/memorable/parity.json, with which a test compares the program's figures.
--check only cross-validates: it prints what is found and what is wrongly kept, and writes nothing.

The model: logistic regression on hashed n-grams of words and letters, on cues (alone and in pairs), and on the same of what
stands before and after a piece in its message. It has two weight vectors: `words` says
whether a piece is kept, and `procedural` gives its type. Equal input gives equal bytes.
"""

import argparse
import json
import sys
import tempfile
from difflib import SequenceMatcher

import numpy as np
from sklearn.linear_model import LogisticRegression

import model_file
from model_file import MODEL, ROOT, quantised, scalar
from rust_features import Exported, pieces

MESSAGES = sorted((ROOT / "testdata/memorable").glob("*.jsonl"))
STORIES = sorted((ROOT / "testdata/ordinary").glob("*.jsonl"))
ASIDES = sorted((ROOT / "testdata/asides").glob("*.jsonl"))
PROFILES = sorted((ROOT / "testdata/profiles").glob("*.jsonl"))
# How much a piece of a profile counts: it stands alone, which in conversations few statements do.
PROFILE = 0.3

# A sentence above the first is kept. A clause above the second is kept out of a sentence that is not; below the third it
# is cut off a sentence that is.
THRESHOLDS = {"words": 0.3, "clause": 0.8, "trim": 0.15}
REGULARISATION = 1.0
FOLDS, BLOCK = 5, 8  # near-minimal pairs stand beside each other and stay in one fold


def fit(x, y, weight=None):
    model = LogisticRegression(C=REGULARISATION, solver="liblinear", dual=True, random_state=0, max_iter=2000)
    return model.fit(x, y, sample_weight=weight)


def messages():
    """Messages of users: the text, the spans to keep (None: the whole of a single sentence), and a group that must not be
    divided between folds."""
    found = []
    for file in MESSAGES:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            keep = None if row["memorable"] else []
            found.append({"text": row["text"].strip(), "keep": keep, "type": row["type"], "lang": row.get("lang", "en"),
                          "file": file.stem, "group": (file.stem, number // BLOCK)})
    for file in STORIES:
        for line in file.read_text(encoding="utf-8").splitlines():
            story = json.loads(line)
            for session in story["sessions"]:
                for turn in session["turns"]:
                    if "keep" not in turn:
                        continue
                    found.append({"text": turn["user"].strip(), "keep": turn["keep"], "type": None, "lang": story["lang"],
                                  "file": "ordinary/" + file.stem, "group": story["id"]})
    for file in ASIDES:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            found.append({"text": row["text"].strip(), "keep": row["keep"], "type": None, "lang": row["lang"],
                          "file": "asides/" + file.stem, "group": (file.stem, number // BLOCK)})
    for file in PROFILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            user = json.loads(line)
            told = [(text, [text]) for text in user["memories"]] + [(ask["text"], []) for ask in user["asks"]]
            for text, keep in told:
                found.append({"text": text.strip(), "keep": keep, "type": None, "lang": user["lang"],
                              "file": "profiles/" + file.stem, "group": user["id"]})
    return found


def features(found):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(piece) + "\n" for piece in found)
        file.flush()
        return Exported("statements", [file.name])


def shared(piece, span):
    """How much of the shorter of two texts they have in common, as one stretch."""
    a, b = piece.lower().strip(" .,;!?。，！？"), span.lower().strip(" .,;!?。，！？")
    if not a or not b:
        return 0.0
    if a in b or b in a:
        return 1.0
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size / min(len(a), len(b))


def labels(rows, found):
    """1 for pieces to keep, 0 for others, -1 where nobody said."""
    sentences = np.bincount([piece["row"] for piece in found if not piece["clause"]], minlength=len(rows))
    marks = []
    for piece in found:
        keep = rows[piece["row"]]["keep"]
        if keep is None:
            single = sentences[piece["row"]] == 1 and not piece["clause"]
            marks.append(1 if single else -1)
        else:
            marks.append(int(any(shared(piece["text"], span) >= 0.6 for span in keep)))
    return np.array(marks)


def weights(rows, found):
    """How much each piece counts."""
    return np.array([PROFILE if rows[piece["row"]]["file"].startswith("profiles") else 1.0 for piece in found])


def cross_validated(x, y, weight, groups, use):
    """The probability of each piece by a model that did not see its group."""
    names = sorted({str(group) for group in groups})
    order = np.random.RandomState(0).permutation(len(names))
    fold_of = {names[g]: i % FOLDS for i, g in enumerate(order)}
    fold = np.array([fold_of[str(group)] for group in groups])
    found = np.zeros(len(y))
    for k in range(FOLDS):
        train = (fold != k) & use & (y >= 0)
        found[fold == k] = fit(x[train], y[train], weight[train]).predict_proba(x[fold == k])[:, 1]
    return found


def check(rows, found, y, exported):
    clause = np.array([piece["clause"] for piece in found])
    excluded = np.array([piece["excluded"] or piece["dropped"] for piece in found])
    groups, weight = [rows[piece["row"]]["group"] for piece in found], weights(rows, found)
    files = np.array([rows[piece["row"]]["file"] for piece in found])
    langs = np.array([rows[piece["row"]]["lang"] for piece in found])
    grams = exported.grams()
    print("excluded by rules, to be kept:", (excluded & ~clause & (y == 1)).sum(), "of", ((y == 1) & ~clause).sum())
    likely = cross_validated(grams, y, weight, groups, np.ones(len(y), bool))
    by = {"sentences": (likely, ~clause), "clauses": (likely, clause)}
    for name, (likely, some) in by.items():
        for subset in ["", *sorted(set(files))] if name == "sentences" else ["", "ordinary"]:
            part = some & (y >= 0) & np.array([file.startswith(subset) for file in files])
            curve(f"{name} {subset or 'all'}", likely[part] * ~excluded[part], y[part])
        if name == "sentences":
            for lang in sorted(set(langs)):
                part = some & (y >= 0) & (langs == lang) & np.array([f.startswith("ordinary") for f in files])
                if part.sum():
                    curve(f"keep ordinary {lang}", likely[part] * ~excluded[part], y[part])


def curve(name, likely, y):
    best = []
    for threshold in (0.1, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75):
        kept = likely > threshold
        right = (kept & (y == 1)).sum()
        best.append(f"{threshold}: {right / max(kept.sum(), 1):.2f}/{right / max((y == 1).sum(), 1):.2f}")
    print(f"{name:<28} {len(y):5} pieces {(y == 1).sum():5} kept; precision/recall " + "  ".join(best))


def probabilities(model, grams):
    """Features of rows, as the program computes them."""
    bias, weights = model
    small, step = quantised(weights)
    score = bias + step * (grams @ small.astype(float))
    return 1 / (1 + np.exp(-score))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--into", type=model_file.folder, default=MODEL, help="the folder of the model files")
    arguments = arguments.parse_args()
    rows = messages()
    found = pieces(rows)
    y, exported = labels(rows, found), features(found)
    if arguments.check:
        check(rows, found, y, exported)
        return
    grams, known = exported.grams(), y >= 0
    kinds = np.array([rows[piece["row"]]["type"] for piece in found], object)
    typed = (y == 1) & (kinds != None)  # noqa: E711
    models, weight = {}, weights(rows, found)
    for name, x, marks, some in [
        ("words", grams, y, known),
        ("procedural", exported.grams("alone."), kinds == "procedural", typed),
    ]:
        fitted = fit(x[some], marks[some].astype(int), weight[some])
        models[name] = (fitted.intercept_[0], fitted.coef_[0])
    tensors = {f"memorable.{name}.threshold": scalar(value) for name, value in THRESHOLDS.items()}
    for name, (bias, factors) in models.items():
        tensors |= model_file.linear(f"memorable.{name}", bias, factors)
    model_file.save("memorable", tensors, data=[*MESSAGES, *STORIES, *ASIDES, *PROFILES], command="tools/train_memorable.py",
                    folder=arguments.into)
    if arguments.into == MODEL:
        # The first sentence of some messages.
        firsts = [at for at, piece in enumerate(found) if not piece["before"] and not piece["clause"]]
        firsts = [at for at in firsts if rows[found[at]["row"]]["text"].startswith(found[at]["text"])]
        sample = firsts[:: len(firsts) // 60]
        figures = {"words": probabilities(models["words"], grams)}
        texts = [rows[piece["row"]]["text"] for piece in found]
        model_file.write_parity(ROOT / "testdata/memorable/parity.json", texts, grams, figures, sample)


if __name__ == "__main__":
    sys.exit(main())
