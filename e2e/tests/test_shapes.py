"""The shapes that requests and replies come in: parts, images, several choices, tool loops, chains."""

import json

import pytest

from harness.context import context_of
from harness.stack import CHAT, RESPONSES

FACT = "My budget for the Hawaii trip is $10,000"
QUESTION = "What's my budget for the trip?"
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}
IMAGE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def alice(stack):
    """A user who has said her budget."""
    person = stack.person("alice")
    person.say(FACT)
    person.learn()
    return person.later()


def last(person) -> dict:
    return person.received()[-1].json()


def test_content_in_parts_with_an_image_is_understood_and_kept(alice):
    content = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": IMAGE}},
    ]
    messages = [{"role": "user", "content": content}]
    answer = alice.post(CHAT, {"model": "echo", "messages": messages})
    assert answer.decision == "searched"
    assert "$10,000" in context_of(last(alice))
    assert last(alice)["messages"][-1] == messages[0]


def test_the_same_words_with_another_picture_are_another_turn(stack):
    person = stack.person()
    text = {"type": "text", "text": "I keep this receipt for my taxes"}
    for picture in (IMAGE, IMAGE[:-8] + "AAAAAAA="):
        content = [text, {"type": "image_url", "image_url": {"url": picture}}]
        for _ in range(2):
            person.post(CHAT, {"model": "echo", "messages": [{"role": "user", "content": content}]})
    person.learn()
    assert len(person.memories()) == 2


def test_responses_items_of_every_kind_are_understood_and_kept(alice):
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is this?"},
                                                        {"type": "input_image", "image_url": IMAGE}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A dot."}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "7"},
        {"type": "item_reference", "id": "msg_1"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "user", "content": QUESTION},
    ]
    answer = alice.post(RESPONSES, {"model": "echo", "input": items})
    assert answer.decision == "searched"
    assert last(alice)["input"] == items
    assert "$10,000" in last(alice)["instructions"]


def test_the_first_of_several_choices_is_the_reply(stack):
    for stream in (False, True):
        person = stack.person()
        client = person.openai()
        answer = client.chat.completions.create(
            model="echo", n=3, stream=stream, messages=[{"role": "user", "content": "My parrot is called Coco"}]
        )
        if stream:
            assert {chunk.choices[0].index for chunk in answer if chunk.choices} == {0, 1, 2}
        else:
            assert len(answer.choices) == 3
        person.learn()
        assert person.knows("Coco") and not person.knows("[choice")


def test_a_stream_with_usage_is_passed_and_learnt_from(stack):
    person = stack.person()
    stream = person.openai().chat.completions.create(
        model="echo",
        stream=True,
        stream_options={"include_usage": True},
        messages=[{"role": "user", "content": "My parrot is called Coco"}],
    )
    assert [chunk for chunk in stream][-1].usage.total_tokens > 0
    person.learn()
    assert person.knows("Coco")


def tool_loop_chat(person, stream):
    """A whole loop by Chat: question, call, result, answer."""
    client = person.openai()
    messages = [{"role": "user", "content": QUESTION}]
    for _ in range(3):
        if stream:
            with client.chat.completions.stream(model="echo", messages=messages, tools=[WEATHER]) as events:
                message = events.get_final_completion().choices[0].message
        else:
            answer = client.chat.completions.create(model="echo", messages=messages, tools=[WEATHER])
            message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append({
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": call.id, "type": "function",
                 "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in message.tool_calls
            ],
        })
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in message.tool_calls]
    raise AssertionError("the loop does not end")


def tool_loop_responses(person, stream):
    """A whole loop by Responses."""
    client = person.openai()
    tool = {"type": "function", "name": "get_weather", "parameters": WEATHER["function"]["parameters"], "strict": False}
    items = [{"role": "user", "content": QUESTION}]
    for _ in range(3):
        if stream:
            with client.responses.stream(model="echo", input=items, tools=[tool]) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(model="echo", input=items, tools=[tool])
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        for call in calls:
            items.append({"type": "function_call", "call_id": call.call_id, "name": call.name,
                          "arguments": call.arguments})
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": "sunny"})
    raise AssertionError("the loop does not end")


@pytest.mark.parametrize("loop", [tool_loop_chat, tool_loop_responses])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_tool_loop_is_one_turn_with_the_same_context_in_every_call(stack, alice, loop, stream):
    calls = {"tool_calls": [{"name": "get_weather", "arguments": {"place": "Maui"}}]}
    stack.double.script(
        {"contains": QUESTION, "times": 2, **calls},
        {"contains": QUESTION, "reply": "You have ten thousand dollars."},
    )
    turns = alice.turns()
    before = len(alice.received())
    assert loop(alice, stream) == "You have ten thousand dollars."
    received = alice.received()[before:]
    contexts = {context_of(request.json()) for request in received}
    assert len(received) == 3 and len(contexts) == 1
    assert "$10,000" in contexts.pop()
    alice.learn()
    assert alice.turns() == turns + 1


def test_a_short_follow_up_in_a_chain_uses_the_turns_before(stack, alice):
    """A request with `previous_response_id` contains no history: it comes from the journal."""
    alone = alice.later()
    headers = {"x-session-id": None}
    first = alone.respond("Let us talk about the Hawaii trip again", headers).json()["id"]
    alone.learn()
    alone.respond("How much was it?", headers, previous_response_id=first)
    assert "$10,000" in (context_of(last(alone)) or "")


def test_a_chain_is_one_session_and_an_unknown_one_starts_its_own(stack):
    person = stack.person()
    headers = {"x-session-id": None}
    first = person.respond("My tent is green", headers).json()["id"]
    person.learn()
    second = person.respond("My kayak is red", headers, previous_response_id=first).json()["id"]
    person.learn()
    person.respond("My sledge is blue", headers, previous_response_id=second)
    person.respond("My canoe is grey", headers, previous_response_id="resp_from_elsewhere")
    person.respond("My raft is pink", headers, conversation="conv_7")
    person.learn()
    sessions = {
        word: next(memory["session_id"] for memory in person.memories() if word in memory["content"])
        for word in ("tent", "kayak", "sledge", "canoe", "raft")
    }
    assert sessions["tent"] == sessions["kayak"] == sessions["sledge"]
    assert sessions["canoe"] == "resp_from_elsewhere"
    assert sessions["raft"] == "conv_7"


def test_sessions_named_by_the_client_are_kept_apart_and_ended_by_the_api(stack):
    person = stack.person()
    person.say("My tent is green", {"x-session-id": "one"})
    person.say("My kayak is red", {"x-session-id": None}, metadata={"session_id": "two"})
    person.learn()
    sessions = {memory["session_id"] for memory in person.memories()}
    assert sessions == {"one", "two"}
    person.say("My sledge is blue", {"x-session-id": "three"})
    person.learn()
    ended = stack.memgate.api("POST", "/v1/sessions/three/end", {"user_id": person.id})
    assert ended.status == 200 and ended.json()["turns"] >= 1, ended.body


def test_the_same_request_twice_is_one_turn_with_the_newer_reply(stack):
    person = stack.person()
    stack.double.script(
        {"contains": "My quilt", "times": 1, "reply": "First answer."},
        {"contains": "My quilt", "reply": "Second answer."},
    )
    messages = [{"role": "user", "content": "My quilt is made of wool"}]
    for _ in range(2):
        person.post(CHAT, {"model": "echo", "messages": messages})
        person.learn()
    memories = [memory for memory in person.remembered_turns() if "quilt" in memory["content"]]
    assert len(memories) == 1, json.dumps(memories, indent=1)
    assert "First answer" not in memories[0]["content"]


def test_errors_and_retries_of_the_official_client_work_through_the_gateway(stack):
    import openai

    person = stack.person()
    with pytest.raises(openai.RateLimitError):
        person.openai(x_double="status=429").chat.completions.create(
            model="echo", messages=[{"role": "user", "content": "My quilt is made of wool"}]
        )
    stack.double.script({"contains": "made of silk", "times": 1, "status": 503})
    client = person.openai().with_options(max_retries=2)
    client.chat.completions.create(model="echo", messages=[{"role": "user", "content": "My shawl is made of silk"}])
    person.learn()
    assert person.knows("silk") and not person.knows("wool")
    assert len([memory for memory in person.remembered_turns() if "silk" in memory["content"]]) == 1
