"""Random operations by users whose ids attack queries, keys and comparisons, by agents' and organisations' stewards, and by
sessions without a user: nobody gets, changes or loses what is another's, nor what is shared with them no longer, by any way
in, in any store, and neither logs nor metrics hold what anybody said or who they are.
"""

import pytest

from harness.hostile import Battlefield
from harness.issuer import Issuer
from harness.memgate import KEY_ENV
from harness.milvus import Milvus
from harness.postgres import Postgres
from harness.production import stack_with_gateway_key

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def server(tmp_path):
    """Starts the server of a store, where it has one; returns the store's configuration."""
    servers = []

    def start(store: str) -> dict:
        if store == "sqlite":
            return {"store": "sqlite"}
        servers.append((Postgres if store == "postgres" else Milvus)(tmp_path / store).start())
        if store == "postgres":
            return servers[-1].config
        return {"store": "milvus", "milvus": {"address": servers[-1].address}}

    yield start
    for one in servers:
        one.stop()


@pytest.fixture
def battlefield(tmp_path, server):
    """Starts a stack with the production Envoy on a store."""
    stacks = []

    def on(store: str) -> Battlefield:
        issuer = Issuer()
        limits = {"requests_per_second": 100_000, "user_requests_per_second": 100_000}
        config = {
            "memory": {
                "identity": {"mode": "production", "jwt": {"agent_claim": "agent"}},
                "scopes": {"shared": True},
                "anonymous_sessions": {"enabled": True},
                "debug_metadata": True,
                **server(store),
            },
            "api": {"key_env": KEY_ENV, **limits},
            "telemetry": {"log": "info", "log_format": "json"},
        }
        stacks.append(stack_with_gateway_key(tmp_path, issuer, config, anonymous=True))
        return Battlefield(stacks[-1], issuer)

    yield on
    for stack in stacks:
        stack.stop()


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_no_operation_of_a_hostile_user_reaches_what_is_not_theirs(battlefield, store):
    field = battlefield(store)
    field.fight(1_000)
    field.check()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("store", ["sqlite", "postgres", "milvus"])
def test_no_operation_in_a_hundred_thousand_reaches_what_is_not_theirs(battlefield, store):
    field = battlefield(store)
    field.fight(100_000)
    field.check()
