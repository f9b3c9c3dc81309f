"""Bodies at, over and far over the limit; compressed ones."""

import gzip
import json
import zlib

import brotli
import pytest
import zstandard

from harness.context import context_of
from harness.stack import CHAT, RESPONSES
from harness.wait import until

LIMIT = 16 << 20
FACT = "My locker number is 4711-K"
QUESTION = "What is my locker number?"


@pytest.fixture
def person(stack):
    person = stack.person()
    person.say(FACT)
    person.learn()
    return person.later()


def body_of(size: int) -> bytes:
    """A chat of exactly this many bytes, padded with a message before the last."""
    def build(filler: str) -> bytes:
        return json.dumps({
            "model": "echo",
            "messages": [{"role": "assistant", "content": filler}, {"role": "user", "content": QUESTION}],
        }).encode()

    body = build("y" * (size - len(build(""))))
    assert len(body) == size
    return body


def rarely(*size):
    return pytest.param(*size, marks=pytest.mark.long)


@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
@pytest.mark.parametrize("size", [rarely(1_200_000), rarely(LIMIT - 1), LIMIT])
def test_a_body_up_to_the_limit_gets_its_context(person, size, chunked):
    answer = person.post(CHAT, body_of(size), {"x-double": "status=404"}, chunked=chunked)
    assert answer.decision == "searched"
    received = person.received()[-1].body
    assert len(received) > size and b"4711-K" in received


@pytest.mark.parametrize("size, chunked", [
    (LIMIT + 1, False), (LIMIT + 1, True), (24 << 20, True),
    rarely(LIMIT + (1 << 20), False), rarely(LIMIT + (1 << 20), True), rarely(24 << 20, False),
])
def test_a_body_over_the_limit_passes_whole_and_without_memory(person, size, chunked):
    body = body_of(size)
    answer = person.post(CHAT, body, {"x-double": "status=404"}, chunked=chunked)
    assert (answer.status, answer.decision) == (404, "skipped:too_large")
    assert person.received()[-1].body == body


def test_after_large_bodies_memgate_works_as_before(stack, person):
    assert person.say(QUESTION).decision == "searched"
    # A client has its answer before Envoy ends the exchange.
    until(lambda: stack.memgate.metric("memgate_exchanges_in_flight") == 0, "no exchange is in flight")


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


ENCODINGS = [
    ("gzip", gzip.compress, gzip.decompress),
    ("deflate", zlib.compress, zlib.decompress),
    ("br", brotli.compress, brotli.decompress),
    ("zstd", zstd, zstandard.ZstdDecompressor().decompress),
]


@pytest.mark.parametrize("encoding, compress, _", ENCODINGS, ids=[name for name, *_ in ENCODINGS])
def test_a_compressed_request_is_read_gets_its_context_and_is_learnt_from(person, encoding, compress, _):
    body = json.dumps({"model": "echo", "input": QUESTION}).encode()
    answer = person.post(RESPONSES, compress(body), {"content-encoding": encoding})
    assert (answer.status, answer.decision) == (200, "searched")
    received = person.received()[-1]
    assert received.header("content-encoding") is None
    assert "4711-K" in context_of(received.json())
    # With one of our fields it is forwarded uncompressed, and the double can read it whatever the encoding.
    told = json.dumps({"model": "echo", "input": f"My {encoding} jacket is orange", "auto_store": True}).encode()
    assert person.post(RESPONSES, compress(told), {"content-encoding": encoding}).status == 200
    person.learn()
    assert person.knows("jacket is orange")


@pytest.mark.parametrize("encoding, compress, decompress", ENCODINGS, ids=[name for name, *_ in ENCODINGS])
def test_a_compressed_request_that_needs_no_change_passes_byte_for_byte(person, encoding, compress, decompress):
    body = compress(json.dumps({"model": "echo", "input": "Hello!"}).encode())
    person.post(RESPONSES, body, {"content-encoding": encoding})
    received = person.received()[-1]
    assert (received.body, received.header("content-encoding")) == (body, encoding)
    assert decompress(received.body)


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity", "x-unknown", "gzip, br"])
def test_an_unknown_or_wrong_encoding_passes(person, encoding):
    body = b'{"model": "echo", "input": "Hello, what is my locker number?"}'
    answer = person.post(RESPONSES, body, {"content-encoding": encoding})
    received = person.received()[-1]
    if encoding == "identity":
        assert answer.decision == "searched"
    else:
        assert (received.body, answer.decision) == (body, "skipped:unreadable")


def test_a_compressed_body_that_unpacks_beyond_the_limit_passes_without_memory(person):
    body = gzip.compress(body_of(LIMIT + 1))
    assert len(body) < 1 << 20
    answer = person.post(CHAT, body, {"content-encoding": "gzip"})
    assert answer.decision == "skipped:too_large"
    assert person.received()[-1].body == body


def test_a_large_reply_is_passed_whole(person):
    answer = person.say("Hello!", {"x-double": "reply_bytes=6000000"})
    assert answer.complete and len(answer.body) > 6_000_000
    assert person.stack.memgate.process.running()
