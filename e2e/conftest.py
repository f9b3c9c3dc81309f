"""Fixtures. Most tests share one stack and create their own persons; tests that break something start their own
stack."""

import signal

import pytest

from harness import log
from harness.browser import chromium
from harness.stack import Stack

# A shell that runs the tests in the background makes them ignore SIGINT; their programs would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take longest. They start first, so that none of them is left alone at the end.
SLOWEST = ["milvus", "durability", "cli", "up", "remote_embedder", "hostile_operations", "fooled_helper",
           "postgres", "milvus_server", "export_stores", "field", "extraction", "extraction_failures", "failures", "store_failures",
           "several_embedders"]


def pytest_collection_modifyitems(items):
    first = {f"test_{name}": place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: first.get(item.path.stem, len(first)))


@pytest.fixture(autouse=True)
def clean_log(request):
    """Fails a test during which memgate logs a warning or an error that the test does not allow."""
    log.WATCH.begin()
    for mark in request.node.iter_markers("allows_log"):
        for text in mark.args:
            log.WATCH.expect(text)
    yield
    found = log.WATCH.unexpected()
    assert not found, "memgate logged what this test does not allow:\n" + "\n".join(found)


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("stack"))
    yield stack
    stack.stop()


@pytest.fixture
def stack(shared_stack):
    """The shared stack. Scripted replies are removed after each test, also after a failure."""
    assert shared_stack.memgate.process.running(), shared_stack.memgate.process.output()
    yield shared_stack
    shared_stack.double.script()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One Chromium for the tests of a file."""
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def start(tmp_path):
    """Starts stacks for this test only: `start(config, edit=…)`."""
    stacks = []

    def start_one(config=None, **options) -> Stack:
        folder = tmp_path / f"stack{len(stacks)}"
        folder.mkdir()
        stacks.append(Stack(folder, config, **options))
        return stacks[-1]

    yield start_one
    for stack in stacks:
        stack.stop()
