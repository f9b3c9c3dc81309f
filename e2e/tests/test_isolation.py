"""No user gets another user's memories, whatever the ids look like."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.context import context_of
from harness.http import request
from harness.stack import CHAT, Person

HOSTILE = [
    "auth0|123",
    "a+b@x.org",
    "o'brien",
    '"; DROP TABLE memories; --',
    "100%_*?[a-z]",
    "../../etc/passwd",
    "tab-free\\backslash\\x00",
    "ümläut-ß-名前-🌴",
    "user_id == '' or true",
    "default/alice",
    "x" * 256,
]


def ask(person: Person, text="What is my secret word?"):
    person.later().say(text)
    return context_of(person.received()[-1].json()) or ""


@pytest.mark.parametrize("id_", HOSTILE)
def test_any_allowed_id_works_and_sees_only_its_own(stack, id_):
    person = Person(stack, id_)
    word = f"zebra{len(id_)}{abs(hash(id_)) % 10_000}"
    person.say(f"My secret word is {word}")
    person.learn()
    assert word in ask(person)
    stranger = stack.person()
    assert word not in ask(stranger)


def test_ids_that_look_alike_are_different_users(stack):
    base = stack.person().id
    alikes = [base, base.upper(), base + " ", base + "%", base + "*", base.replace("-", "_"), base + "\u200b"]
    people = [Person(stack, id_) for id_ in alikes]
    for number, person in enumerate(people[:1]):
        person.say(f"My secret word is walrus{number}")
        person.learn()
    for person in people[1:]:
        if person.id.strip() == base:
            continue  # HTTP itself takes white space off a header's ends
        assert "walrus0" not in ask(person), person.id


def test_an_agents_memories_are_shown_to_that_agent_only(stack):
    person = stack.person()
    person.say("My secret word is heron", memory_context={"agent_id": "coach"})
    person.learn()
    for agent, knows in [("coach", True), ("sales", False), (None, False)]:
        person.later().say("What is my secret word?", memory_context={"agent_id": agent})
        shown = context_of(person.received()[-1].json()) or ""
        assert ("heron" in shown) == knows, agent


def test_a_header_id_that_is_not_allowed_turns_memory_off_and_the_request_passes(stack):
    person = stack.person()
    for bad in (b"x" * 257, b"\xff\xfe", b""):
        answer = person.say("What is my secret word?", {"x-authz-user-id": bad})
        assert (answer.status, answer.decision) == (200, "failed:identity"), bad


def test_a_request_without_a_user_gets_no_memory(stack):
    person = stack.person()
    answer = person.say("My secret word is heron", {"x-authz-user-id": None})
    assert (answer.status, answer.decision) == (200, "skipped:no_identity")


def test_in_development_the_first_id_present_wins(stack):
    ids = [stack.person(name) for name in ("header", "context", "metadata", "user")]
    header, context, metadata, user = (person.id for person in ids)
    body = {"memory_context": {"user_id": context}, "metadata": {"user_id": metadata}, "user": user}
    sender = stack.person()
    for winner, named in [
        (ids[0], {"x-authz-user-id": header}),
        (ids[1], {"x-authz-user-id": None}),
        (ids[2], {"x-authz-user-id": None}),
        (ids[3], {"x-authz-user-id": None}),
    ]:
        sender.say(f"My secret word is the one of {winner.id}", {**named, "x-session-id": None}, **body)
        winner.learn()
        assert winner.knows(winner.id), winner.id
        # The next id is the first of the remaining ones.
        body.pop({context: "memory_context", metadata: "metadata"}.get(winner.id, ""), None)


def test_rest_shows_a_memory_only_to_its_user(stack):
    alice, mallory = stack.person(), stack.person()
    alice.say("My secret word is osprey")
    alice.learn()
    id_ = alice.memories()[0]["id"]
    api = stack.memgate.api
    assert api("GET", f"/v1/memory/{id_}?user_id={alice.id}").status == 200
    assert api("GET", f"/v1/memory/{id_}?user_id={mallory.id}").status == 404
    assert api("DELETE", f"/v1/memory/{id_}?user_id={mallory.id}").status == 404
    assert api("DELETE", f"/v1/memory?user_id={mallory.id}").json() == {"deleted": 0}
    assert stack.memgate.search(mallory.id, "secret word") == []
    for path in ("/v1/memory", f"/v1/memory/{id_}"):
        assert api("GET", path).status == 400
    assert api("DELETE", "/v1/memory").status == 400
    assert alice.knows("osprey")


def test_a_deleted_memory_is_not_in_the_next_request(stack):
    alice = stack.person()
    alice.say("My secret word is cormorant")
    alice.learn()
    assert "cormorant" in ask(alice)
    alice.learn()
    deleted = stack.memgate.api("DELETE", f"/v1/memory?user_id={alice.id}").json()["deleted"]
    assert deleted >= 1
    assert alice.memories() == []
    assert "cormorant" not in ask(alice)


def test_fifty_concurrent_users_get_their_own_memories(stack):
    people = [stack.person(f"parallel{number}") for number in range(50)]
    words = {person.id: f"lantern{number}x" for number, person in enumerate(people)}

    def live(person: Person) -> str:
        stream = hash(person.id) % 2 == 0
        assert person.say(f"My secret word is {words[person.id]}", stream=stream).status == 200
        person.learn()
        return ask(person)

    with ThreadPoolExecutor(16) as pool:
        contexts = list(pool.map(live, people))
    for person, context in zip(people, contexts):
        others = [word for id_, word in words.items() if id_ != person.id and word in context]
        assert words[person.id] in context and not others


def test_a_chain_is_looked_up_only_among_the_users_own_turns(stack):
    alice, mallory = stack.person(), stack.person()
    first = alice.respond("My secret word is pelican", {"x-session-id": None}).json()["id"]
    alice.learn()
    body = {"model": "echo", "input": "And what about it?", "previous_response_id": first}
    answer = request(
        stack.envoy.port, "POST", "/v1/responses", body,
        {"x-authz-user-id": mallory.id, "x-test": mallory.mark},
    )
    assert answer.status == 200
    assert b"pelican" not in mallory.received()[-1].body
    mallory.learn()
    sessions = {memory.get("session_id") for memory in mallory.memories()}
    own = {memory.get("session_id") for memory in alice.memories()}
    assert not sessions & own


def test_the_upstream_never_learns_the_user_id(stack):
    person = stack.person()
    body = {
        "model": "echo",
        "messages": [{"role": "user", "content": "hello"}],
        "memory_context": {"user_id": person.id},
    }
    person.post(CHAT, body)
    received = person.received()[-1]
    assert person.id.encode() not in received.body
    assert person.id not in str(received.headers)
