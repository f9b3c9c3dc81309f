"""An embedding model on a server: recall and learning with it; requests and memories while the server is down, slow,
broken, or another one than configured."""

import pytest

from harness.context import context_of
from harness.double import Double
from harness.process import free_port
from harness.stack import Stack
from harness.wait import until

pytestmark = pytest.mark.allows_log(
    "no models were trained with this embedding model",
    "Embedder unavailable",
    "a memory was stored without a vector",
)

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What is my budget for the Hawaii trip?"
KEY = "sk-never-to-be-seen-7f3a"
# Only turns become memories here, so nothing else asks for vectors.
TURNS = {"modes": ["turns"], "summaries": False}


def remote(port=None, model="openai/hashed", **embedding):
    """A configuration whose embedding model is on the double, or on something else at `port`."""

    def config(double):
        endpoint = {"address": "127.0.0.1", "port": port or double.port, **embedding.pop("endpoint", {})}
        embedding_ = {"model": model, "dimension": 256, "endpoint": endpoint, "timeout_seconds": 1, **embedding}
        return {"memory": {"embedding": embedding_, "deadline_ms": 3000, "extraction": TURNS}}

    return config


def alive(memgate, **options):
    """Starts memgate and does not wait until it is ready."""
    memgate.start(ready=False, **options)
    until(lambda: memgate.status("/healthz") == 200, "memgate lives", 30)


def embedded(double) -> list[dict]:
    """The texts that the server was asked to embed, oldest first."""
    return [request.json() for request in double.requests() if request.path == "/v1/embeddings"]


def has_vector(stack, person, text=FACT) -> bool:
    """Whether this person's message is found by its vector."""
    hits = stack.memgate.search(person.id, text, threshold=0, explain=True)
    return bool(hits) and hits[0].get("parts", {}).get("cosine") is not None


def is_found(person):
    answer = person.later().say(QUESTION, {"x-memory-auto-store": "false"})
    assert (answer.status, answer.decision) == (200, "searched")
    assert "$10,000" in context_of(person.received()[-1].json())
    return answer


# -- a server that works --------------------------------------------------------------------------------------------


def test_the_server_embeds_texts_and_vectors_find_them(start):
    stack = start(remote(query_prefix="ask: ", passage_prefix="tell: "))
    alice, bob = stack.person(), stack.person()
    alice.say(FACT)
    alice.learn()
    is_found(alice)
    assert has_vector(stack, alice)
    assert bob.say(QUESTION).status == 200 and context_of(bob.received()[-1].json()) is None
    asked = embedded(stack.double)
    assert all(body["model"] == "hashed" for body in asked)
    texts = [text for body in asked for text in body["input"]]
    assert f"tell: {FACT}" in texts and f"ask: {QUESTION}" in texts
    assert stack.memgate.metric("memgate_failures_total", kind="embedding") == 0


def test_voyage_is_told_which_text_is_a_query_and_which_a_document(start):
    stack = start(remote(model="voyage/hashed", dimension=64))
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    is_found(alice)
    asked = embedded(stack.double)
    kinds = {text: body["input_type"] for body in asked for text in body["input"]}
    assert (kinds[FACT], kinds[QUESTION]) == ("document", "query")
    assert all(body["truncation"] is True for body in asked)
    assert asked[-1]["output_dimension"] == 64, "the double's own size is another, so ours is asked for"


def test_the_key_is_sent_and_never_logged(start):
    stack = start(remote(endpoint={"api_key_env": "EMBEDDER_KEY"}), memgate=False)
    alive(stack.memgate, env={"EMBEDDER_KEY": KEY})
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    requests = [request for request in stack.double.requests() if request.path == "/v1/embeddings"]
    assert requests and {request.header("authorization") for request in requests} == {f"Bearer {KEY}"}
    stack.double.script({"contains": "", "member": "input", "status": 401})
    alice.say("I also need a visa for Bhutan")
    alice.learn()
    assert alice.knows("Bhutan")
    until(lambda: stack.memgate.status("/readyz") != 200, "memgate says that something is wrong", 20)
    said = stack.memgate.api("GET", "/readyz").json()["embedder"]
    assert "status 401" in said and "key" in said
    assert KEY not in stack.memgate.process.output()


# -- a server that is not there -------------------------------------------------------------------------------------


def test_a_server_that_is_down_at_the_start_is_used_once_it_is_there(start):
    port = free_port()
    stack = start(remote(port), memgate=False)
    alive(stack.memgate)
    stack.memgate.wait_log("warn", "Embedder unavailable")
    alice = stack.person()
    assert alice.say(FACT).status == 200
    alice.learn()
    assert not has_vector(stack, alice)
    is_found(alice)
    server = Double(port)
    try:
        until(lambda: has_vector(stack, alice), "the memory gets its vector", 60)
        until(lambda: stack.memgate.status("/readyz") == 200, "memgate is ready", 20)
    finally:
        server.stop()


def test_what_is_said_while_the_server_is_down_is_found_by_its_words_and_embedded_later(start):
    port = free_port()
    server = Double(port)
    try:
        stack = start(remote(port))
        early, alice = stack.person(), stack.person()
        early.say(FACT)
        early.learn()
        assert has_vector(stack, early)
        server.stop()
        assert alice.say(FACT).status == 200
        alice.learn()
        is_found(alice)
        is_found(early)
        told = stack.memgate.api("POST", "/v1/memory", {"user_id": alice.id, "content": "I collect green stamps"})
        assert told.status == 201
        server = Double(port)
        until(lambda: has_vector(stack, alice), "the turn gets its vector", 60)
        until(lambda: has_vector(stack, alice, "I collect green stamps"), "so does what the API wrote", 60)
    finally:
        server.stop()


# -- a server that answers badly ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("remote"), remote())
    yield stack
    stack.stop()


def rarely(trouble, id):
    return pytest.param(trouble, id=id, marks=pytest.mark.long)


@pytest.mark.parametrize(
    "trouble",
    [
        rarely({"status": 500}, id="500"),
        pytest.param({"busy": 1}, id="429"),
        rarely({"status": 400}, id="400"),
        pytest.param({"hang": True}, id="hangs"),
        rarely({"delay_ms": 3000, "vectors": {}}, id="slow"),
        pytest.param({"vectors": {"dimension": 7}}, id="dimension"),
        rarely({"vectors": {"nan": True}}, id="NaN"),
        rarely({"vectors": {"cut_after": 40}}, id="cut off"),
        pytest.param({"raw": "no JSON"}, id="garbage"),
    ],
)
def test_requests_pass_and_words_are_found_whatever_the_server_answers(one, trouble):
    until(lambda: one.memgate.status("/readyz") == 200, "the server is asked again", 30)
    one.double.script({"contains": "", "member": "input", **trouble})
    try:
        alice = one.person()
        assert alice.say(FACT).status == 200
        alice.learn()
        assert alice.knows("$10,000")
        assert is_found(alice).seconds < 10
    finally:
        one.double.script()


def test_vectors_in_another_order_belong_to_their_texts(one):
    until(lambda: one.memgate.status("/readyz") == 200, "the server is asked again", 30)
    one.double.script({"contains": "", "member": "input", "vectors": {"reversed": True}})
    try:
        alice = one.person()
        alice.say("My boat is called Halcyon")
        alice.learn()
        hits = one.memgate.search(alice.id, "My boat is called Halcyon", threshold=0, explain=True)
        # The reply is embedded on its own; with the two vectors swapped, the question would not match.
        assert hits[0]["parts"]["cosine"] > 0.99
    finally:
        one.double.script()


def test_vectors_of_another_size_are_refused_at_start_in_a_sentence(start):
    stack = start(remote(dimension=100), memgate=False)
    stack.double.script({"contains": "", "member": "input", "vectors": {"dimension": 7}})
    stack.memgate.start(ready=False)
    assert stack.memgate.process.wait_end(30) == 1
    said = stack.memgate.process.output()
    assert "memory.embedding: model openai/hashed returns vectors of dimension 7" in said
    assert "its configured dimension is 100" in said


def test_a_text_that_the_server_refuses_does_not_keep_others_from_their_vectors(start):
    stack = start(remote())
    refused = [{"contains": text, "member": "input", "status": 400} for text in ("explode", "Hawaii")]
    stack.double.script(*refused)
    alice, bob = stack.person(), stack.person()
    alice.say("Things explode when I touch them")
    alice.learn()
    bob.say(FACT)
    bob.learn()
    stack.double.script(refused[0])
    assert not has_vector(stack, bob)
    until(lambda: has_vector(stack, bob), "the good one gets its vector", 60)
    assert alice.knows("explode")
