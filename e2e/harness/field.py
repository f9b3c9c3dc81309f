"""Plays a case of testdata/field: runs its steps against a stack, then checks what it expects of their results."""

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import quote

from . import http, paths
from .context import context_of, inserted
from .double import Received
from .stack import CHAT, RESPONSES, Person, Stack

CASES = paths.REPOSITORY / "testdata/field/cases.jsonl"

# What a step may have beside its action.
OPTIONS = {"label", "user", "session", "headers", "path", "reply", "reply_raw", "times", "at_once"}
# What the model server answers where the case does not care.
REPLY = "I see."
# A longer memory is a text, and no statement.
STATEMENT = 300


def cases() -> list[dict]:
    return [json.loads(line) for line in CASES.read_text().splitlines()]


@dataclass
class Result:
    """The result of a step: the answers that the client got, what reached the upstream, or the memories listed."""

    answers: list[http.Answer] = field(default_factory=list)
    sent: bytes = b""
    received: list[Received] = field(default_factory=list)
    reply: bytes = b""
    memories: list[dict] = field(default_factory=list)

    @property
    def contents(self) -> list[str]:
        return [memory["content"] for memory in self.memories]

    @property
    def facts(self) -> list[str]:
        """The memories that are statements: no turns, no summaries, no long texts."""
        told = [memory["content"] for memory in self.memories if memory["type"] != "episodic"]
        return [content for content in told if len(content) <= STATEMENT]

    @property
    def context(self) -> str | None:
        return context_of(self.received[-1].json()) if self.received else None

    @property
    def lines(self) -> list[str]:
        return [line for line in (self.context or "").split("\n") if line.startswith("- ")]

    def __str__(self) -> str:
        if self.received:
            return f"{[(answer.status, answer.decision) for answer in self.answers]}, context: {self.lines}"
        return str([answer.body.decode() for answer in self.answers] or self.contents)


class Play:
    """One run of a case. Its users are new, so that no case sees another's memories."""

    def __init__(self, stack: Stack):
        self.stack = stack
        self.users: dict[str, str] = {}
        self.results: dict[str, Result] = {}

    def failures(self, case: dict) -> list[str]:
        """Runs all steps, then returns a line for each expectation that is not met."""
        for step in case["input"]:
            result = self._run(step)
            if "label" in step:
                self.results[step["label"]] = result
        return [line for expect in case["expect"] for line in self._unmet(expect)]

    def _run(self, step: dict) -> Result:
        actions = [name for name in step if name not in OPTIONS]
        assert len(actions) == 1 and actions[0] in STEPS, f"a step must have one of {list(STEPS)}, and has {list(step)}"
        return STEPS[actions[0]](self, step)

    def _unmet(self, expect: dict) -> list[str]:
        label = expect["at"]
        assert label in self.results, f"no step has the label {label!r}"
        unknown = expect.keys() - EXPECTATIONS.keys() - {"at"}
        assert not unknown, f"unknown expectations: {sorted(unknown)}; known: {sorted(EXPECTATIONS)}"
        result = self.results[label]
        wants = [(name, wanted) for name, wanted in expect.items() if name != "at"]
        # "same_…_as" names another step.
        meant = {name: self.results[wanted] if name.endswith("_as") else wanted for name, wanted in wants}
        unmet = [(name, wanted) for name, wanted in wants if not EXPECTATIONS[name](result, meant[name])]
        return [f"{label}: {name} {wanted!r}, but: {result}" for name, wanted in unmet]

    def user(self, name: str) -> str:
        if name not in self.users:
            self.users[name] = self.stack.person(name).id
        return self.users[name]


# -- steps --------------------------------------------------------------------------------------------------------


def of(play: Play, step: dict) -> str:
    return play.user(step.get("user", "me"))


def send(play: Play, step: dict, path: str, body: str) -> Result:
    raw = step.get("reply_raw")
    answer = {"pieces": {"cut": len(raw["text"]), **raw}} if raw else {"reply": step.get("reply", REPLY)}
    play.stack.double.script({"contains": "", **answer})
    person = Person(play.stack, of(play, step))
    headers = {"x-session-id": step.get("session"), **step.get("headers", {})}
    times = step.get("times", 1)
    with ThreadPoolExecutor(times if step.get("at_once") else 1) as pool:
        answers = list(pool.map(lambda _: person.post(path, body, headers), range(times)))
    return Result(answers, body.encode(), person.received(), raw["text"].encode() if raw else b"")


def chat(play: Play, step: dict) -> Result:
    return send(play, step, CHAT, json.dumps(step["chat"], ensure_ascii=False))


def responses(play: Play, step: dict) -> Result:
    return send(play, step, RESPONSES, json.dumps(step["responses"], ensure_ascii=False))


def raw_body(play: Play, step: dict) -> Result:
    return send(play, step, step.get("path", CHAT), step["raw_body"])


def ask(play: Play, step: dict) -> Result:
    """A question in a new session. Nothing is learned from it, so that questions do not see each other."""
    body = {"model": "m", "messages": [{"role": "user", "content": step["ask"]}]}
    headers = {"x-memory-auto-store": "false", **step.get("headers", {})}
    return chat(play, {**step, "chat": body, "session": uuid.uuid4().hex, "headers": headers})


def flush(play: Play, step: dict) -> Result:
    play.stack.memgate.flush(play.user(step["flush"]))
    return Result()


def listed(play: Play, step: dict) -> Result:
    return Result(memories=play.stack.memgate.memories(of(play, step)))


def api(play: Play, step: dict, method: str, path: str, body: dict | None = None) -> http.Answer:
    separator = "&" if "?" in path else "?"
    return play.stack.memgate.api(method, f"{path}{separator}user_id={quote(of(play, step), safe='')}", body)


def preferences(play: Play, step: dict) -> Result:
    return Result([api(play, step, "GET", "/v1/preferences")])


def rest(play: Play, step: dict) -> Result:
    """A call of the API; `{label.member}` in its path is a member of an earlier step's answer."""
    def earlier(match: re.Match) -> str:
        return play.results[match[1]].answers[-1].json()[match[2]]

    call = step["rest"]
    path = re.sub(r"\{(\w+)\.(\w+)\}", earlier, call["path"])
    return Result([api(play, step, call["method"], path, call.get("json"))])


def searches(play: Play, step: dict) -> Result:
    return Result([api(play, step, "POST", "/v1/memory/search", {"query": query}) for query in step["searches"]])


STEPS = {
    "chat": chat,
    "responses": responses,
    "raw_body": raw_body,
    "ask": ask,
    "flush": flush,
    "list": listed,
    "preferences": preferences,
    "rest": rest,
    "searches": searches,
}


# -- expectations -------------------------------------------------------------------------------------------------


def holds(text: str, part: str) -> bool:
    return part.casefold() in text.casefold()


def has(texts: list[str], wanted: list[list[str]]) -> bool:
    """Whether each inner list has a string that some text holds."""
    return all(any(holds(text, part) for text in texts for part in alternatives) for alternatives in wanted)


def lacks(texts: list[str], unwanted: list[str]) -> bool:
    return not any(holds(text, part) for text in texts for part in unwanted)


def needs(texts: list[str], pairs: dict[str, str | list[str]]) -> bool:
    """Whether each text that holds the first string of a pair holds the second one, or one of several, too."""
    alternatives = {part: other if isinstance(other, list) else [other] for part, other in pairs.items()}
    return all(has([text], [others]) for part, others in alternatives.items() for text in texts if holds(text, part))


def at_most(texts: list[str], bounds: dict[str, int]) -> bool:
    return all(sum(holds(text, part) for text in texts) <= most for part, most in bounds.items())


def bodies(result: Result) -> list[str]:
    return [answer.body.decode() for answer in result.answers]


def statuses(result: Result, wanted: int) -> bool:
    return all(answer.status == wanted for answer in result.answers)


def decided(result: Result, beginning: str) -> bool:
    return all((answer.decision or "").startswith(beginning) for answer in result.answers)


def reply_kept(result: Result, wanted: str) -> bool:
    return wanted == "same" and all(answer.complete and answer.body == result.reply for answer in result.answers)


def request_kept(result: Result, wanted: str) -> bool:
    added = [inserted(result.sent, received.body) for received in result.received]
    return wanted == "only_inserted" and added != [] and None not in added


def messages(body: bytes) -> list[dict]:
    return json.loads(body)["messages"]


def tool_span(body: bytes) -> int:
    """How many messages there are from the first tool call to the last result."""
    roles = [message["role"] for message in messages(body)]
    calls = [bool(message.get("tool_calls")) for message in messages(body)]
    return len(roles) - roles[::-1].index("tool") - calls.index(True)


def results_follow_calls(body: bytes) -> bool:
    """Whether the results of all calls of a message stand directly behind it, as model servers demand."""
    said = messages(body)
    for at, message in enumerate(said):
        ids = [call["id"] for call in message.get("tool_calls", [])]
        if sorted(ids) != sorted(after.get("tool_call_id", "") for after in said[at + 1 : at + 1 + len(ids)]):
            return False
    return True


def added_in_loop(result: Result) -> int:
    return tool_span(result.received[-1].body) - tool_span(result.sent)


EXPECTATIONS = {
    "status": statuses,
    "all_status": statuses,
    "decision": decided,
    "bytes": reply_kept,
    "upstream": request_kept,
    "upstream_has": lambda it, wanted: all(part in it.received[-1].body.decode() for part in wanted),
    "tools_adjacent": lambda it, wanted: results_follow_calls(it.received[-1].body) is wanted,
    "added_messages_between_tools": lambda it, wanted: added_in_loop(it) == wanted,
    "context_has": lambda it, wanted: has(it.lines, wanted),
    "context_lacks": lambda it, wanted: lacks(it.lines, wanted),
    "context_needs": lambda it, wanted: needs(it.lines, wanted),
    "same_context_as": lambda it, other: it.context == other.context,
    "memories_has": lambda it, wanted: has(it.contents, wanted),
    "memories_lacks": lambda it, wanted: lacks(it.contents, wanted),
    "any_with_all": lambda it, wanted: any(has([text], [[part] for part in wanted]) for text in it.contents),
    "needs": lambda it, wanted: needs(it.contents, wanted),
    "max_with": lambda it, wanted: at_most(it.contents, wanted),
    "same_count_as": lambda it, other: len(it.memories) == len(other.memories),
    "facts_has": lambda it, wanted: has(it.facts, wanted),
    "max_facts_with": lambda it, wanted: at_most(it.facts, wanted),
    "preferences_lacks": lambda it, wanted: lacks(bodies(it), wanted),
    "json_has": lambda it, wanted: has(bodies(it), wanted),
    "json_lacks": lambda it, wanted: lacks(bodies(it), wanted),
}
