"""The end of a session, and its summary in a later one."""

import json

from harness.extraction import extracting
from harness.stack import Stack
from harness.wait import holds, until

# Of memgate's requests to its helper model, only the one for a summary contains this.
PROMPT = "The session, oldest turn first"
WEDDING = [
    "My sister Anna is getting married in Porto in June.",
    "My sister Anna invited 80 guests to the wedding in Porto.",
    "I'm flying to Porto for the wedding of my sister Anna.",
]


def talk(person, *texts, **last):
    """Turns of one session, each a turn in the journal before the next begins; the last one with these headers."""
    for number, text in enumerate(texts, 1):
        turns = person.turns()
        headers = {name.replace("_", "-"): value for name, value in last.items()} if number == len(texts) else {}
        assert person.say(text, headers).status == 200
        until(lambda: person.turns() > turns, "the turn is journaled")


def summaries(person) -> list[dict]:
    return [memory for memory in person.memories() if memory["source"] == "system_generated"]


def test_a_header_ends_the_session_and_a_summary_is_left(stack):
    alice = stack.person()
    talk(alice, *WEDDING[:2], WEDDING[2], x_session_end="true")
    until(lambda: summaries(alice), "the session is summed up, without being asked to")
    summary, = summaries(alice)
    assert summary["session_id"] == alice.session and summary["type"] == "episodic"
    assert all(told in summary["content"] for told in WEDDING)
    assert "x-session-end" not in alice.received()[-1].header_names()


def test_the_header_works_with_one_filter_too_and_its_name_can_be_chosen(start):
    from test_single_filter import single

    stack = start({"memory": {"sessions": {"end_header": "x-bye"}}}, edit=single)
    alice = stack.person()
    talk(alice, *WEDDING, x_session_end="true")
    holds(lambda: not summaries(alice), "a header of another name is nobody's business")
    talk(alice, "My daughter Mia is flying with me to Porto.", x_bye="1")
    until(lambda: summaries(alice), "the session is summed up")
    assert alice.say("bye", {"x-bye": "perhaps"}).decision == "failed:header"


def test_a_new_session_ends_the_quiet_ones_of_its_user_alone(start):
    stack = start({"memory": {"sessions": {"quiet_after_seconds": 1}}})
    alice, bob = stack.person(), stack.person()
    talk(bob, *WEDDING)
    talk(alice, *WEDDING)
    talk(alice.later(), "Good morning, I need a recipe for plum dumplings.")
    until(lambda: summaries(alice), "the session that alice left is summed up")
    assert summaries(alice)[0]["session_id"] == alice.session
    assert summaries(bob) == []


def test_a_summary_is_recalled_when_no_single_turn_answers(start):
    stack: Stack = start(extracting(every=10, memory={"summaries": True}))
    told = "The user plans their wedding party in Porto, by the river, for eighty guests and without fish."
    stack.double.script(
        {"contains": PROMPT, "reply": told},
        {"contains": "The conversation, oldest turn first", "reply": json.dumps([])},
    )
    alice, bob = stack.person(), stack.person()
    talk(alice, "By the river would be nice", "Eighty are coming", "No fish, half of them are allergic",
         x_session_end="true")
    until(lambda: summaries(alice), "the session is summed up by the model")
    answer = alice.later().say("Where will my wedding party be?")
    assert answer.decision == "searched"
    assert told in alice.received()[-1].body.decode()
    bob.say("Where will my wedding party be?")
    assert told not in bob.received()[-1].body.decode()


def test_a_deleted_turn_is_in_no_summary(stack):
    alice = stack.person()
    talk(alice, "My aunt Zanzibara invited 80 guests to Porto.", *WEDDING, x_session_end="true")
    until(lambda: summaries(alice), "the session is summed up")
    turn = next(memory for memory in alice.remembered_turns() if "Zanzibara" in memory["content"])
    answer = stack.memgate.api("DELETE", f"/v1/memory/{turn['id']}?user_id={alice.id}")
    assert answer.status == 200
    assert not alice.knows("Zanzibara")
    alice.learn()
    assert len(summaries(alice)) == 1 and not alice.knows("Zanzibara")


def test_a_summary_can_be_deleted_and_is_not_made_again(stack):
    alice = stack.person()
    talk(alice, *WEDDING, x_session_end="true")
    until(lambda: summaries(alice), "the session is summed up")
    where = f"/v1/memory/{summaries(alice)[0]['id']}?user_id={alice.id}"
    answer = stack.memgate.api("DELETE", where)
    assert (answer.status, answer.json()) == (200, {"deleted": 1})
    assert stack.memgate.api("DELETE", where).status == 404
    alice.learn()
    assert not summaries(alice)
