"""Training data of the encoder: users, each with memories and the messages that they help with."""

import json
import random
import re
from dataclasses import dataclass, field

from model_file import ROOT

# How a memory stands to a message.
OTHER, NEEDED, UNKNOWN = 0, 1, 2
# Cards that make up one user.
CARDS = 4


@dataclass
class User:
    id: str
    lang: str
    memories: list
    # (message, one of the above for each memory)
    asks: list = field(default_factory=list)


def query(text):
    return f"query: {text}"


def passage(text):
    return f"passage: {text}"


def rows(folder):
    for path in sorted((ROOT / "testdata" / folder).glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def files():
    return [path for name in ("profiles", "cards", "signals") for path in (ROOT / "testdata" / name).glob("*.jsonl")]


def profiles():
    for row in rows("profiles"):
        user = User(row["id"], row["lang"], row["memories"])
        for ask in row["asks"]:
            needed = set(ask["needs"])
            user.asks.append((ask["text"], [NEEDED if at in needed else OTHER for at in range(len(user.memories))]))
        yield user


def cards():
    """A few cards of one language make a user. What another card says may help with a message that asks for nothing
    in particular; so it is unknown there."""
    by_language = {}
    for row in rows("cards"):
        by_language.setdefault(row["lang"], []).append(row)
    order = random.Random(1)
    said = lambda text: text.split("\nAssistant:")[0].removeprefix("User: ")
    for lang, all_cards in by_language.items():
        order.shuffle(all_cards)
        for start in range(0, len(all_cards) - CARDS + 1, CARDS):
            user = User(f"{lang}{start}", lang, [])
            own = []
            for card in all_cards[start : start + CARDS]:
                begin = len(user.memories)
                user.memories += [said(text) for text in (card["memory"], *card["near"])]
                own.append((card, begin, len(user.memories)))
            for card, begin, end in own:
                for kind, other in (("direct", OTHER), ("indirect", UNKNOWN)):
                    labels = [OTHER if begin <= at < end else other for at in range(len(user.memories))]
                    labels[begin] = NEEDED
                    user.asks += [(text, labels) for text in card[kind]]
            yield user


def ordinary():
    """The parts of messages that are to be kept, less what was replaced or forgotten."""
    for row in rows("ordinary"):
        turns = [turn for session in row["sessions"] for turn in session["turns"]]
        over = {part for turn in turns for part in (*turn.get("replaces", {}).values(), *forgotten(turn))}
        kept = [
            (turn.get("alone", {}).get(part, part), plain(f"{part} | {turn.get('alone', {}).get(part, part)}"), part not in over)
            for turn in turns
            for part in turn.get("keep", [])
        ]
        asks = [(asked(ask), needs(ask, kept)) for ask in row["asks"]]
        # A message whose answer was not kept would count as one that needs nothing.
        asks = [(text, labels) for (text, labels), ask in zip(asks, row["asks"]) if NEEDED in labels or not ask["must"]]
        used = {at for _, labels in asks for at, label in enumerate(labels) if label == NEEDED}
        keep = [at for at, (_, _, holds) in enumerate(kept) if holds or at in used]
        user = User(row["id"], row["lang"], [kept[at][0] for at in keep])
        user.asks = [(text, [labels[at] for at in keep]) for text, labels in asks]
        if user.memories and user.asks:
            yield user


def forgotten(turn):
    parts = turn.get("forgets", [])
    return parts if isinstance(parts, list) else [parts] if isinstance(parts, str) else list(parts.values())


def asked(ask):
    """A message, behind the user's message before it, if there is one."""
    return " ".join([turn["user"] for turn in ask.get("turns", [])[-1:]] + [ask["user"]])


def needs(ask, kept):
    held = [at for at, (_, text, _) in enumerate(kept) if any(holds(text, part) for item in ask["must"] for part in item)]
    wrong = {at for at, (_, text, _) in enumerate(kept) if any(holds(text, part) for part in ask.get("must_not", []))}
    now = [at for at in held if kept[at][2]]
    needed = [at for at in now if at not in wrong] or [at for at in held if at not in wrong] or now
    helps = lambda text: any(all(holds(text, part) for part in item) for item in ask["relevant"])
    return [
        NEEDED if at in needed else UNKNOWN if helps(text) else OTHER for at, (_, text, _) in enumerate(kept)
    ]


def plain(text):
    return re.sub(r"\s+", " ", text.lower())


def holds(text, part):
    """As `memgate eval` finds a wording: no digits within longer numbers, short Latin words whole."""
    part = plain(part)
    pattern = re.escape(part)
    if part[:1].isdigit():
        pattern = r"(?<!\d)" + pattern
    if part[-1:].isdigit():
        pattern += r"(?!\d)"
    if re.fullmatch(r"[a-zà-ÿ]{1,4}", part):
        pattern = r"(?<!\w)" + pattern + (r"(?!\w)" if len(part) <= 3 else "")
    return re.search(pattern, text) is not None


def idle():
    """Messages that no memory helps with, by language."""
    by_language = {}
    for row in rows("signals"):
        if not row["search"]:
            by_language.setdefault(row["lang"], []).append(row["text"])
    return by_language
