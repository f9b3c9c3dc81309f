"""Memories in a real PostgreSQL server: recall across sessions; requests and learning while the server is absent, killed,
frozen, full, read-only, or has lost its tables."""


import pytest
from test_durability import check_memories_of_every_turn_once, talking
from test_milvus import BODY, FACT, asked, recalls

from harness.memgate import Memgate
from harness.postgres import Postgres, Session, TlsProxy
from harness.stack import CHAT
from harness.wait import until

# The server answers at once; memgate checks it again within five seconds, and a busy machine takes longer.
BACK_AGAIN = 60

pytestmark = [pytest.mark.timeout(600), pytest.mark.allows_log(
    "Store unavailable, memory disabled",
    "Memory search failed, skipping",
    "Memory search timeout, skipping",
)]


@pytest.fixture
def postgres(tmp_path):
    """A PostgreSQL server that is not started yet."""
    one = Postgres(tmp_path / "postgres")
    yield one
    one.stop()


@pytest.fixture
def on(start):
    """Starts a stack that stores memories in this server."""
    def start_on(postgres: Postgres, ready: bool = True, settings: dict | None = None, **memory):
        section = {**postgres.config["postgres"], **(settings or {})}
        stack = start({"memory": {"store": "postgres", "postgres": section, **memory}}, memgate=False)
        stack.memgate.start(ready=ready)
        return stack

    return start_on


def test_what_was_said_in_one_session_is_recalled_in_another_and_after_restarts(postgres, on):
    stack = on(postgres.start())
    alice, bob = stack.person(), stack.person()
    alice.say(FACT)
    alice.learn()
    for _ in range(2):
        assert asked(alice.later())[1]
        assert not asked(bob)[1]
        stack.memgate.restart()
    postgres.stop()
    postgres.start()
    recalls(alice.later(), BACK_AGAIN)


def test_memgate_serves_without_postgres_and_uses_it_when_it_comes(postgres, on):
    stack = on(postgres, ready=False)
    until(lambda: stack.memgate.status("/healthz") == 200, "memgate lives", 60)
    stack.memgate.wait_log("error", "Store unavailable, memory disabled", 20)
    assert stack.memgate.status("/readyz") == 503
    alice = stack.person()
    answer, _ = asked(alice)
    assert answer.decision == "failed:store"
    assert alice.say(FACT).status == 200
    postgres.start()
    stack.memgate.wait_ready()
    stack.memgate.wait_log("info", "Store available, memory enabled")
    alice.learn()
    assert asked(alice.later())[1], "what was said before PostgreSQL came is learned"


def test_turns_learnt_while_postgres_is_killed_are_memories_exactly_once(postgres, on):
    stack = on(postgres.start())
    with talking(stack) as (talkers, wait_for):
        for _ in range(2):
            wait_for(5)
            until(lambda: talkers[0].person.memories(), "something is learned", 60)
            postgres.kill()
            wait_for(5)
            postgres.start()
            stack.memgate.wait_ready(BACK_AGAIN)
        wait_for(5)
    check_memories_of_every_turn_once(stack, talkers)


def test_a_frozen_postgres_costs_a_request_no_more_than_its_deadline(postgres, on):
    stack = on(postgres.start(), deadline_ms=500)
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    recalls(alice.later(), BACK_AGAIN)
    postgres.freeze()
    alice = alice.later()
    for _ in range(3):
        answer, _ = asked(alice)
        assert answer.decision in ("failed:store", "failed:deadline", "failed:embedding")
        assert answer.seconds < 5
    assert alice.say("My boat is called Halcyon").status == 200
    stack.memgate.wait_log("error", "Store unavailable, memory disabled", 60)
    postgres.thaw()
    recalls(alice, BACK_AGAIN)
    alice.learn()
    assert alice.knows("Halcyon")


def test_requests_pass_while_postgres_has_no_connection_left(postgres, on):
    postgres.start()
    # Three are kept for superusers, and the server starts with it.
    postgres.set("max_connections", "9")
    postgres.stop()
    stack = on(postgres.start(), settings={"connections": 2})
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    recalls(alice.later(), BACK_AGAIN)
    postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memgate'")
    others = []

    def taken():
        try:
            others.append(Session(postgres.port, "memgate", "memgate"))
        except AssertionError:
            return True

    until(taken, "others have all connections")
    until(lambda: asked(alice.later())[0].decision == "failed:store", "the store is unavailable")
    assert alice.say("My boat is called Halcyon").status == 200
    for other in others:
        other.close()
    recalls(alice.later(), BACK_AGAIN)
    alice.learn()
    assert alice.knows("Halcyon")


def test_a_read_only_postgres_is_searched_and_learned_into_afterwards(postgres, on):
    stack = on(postgres.start())
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    postgres.set("default_transaction_read_only", "on")
    until(lambda: postgres.sql("SHOW default_transaction_read_only") == [["on"]], "it is read-only")
    assert asked(alice.later())[1]
    assert alice.say("My boat is called Halcyon").status == 200
    jobs = stack.memgate.api("POST", "/v1/memory/flush", {"user_id": alice.id, "timeout_ms": 500}).json()
    assert jobs["jobs_pending"] > 0 and jobs["jobs_dead"] == 0, jobs
    assert asked(alice.later())[1], "searches go on"
    postgres.set("default_transaction_read_only", "off")
    until(lambda: postgres.sql("SHOW default_transaction_read_only") == [["off"]], "it can be written")
    until(lambda: (alice.learn(), alice.knows("Halcyon"))[1], "it is learned", BACK_AGAIN)


def test_dropped_tables_are_made_again(postgres, on):
    stack = on(postgres.start())
    alice = stack.person()
    alice.say(FACT)
    alice.learn()
    recalls(alice.later(), BACK_AGAIN)
    postgres.sql("DROP SCHEMA memgate CASCADE", "memgate")
    until(lambda: asked(alice.later())[0].decision == "searched" and not asked(alice.later())[1],
          "the tables are there again", BACK_AGAIN)
    alice.say("Once more: my budget for the Hawaii trip is $10,000 and my boat is called Halcyon")
    alice.learn()
    assert alice.knows("Halcyon")


def test_it_connects_over_tls_with_a_client_certificate_and_a_password(postgres, on, monkeypatch, tmp_path):
    postgres.start()
    postgres.sql("ALTER ROLE memgate PASSWORD 'sesame'")
    postgres.sql("GRANT with_password TO memgate")
    proxy = TlsProxy(tmp_path, postgres.port)
    monkeypatch.setenv("TEST_PASSWORD", "sesame")
    monkeypatch.setenv("WRONG_PASSWORD", "open")
    files = {"ca": str(proxy.ca), "certificate": str(proxy.certificate), "key": str(proxy.key)}
    named = {**files, "server_name": "db.example"}
    try:
        settings = {"port": proxy.port, "password_env": "TEST_PASSWORD", "tls": named}
        stack = on(postgres, settings=settings)
        alice = stack.person()
        alice.say(FACT)
        alice.learn()
        recalls(alice.later(), BACK_AGAIN)
        assert proxy.served > 0 and proxy.refused == 0
        for wrong, cause in [
            ({"tls": files}, "cannot connect to PostgreSQL"),
            ({"tls": {"ca": files["ca"], "server_name": "db.example"}}, "cannot connect to PostgreSQL"),
            ({"tls": None}, "cannot connect to PostgreSQL"),
            ({"password_env": "WRONG_PASSWORD"}, "PostgreSQL rejects the credentials"),
        ]:
            folder = tmp_path / f"wrong{proxy.refused}-{len(cause)}"
            folder.mkdir(exist_ok=True)
            memgate = Memgate(folder, {"memory": {"store": "postgres", "postgres": {**settings, **wrong}}})
            memgate.start(ready=False)
            try:
                memgate.wait_log("error", "Store unavailable, memory disabled", 60)
                assert cause in memgate.process.output()
            finally:
                memgate.stop()
    finally:
        proxy.stop()


def test_a_database_without_the_extension_is_refused_at_start(postgres, tmp_path):
    postgres.start()
    postgres.sql("CREATE DATABASE bare OWNER memgate TEMPLATE template0")
    config = {"memory": {"store": "postgres", "postgres": {"port": postgres.port, "database": "bare"}}}
    assert "CREATE EXTENSION vector" in Memgate(tmp_path, config).refuses()


def test_two_memgates_share_a_postgres(postgres, on):
    stacks = [on(postgres.start() if place == 0 else postgres) for place in range(2)]
    alice = stacks[0].person()
    alice.say(FACT)
    alice.learn()
    same = stacks[1].person()
    same.id = alice.id
    answer = same.post(CHAT, BODY)
    assert answer.decision == "searched" and "$10,000" in answer.body.decode()
