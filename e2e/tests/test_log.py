"""A warning or an error of memgate fails its test, unless the test allows it."""

import json

from harness.log import Watch


class Run:
    """A process that says what it is told to."""

    def __init__(self):
        self.lines, self.alive = [], True

    def running(self):
        return self.alive

    def says(self, level, message):
        self.lines.append(json.dumps({"level": level, "message": message}))


def watching(run):
    watch = Watch()
    watch.add(run)
    return watch


def test_a_warning_is_reported_with_the_text_to_allow_and_once():
    run = Run()
    watch = watching(run)
    watch.begin()
    run.says("INFO", "all is well")
    run.says("WARN", "the disk is slow")
    run.lines.append("thread 'main' panicked at src/main.rs:1:1:")
    found = watch.unexpected()
    assert len(found) == 2 and found[0].startswith("allows_log('the disk is slow')") and "panicked" in found[1]
    watch.begin()
    assert watch.unexpected() == []


def test_what_a_test_allows_is_allowed_until_its_end():
    run = Run()
    watch = watching(run)
    watch.begin()
    watch.expect("the disk is")
    watch.expect("")
    run.says("ERROR", "the disk is full")
    assert watch.unexpected() == []
    watch.begin()
    run.says("ERROR", "the disk is full")
    assert len(watch.unexpected()) == 1


def test_a_line_belongs_to_the_test_that_runs_or_whose_fixtures_started_memgate():
    run, own = Run(), Run()
    watch = watching(run)
    watch.begin()
    assert watch.unexpected() == []
    run.says("WARN", "between two tests")
    watch.add(own)
    own.says("WARN", "at the start")
    watch.begin()
    run.alive = False
    run.says("WARN", "at the end")
    assert [text.split("'")[1] for text in watch.unexpected()] == ["at the end", "at the start"]
    watch.begin()
    run.says("WARN", "after its end")
    assert watch.unexpected() == []
