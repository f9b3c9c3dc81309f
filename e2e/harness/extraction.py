"""A memgate with a helper model for facts: its configuration, the model's requests, and the stored facts."""

import json

from .stack import Stack
from .wait import until

# Only memgate's own message of the prompt contains this.
PROMPT = "The conversation, oldest turn first"


def extracting(port=None, every=3, memory=None, **options):
    """A configuration whose extraction model is the double, or another server at `port`."""
    def config(double):
        model = {
            "llm_provider": "vllm",
            "model_role": "memory_extraction",
            "llm_endpoint": {"address": "127.0.0.1", "port": port or double.port},
            "llm_model_name": "extractor",
            "llm_timeout_seconds": 5,
            **options,
        }
        # Only the model's facts, no local statements.
        extraction = {"modes": ["turns", "llm"], "summaries": False, **(memory or {})}
        return {
            "memory": {"extraction_batch_size": every, "extraction": extraction},
            "external_models": [model],
        }

    return config


def finds(*facts, kind="semantic", **members) -> str:
    return json.dumps([{"type": kind, "content": fact, **members} for fact in facts])


def asked(stack: Stack, of: str = "") -> list[dict]:
    """The requests to the helper model, oldest first; only those that contain this text."""
    bodies = [request.json() for request in stack.double.requests() if request.path == "/v1/chat/completions"]
    return [body for body in bodies if body["model"] == "extractor" and of in json.dumps(body, ensure_ascii=False)]


def shown(body: dict) -> list[dict]:
    """The turns that a request to the helper model shows."""
    text = body["messages"][1]["content"]
    return json.loads(text[text.index("[", text.index(PROMPT)):])


def facts(stack: Stack, person) -> dict[str, dict]:
    """The facts extracted for a user, by their content."""
    found = stack.memgate.memories(person.id)
    return {memory["content"]: memory for memory in found if memory["type"] != "episodic"}


def talk(person, *texts):
    """Sends the turns of one session; each is in the journal before the next begins."""
    for text in texts:
        turns = person.turns()
        assert person.say(text).status == 200
        until(lambda: person.turns() > turns, "the turn is journaled")
