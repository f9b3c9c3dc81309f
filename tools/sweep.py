"""Prints and draws recall and precision at thresholds other than the default.

    memgate eval scenarios FILE --features target/eval.features
    .assets/train/bin/python tools/sweep.py target/eval.features --picture docs/quality.svg

Reads what `memgate eval scenarios --features` wrote, and the relevance of models/. Compares memgate's
relevance with what words alone find, and with the bare cosine, at the default limit of five.
"""

import argparse
import json
import math
import pathlib

import model_file

LIMIT = 5
THRESHOLDS = [step / 20 for step in range(1, 20)]


def constants():
    tensors, _ = model_file.read(model_file.MODEL / "weights.safetensors")
    return {name: float(value) for name, value in tensors.items() if name.startswith("relevance.")}


def log_odds(share):
    share = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(share / (1 - share))


def gate(sums, threshold):
    """The indexes of the hits that selection presents by default, as in crates/recall/src/select/threshold.rs."""
    # The file lists the hits in their final order, by all ranking features.
    return [place for place, total in enumerate(sums) if total >= log_odds(threshold)][:LIMIT]


def by_relevance(candidates, threshold):
    return [candidates[place] for place in gate([log_odds(hit["score"]) for hit in candidates], threshold)]


def by_words(known):
    """As when the embedder fails: only memories that share a word with the query are found."""

    def hits(candidates, threshold):
        found = [hit for hit in candidates if hit["coverage"]]
        names = ("coverage", "length", "turn", "idle")
        of = lambda hit: sum(known[f"relevance.words.{name}"] * hit[name] for name in names)
        sums = [known["relevance.words.bias"] + of(hit) for hit in found]
        return [found[place] for place in gate(sums, threshold)]

    return hits


def by_cosine(candidates, threshold):
    hits = sorted(candidates, key=lambda hit: -(hit["cosine"] or 0))
    return [hit for hit in hits if (hit["cosine"] or 0) >= threshold][:LIMIT]


def measure(scenarios, hits_of, threshold):
    """Recall, precision, share of questions without need that got no memory, and memories per question."""
    found = needed = useful = shown = quiet = idle = 0
    for scenario in scenarios:
        hits = hits_of(scenario["candidates"], threshold)
        found += len({item for hit in hits for item in hit["items"]})
        needed += scenario["needed"]
        useful += sum(bool(hit["items"]) for hit in hits)
        shown += len(hits)
        if not scenario["needed"]:
            idle += 1
            quiet += not hits
    return found / max(needed, 1), useful / max(shown, 1), quiet / max(idle, 1), shown / len(scenarios)


def picture(curves):
    """Draws recall over precision, one point for each threshold."""
    width, height, left, top = 560, 400, 60, 30
    x = lambda recall: left + recall * (width - left - 20)
    y = lambda precision: height - 50 - precision * (height - 50 - top)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(f'<path d="M{x(tick):.0f} {y(0):.0f}V{y(1):.0f}M{x(0):.0f} {y(tick):.0f}H{x(1):.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x(tick):.0f}" y="{y(0) + 18:.0f}" text-anchor="middle">{tick:.0%}</text>')
        parts.append(f'<text x="{left - 8}" y="{y(tick) + 4:.0f}" text-anchor="end">{tick:.0%}</text>')
    parts.append(f'<text x="{x(0.5):.0f}" y="{height - 12}" text-anchor="middle">recall: needed items presented</text>')
    parts.append(f'<text x="{left}" y="{top - 12}">precision: presented memories that hold a needed item</text>')
    for (name, points), colour in zip(curves.items(), ("#0b6", "#36c", "#c33")):
        line = " ".join(f"{x(p[1][0]):.1f},{y(p[1][1]):.1f}" for p in points if p[1][3])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for threshold, (recall, precision, _, shown) in points:
            if shown and round(threshold * 20) % 4 == 0:
                parts.append(f'<circle cx="{x(recall):.1f}" cy="{y(precision):.1f}" r="4" fill="{colour}"/>')
                parts.append(f'<text x="{x(recall) + 6:.1f}" y="{y(precision) - 6:.1f}" fill="{colour}">{threshold:.1f}</text>')
        parts.append(f'<text x="{x(1):.0f}" y="{top + 14 + 16 * list(curves).index(name)}" fill="{colour}" text-anchor="end">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("features", help="a file written by --features")
    arguments.add_argument("--picture", help="an SVG file to write")
    given = arguments.parse_args()
    with open(given.features, encoding="utf-8") as lines:
        scenarios = [json.loads(line) for line in lines]
    # Summaries are presented only where nothing else is.
    for scenario in scenarios:
        found = scenario["candidates"]
        scenario["candidates"] = [hit for hit in found if not hit["content"].startswith("Session summary")]
    known = constants()
    ways = {
        "memgate's relevance": by_relevance,
        "words alone": by_words(known),
        "bare cosine": by_cosine,
    }
    curves = {
        name: [(threshold, measure(scenarios, way, threshold)) for threshold in THRESHOLDS]
        for name, way in ways.items()
    }
    for name, points in curves.items():
        print(f"{name}\nthreshold  recall  precision  quiet  shown")
        for threshold, (recall, precision, quiet, shown) in points:
            print(f"{threshold:9.2f}  {recall:6.1%}  {precision:9.1%}  {quiet:5.0%}  {shown:5.1f}")
    if given.picture:
        pathlib.Path(given.picture).write_text(picture(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
