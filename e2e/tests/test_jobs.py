"""Pending and dead jobs: shown, tried again, deleted with their user."""

import json
import subprocess

import pytest

from harness import paths
from harness.extraction import PROMPT, extracting
from harness.shared import running
from harness.stack import Stack
from harness.wait import until

pytestmark = pytest.mark.allows_log("Extraction failed, batch skipped")

SEAT = "The user always wants a window seat on flights."
PLAN = "I always want a window seat when I fly to Zanzibar"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("jobs"), extracting(every=1)) as stack:
        yield stack


def refusing(stack: Stack) -> Stack:
    """Makes the helper model refuse every batch."""
    stack.double.script({"contains": PROMPT, "status": 400})
    return stack


@pytest.fixture
def house(one):
    """The stack of this file, whose helper model refuses every batch."""
    yield refusing(one)
    one.double.script()


def command(stack, *args) -> subprocess.CompletedProcess:
    places = ("--config", stack.memgate.config_file, "--data", stack.memgate.data)
    line = [str(part) for part in (paths.memgate(), *args, *places)]
    return subprocess.run(line, capture_output=True, timeout=60, cwd=stack.folder)


def shown(stack, *args):
    done = command(stack, *args, "--json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def dead(stack, person) -> list[dict]:
    answer = stack.memgate.api("GET", f"/v1/jobs?user_id={person.id}&state=dead")
    assert answer.status == 200, answer.body
    return answer.json()["jobs"]


def fail(stack, person) -> dict:
    """Makes the extraction from a user's turn fail permanently."""
    assert person.say(PLAN).status == 200
    return until(lambda: dead(stack, person), "the extraction is given up")[0]


def test_a_dead_job_is_shown_without_content_and_runs_again_when_asked(house):
    alice, bob = house.person("alice"), house.person("bob")
    job = fail(house, alice)
    assert (job["kind"], job["state"], job["user_id"], job["tries"]) == ("extract", "dead", alice.id, 1)
    assert "400" in job["last_error"] and "Zanzibar" not in json.dumps(job)
    assert dead(house, bob) == []
    until(lambda: house.memgate.metric("memgate_dead_jobs", kind="extract") >= 1, "it is counted")
    assert shown(house, "jobs", "--user", alice.id, "--state", "dead")["jobs"] == [job]
    assert job in shown(house, "jobs")["jobs"], "an operator finds it without knowing whose it is"
    told = command(house, "jobs", "--user", alice.id).stdout.decode()
    assert f"{job['id']}  dead since" in told and "Zanzibar" not in told
    assert command(house, "jobs", "--user", bob.id, "--retry", job["id"]).returncode == 1
    assert command(house, "jobs", "--retry", job["id"]).returncode == 2

    house.double.script({"contains": PROMPT, "reply": json.dumps([{"type": "semantic", "content": SEAT}])})
    assert shown(house, "jobs", "--user", alice.id, "--retry", "all") == {"retried": 1}
    until(lambda: SEAT in house.memgate.texts(alice.id), "it is learnt at last")
    assert dead(house, alice) == []


def test_everybodys_dead_jobs_are_tried_again_also_while_no_memgate_runs(start):
    house = refusing(start(extracting(every=1)))
    people = [house.person("alice"), house.person("bob")]
    for person in people:
        fail(house, person)
    assert house.memgate.stop() == 0
    assert len(shown(house, "jobs", "--state", "dead")["jobs"]) == 2
    assert shown(house, "jobs", "--retry", "all") == {"retried": 2}
    house.double.script({"contains": PROMPT, "reply": json.dumps([{"type": "semantic", "content": SEAT}])})
    house.memgate.start()
    for person in people:
        until(lambda: SEAT in house.memgate.texts(person.id), "it is learnt after the start")


def test_sessions_are_shown_and_ended(house):
    alice = house.person("alice")
    assert alice.say(PLAN).status == 200
    sessions = until(lambda: shown(house, "sessions", "--user", alice.id)["sessions"], "the session is known")
    assert [(one["id"], one["turns"], one["ended_at"]) for one in sessions] == [(alice.session, 1, None)]
    assert shown(house, "sessions", "--user", alice.id, "--end", alice.session) == {"turns": 1}
    assert shown(house, "sessions", "--user", alice.id)["sessions"][0]["ended_at"] is not None
    assert command(house, "sessions", "--user", "nobody", "--end", alice.session).returncode == 1


def test_one_users_failing_jobs_do_not_hold_up_another_user(house):
    alice, bob = house.person("alice"), house.person("bob")
    # Alice's are tried again and again.
    house.double.script(
        {"contains": "Zanzibar", "member": "messages", "status": 503},
        {"contains": PROMPT, "reply": json.dumps([{"type": "semantic", "content": SEAT}])},
    )
    for number in range(3):
        # The double refuses all requests that name the island, the user's own too.
        alice.say(f"I fly to Zanzibar {number} times")
    assert bob.say("I always want a window seat when I fly").status == 200
    until(lambda: SEAT in house.memgate.texts(bob.id), "bob's is learnt meanwhile")
