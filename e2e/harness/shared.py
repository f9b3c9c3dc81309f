"""Stacks that several tests share, where nobody kills or reconfigures anything."""

import contextlib

from .stack import Stack


@contextlib.contextmanager
def running(folder, config=None, **options):
    """A stack that is stopped at the end."""
    stack = Stack(folder, config, **options)
    try:
        yield stack
    finally:
        stack.stop()


@contextlib.contextmanager
def visit(stack: Stack, *last: dict):
    """Such a stack for one test: without requests and scripted replies of others. At the end everything that the test's
    persons said is learned, with the scripted replies `last`; so no late request of theirs is counted by the next test.
    """
    people, make = [], stack.person

    def person(*name):
        people.append(make(*name))
        return people[-1]

    stack.double.script()
    stack.double.forget()
    stack.person = person
    try:
        yield stack
    finally:
        del stack.person
        stack.double.script(*last)
        stack.flush(*people)
        stack.double.script()
