"""Fixtures. Most tests share one stack and bring people of their own; those that break something start their own."""

import signal

import pytest

from harness.stack import Stack

# A shell that runs the tests in the background has them ignore SIGINT; the programs they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("stack"))
    yield stack
    stack.stop()


@pytest.fixture
def stack(shared_stack):
    """The shared stack. A test that scripts replies or fails leaves none of them behind."""
    assert shared_stack.memgate.process.running(), shared_stack.memgate.process.output()
    yield shared_stack
    shared_stack.double.script()


@pytest.fixture
def start(tmp_path):
    """Starts stacks of the test's own: `start(config, edit=…)`."""
    stacks = []

    def start_one(config=None, **options) -> Stack:
        folder = tmp_path / f"stack{len(stacks)}"
        folder.mkdir()
        stacks.append(Stack(folder, config, **options))
        return stacks[-1]

    yield start_one
    for stack in stacks:
        stack.stop()
