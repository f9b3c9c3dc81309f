"""The embedding model fails, is slow or is broken: questions are searched by their words, within the deadline."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from harness import paths
from harness.context import context_of
from harness.envoy import wait_for_memgate
from harness.memgate import Memgate
from harness.stack import CHAT
from harness.wait import until

pytestmark = pytest.mark.allows_log(
    "Embedder unavailable",
    "embedding model failed its self-test",
    "no models were trained with this embedding model",
)

# Real models of a few kilobytes that misbehave: tools/export_test_models.py made them.
MODELS = paths.REPOSITORY / "testdata/embed"
FACT = "My budget for the Hawaii trip is $10,000"


def model(name: str, **memory) -> dict:
    embedding = {"model": name, "folder": str(MODELS / name), "precision": "fp32", "dimension": 384}
    return {"memory": {"embedding": embedding, **memory}}


@pytest.fixture
def start(start):
    """Starts stacks with the shipped limits, because these tests are about time."""
    return partial(start, patient=False)


def alive(memgate):
    """Starts memgate and does not wait until it is ready."""
    memgate.start(ready=False)
    until(lambda: memgate.status("/healthz") == 200, "memgate lives", 30)


def asking(question: str) -> bytes:
    return b'{"model":"echo", "messages":[{"role":"user","content":"%s"}]}' % question.encode()


def embedding_failures(stack) -> float:
    return stack.memgate.metric("memgate_failures_total", kind="embedding")


@pytest.mark.parametrize(
    "name, question, deadline_ms",
    [
        ("failing", "What is my budget for the Hawaii trip?", 3000),
        ("tripwire", "What is my budget for the Hawaii trip? explode", 3000),
        # This model takes about a second.
        ("tripwire", "What is my budget for the Hawaii trip? dawdle", 600),
    ],
    ids=["always", "this question", "too late"],
)
def test_a_question_that_cannot_be_embedded_is_searched_by_its_words(start, name, question, deadline_ms):
    stack = start(model(name, deadline_ms=deadline_ms), memgate=False, patient=True)
    alive(stack.memgate)
    ready = 503 if name == "failing" else 200
    until(lambda: stack.memgate.status("/readyz") == ready, f"memgate says {ready}", 30)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    before = embedding_failures(stack)
    # Without learning, which would fail to embed too.
    answer = alice.later().post(CHAT, asking(question), {"x-memory-auto-store": "false"})
    assert (answer.status, answer.decision) == (200, "searched")
    assert answer.seconds < deadline_ms / 1000 + 2.4, "memgate answered long before Envoy would have given up"
    assert "$10,000" in context_of(alice.received()[-1].json())
    assert embedding_failures(stack) == before + 1
    stack.memgate.wait_log("debug", "the query was not embedded, its words are searched")
    assert stack.memgate.metric("memgate_decisions_total", decision="failed:embedding") == 0


def test_one_question_that_fails_does_not_spoil_the_next(start):
    stack = start(model("tripwire"), patient=True)
    alice = stack.person()
    alice.say("My budget explode is $10,000")
    alice.say("My boat is called Halcyon")
    alice.learn()
    assert alice.knows("$10,000") and alice.knows("Halcyon"), "what cannot be embedded is kept all the same"
    failures = embedding_failures(stack)
    assert alice.later().say("What is my boat called?").decision == "searched"
    assert embedding_failures(stack) == failures


def test_many_slow_questions_do_not_exceed_envoys_timeout(start):
    # Both are ten times what is shipped, for a busy machine.
    stack = start(model("tripwire", deadline_ms=500), edit=lambda envoy: wait_for_memgate(envoy, "2.5s"))
    people = [stack.person() for _ in range(12)]
    with ThreadPoolExecutor(len(people)) as pool:
        answers = list(pool.map(lambda person: person.say("What is my dawdle budget?"), people))
    assert {answer.status for answer in answers} == {200}
    # On a busy machine the search by words may be late too.
    assert {answer.decision for answer in answers} <= {"searched", "failed:deadline"}
    assert stack.envoy.stat("http.llm.ext_proc.message_timeouts") == 0
    assert max(answer.seconds for answer in answers) < 5


def test_an_invalid_model_file_is_refused_at_start_with_a_reason(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "tripwire", folder)
    (folder / "model.onnx").write_bytes(b"no model")
    config = model("tripwire")
    config["memory"]["embedding"]["folder"] = str(folder)
    said = Memgate(tmp_path, config).refuses()
    assert "memory.embedding" in said and str(folder) in said


def test_missing_vectors_are_made_when_the_model_is_back(start, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "failing", folder)
    config = model("tripwire")
    config["memory"]["embedding"]["folder"] = str(folder)
    stack = start(config, memgate=False)
    alive(stack.memgate)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    stack.memgate.stop()
    shutil.copytree(MODELS / "tripwire", folder, dirs_exist_ok=True)
    stack.memgate.start()

    def found_by_its_vector():
        hits = stack.memgate.search(alice.id, FACT, threshold=0, explain=True)
        return hits and hits[0].get("parts", {}).get("cosine") is not None

    until(found_by_its_vector, "the memory has its vector", 20)
