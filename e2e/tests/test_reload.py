"""A reload never loosens protection, even when the file is truncated."""

import signal

import pytest

from harness.context import context_of
from harness.issuer import Issuer
from harness.production import trusting
from harness.stack import Person
from harness.wait import until

pytestmark = pytest.mark.allows_log("configuration reload refused; keeping the old configuration")

FACT = "My secret word is kestrel"
QUESTION = "What is my secret word?"
OFF_THE_RECORD = "Off the record: what is my secret word?"

# No protecting key has its default, so each truncation removes some protection.
CONFIG = """\
telemetry: {log: debug, log_format: json}
api: {key_env: MEMGATE_E2E_KEY}
memory:
  deadline_ms: 8000
  auto_store: true
  identity:
    mode: production
    jwt:
      user_claim: sub
  policies:
    - match: {header: {name: x-team, value: legal}}
      auto_store: false
    - match:
        word: off the record
      enabled: false
"""


class Bearer(Person):
    token = ""

    @property
    def headers(self):
        return {**super().headers, "authorization": f"Bearer {self.token}"}


@pytest.fixture
def stack(start, tmp_path):
    issuer = Issuer()
    stack = start(base="production.yaml", edit=trusting(issuer, tmp_path))
    stack.memgate.stop()
    stack.memgate.config_file.write_text(CONFIG)
    stack.memgate.start()
    stack.issuer = issuer
    return stack


def reload(memgate) -> str:
    """Reloads the file; returns whether it was applied or refused."""
    before = {way: memgate.metric("memgate_config_reloads_total", outcome=way) for way in ("applied", "refused")}
    memgate.process.signal(signal.SIGHUP)

    def outcome():
        changed = [way for way, count in before.items()
                   if memgate.metric("memgate_config_reloads_total", outcome=way) > count]
        return changed[0] if changed else None

    return until(outcome, "the file is read again", 30)


def test_a_file_cut_off_at_any_line_leaves_protection_as_it_was(stack):
    alice, mallory = Bearer(stack, "alice"), Bearer(stack, "mallory")
    alice.token, mallory.token = stack.issuer.token("alice"), stack.issuer.token("mallory")
    alice.say(FACT)
    alice.learn()
    lines = CONFIG.splitlines(keepends=True)
    outcomes = []
    for end in range(len(lines) + 1):
        stack.memgate.config_file.write_text("".join(lines[:end]))
        outcomes.append(reload(stack.memgate))
        answer = mallory.say(QUESTION, user="alice")
        assert answer.status == 200
        assert "kestrel" not in (context_of(mallory.received()[-1].json()) or ""), f"cut before line {end}"
        assert alice.say(OFF_THE_RECORD).decision == "off", f"cut before line {end}"
        assert stack.memgate.api("GET", "/readyz").json()["identity_mode"] == "production"
    assert outcomes[-1] == "applied", "the whole file is applied again"
    assert outcomes[:-1] == ["refused"] * len(lines), outcomes
    stack.memgate.wait_log("error", "configuration reload refused; keeping the old configuration")


def test_a_tightening_reload_is_accepted(stack):
    stack.memgate.config_file.write_text(CONFIG.replace("auto_store: true", "auto_store: false"))
    assert reload(stack.memgate) == "applied"
    alice = Bearer(stack, "alice")
    alice.token = stack.issuer.token("alice")
    turns = stack.memgate.turns()
    assert alice.say(FACT).status == 200
    stack.memgate.flush("alice")
    assert stack.memgate.turns() == turns
    stack.memgate.config_file.write_text(CONFIG)
    assert reload(stack.memgate) == "refused", "and stays so until a restart"
