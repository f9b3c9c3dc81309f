"""Random operations by users whose ids attack queries, keys and comparisons: nobody gets, changes or loses what is
another's, by any way in, in any store, and neither logs nor metrics hold what anybody said or who they are.

Everybody attacks everybody. A memory's canary is a word of its own, so a canary in an answer to anybody but its owner
is a leak.
"""

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from harness import http
from harness.issuer import Issuer
from harness.memgate import KEY_ENV
from harness.milvus import Milvus
from harness.postgres import Postgres
from harness.production import stack_with_gateway_key
from harness.stack import CHAT, RESPONSES, Stack

# (tenant, user): ids that look alike, that contain others, that speak to SQL, Milvus, paths, patterns and separators.
USERS = [
    ("default", "alice"),
    ("acme", "alice"),
    ("default", "Alice"),
    ("default", "alice%"),
    ("default", "al_ce*"),
    ("default", "acme/alice"),
    ("default", "alice\u200b"),
    ("default", "ａｌｉｃｅ"),
    ("default", "' OR '1'='1"),
    ("default", 'x" || user_id != "'),
    ("default", "x'); DELETE FROM memories; --"),
    ("default", "../acme/alice?user_id=alice&tenant_id=acme#"),
    ("acme", "名前-🌴\\x00"),
    ("default", "a" * 256),
]
CANARY = re.compile(r"zq[a-z]{10}")
# Each is answered with the user's own, or refused; anything else is a fault.
STATUSES = {200, 201, 202, 204, 400, 403, 404, 405, 409, 413, 422}

pytestmark = pytest.mark.timeout(900)


class Canaries:
    """Words that stand in one user's memories only."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.owners: dict[str, "Attacker"] = {}

    def new(self, owner: "Attacker") -> str:
        word = "zq" + "".join(self.chance.choices("abcdefghijklmnoprstuvwy", k=10))
        self.owners[word] = owner
        return word


class Attacker:
    """A user with a token for Envoy and keys of their own. `kept` are the canaries that REST must still know."""

    def __init__(self, place: "Battlefield", tenant: str, id_: str, seed: int):
        self.place, self.tenant, self.id = place, tenant, id_
        self.chance = random.Random(seed)
        self.canaries = Canaries(self.chance)
        self.kept: dict[str, str] = {}
        self.responses: list[str] = []
        self.leaks: list[str] = []
        self.faults: list[str] = []
        body = {"name": f"key{seed}", "scopes": ["read", "write"], "user_id": id_, "tenant_id": tenant}
        made = place.stack.memgate.api("POST", "/admin/keys", body)
        assert made.status == 201, made.body
        self.key = made.json()["key"]
        claims = {} if tenant == "default" else {"tenant": tenant}
        self.token = place.issuer.token(id_, **claims)

    # -- ways in --------------------------------------------------------------------------------------------------

    def rest(self, method: str, path: str, body=None):
        return self._sent(self.place.stack.memgate.http_port, self.key, method, path, body)

    def envoy(self, method: str, path: str, body=None, headers=None):
        return self._sent(self.place.stack.envoy.port, self.token, method, path, body, headers)

    def _sent(self, port, bearer, method, path, body, headers=None):
        headers = {"authorization": f"Bearer {bearer}", **(headers or {})}
        answer = http.request(port, method, path, body, headers)
        seen = answer.body.decode(errors="replace") + str(answer.headers)
        self.judge(f"{method} {path[:80]} {str(body)[:200]}", seen)
        if answer.status not in STATUSES:
            self.faults.append(f"{answer.status} {method} {path} {str(body)[:200]}: {seen[:300]}")
        return answer

    def judge(self, what: str, seen: str):
        foreign = {word for word in CANARY.findall(seen) if word not in self.canaries.owners}
        if foreign:
            self.leaks.append(f"{self.tenant}/{self.id[:20]} got {foreign} by {what}")

    # -- operations -----------------------------------------------------------------------------------------------

    def act(self):
        """One operation: mostly on another's things, sometimes on one's own, so that there is something to take."""
        own = [self.remember, self.say, self.erase, self.search, self.look]
        foreign = [self.claim, self.name_another, self.reach, self.filter, self.chain, self.overreach]
        self.chance.choice(own if self.chance.random() < 0.35 else foreign)()

    def victim(self) -> "Attacker":
        return self.chance.choice([one for one in self.place.attackers if one is not self])

    def way(self):
        return self.chance.choice([self.rest, self.envoy])

    def remember(self):
        word = self.canaries.new(self)
        made = self.rest("POST", "/v1/memory", {"user_id": self.id, "content": f"The box {word} is in the cellar"})
        if made.status == 201:
            self.kept[made.json()["id"]] = word

    def say(self):
        word = self.canaries.new(self)
        text = self.chance.choice([f"My boat is called {word}", "What is my boat called?", "What is in the cellar?"])
        self.talk(text, {"session": self.chance.choice(["shared", word])})

    def talk(self, text: str, options: dict, headers=None, **fields):
        headers = {"x-session-id": options.get("session", "shared"), **(headers or {})}
        if self.chance.random() < 0.5:
            body = {"model": "echo", "messages": [{"role": "user", "content": text}]}
            self.envoy("POST", CHAT, {**body, "stream": self.chance.random() < 0.3, **fields}, headers)
        else:
            answer = self.envoy("POST", RESPONSES, {"model": "echo", "input": text, **fields}, headers)
            if answer.status == 200:
                self.responses = [*self.responses[-20:], answer.json()["id"]]

    def erase(self):
        if len(self.kept) > 8:
            id_ = self.chance.choice(list(self.kept))
            way = self.way()
            if way("DELETE", f"/v1/memory/{id_}?user_id={quote(self.id, safe='')}").json() == {"deleted": 1}:
                del self.kept[id_]
            else:
                self.faults.append(f"{self.id}: own memory {id_} was not there")

    def search(self):
        query = self.chance.choice(["What is my boat called?", "Which box is in the cellar?"])
        body = {"user_id": self.id, "query": query, "threshold": 0, "limit": 50, "explain": True}
        self.way()("POST", "/v1/memory/search", body)

    def look(self):
        path = self.chance.choice(["/v1/memory", "/v1/memory/export", "/v1/preferences", "/v1/forgettings"])
        self.way()("GET", f"{path}?user_id={quote(self.id, safe='')}")

    def claim(self):
        """Says to be another, in every field and header that has ever named a user."""
        victim = self.victim().id
        fields = {"user": victim, "metadata": {"user_id": victim}, "memory_context": {"user_id": victim}}
        fields = {name: value for name, value in fields.items() if self.chance.random() < 0.5}
        claims = json.dumps({"sub": victim})
        headers = {"x-authz-user-id": victim.encode(), "x-memgate-claims": claims, "x-user-id": victim.encode()}
        self.talk("What is my boat called?", {}, headers, **fields)

    def name_another(self):
        victim = self.victim()
        user, tenant = quote(victim.id, safe=""), self.chance.choice([victim.tenant, self.tenant, "*", "%", None])
        # A namesake of another tenant is oneself without that tenant.
        tenant = victim.tenant if victim.id == self.id else tenant
        scope = f"user_id={user}&tenant_id={tenant}" if tenant else f"user_id={user}"
        method, path = self.chance.choice([
            ("GET", "/v1/memory"), ("DELETE", "/v1/memory"), ("GET", "/v1/memory/export"), ("GET", "/v1/memory/stats"),
            ("GET", "/v1/preferences"), ("GET", "/v1/sessions"), ("GET", "/v1/jobs"), ("GET", "/v1/forgettings"),
        ])
        if victim.tenant == self.tenant and self.chance.random() < 0.2:
            scope = f"user_id={quote(self.id, safe='')}&{scope}"
            method = "GET"
        answer = self.way()(method, f"{path}?{scope}")
        if answer.status < 400:
            self.faults.append(f"{answer.status} {method} {path}?{scope} by {self.tenant}/{self.id}")

    def reach(self):
        """Uses the id of another's memory as one's own."""
        victim = self.victim()
        ids = list(victim.kept)
        if not ids:
            return
        id_, user = self.chance.choice(ids), self.chance.choice([victim.id, self.id])
        method = self.chance.choice(["GET", "DELETE", "PATCH"])
        body = {"content": "Taken over"} if method == "PATCH" else None
        answer = self.way()(method, f"/v1/memory/{id_}?user_id={quote(user, safe='')}", body)
        if answer.status < 400:
            self.faults.append(f"{answer.status} {method} {id_} of {victim.id}: {answer.body[:200]}")

    def filter(self):
        """Widens a search by a filter or a text that would mean something to a query language."""
        victim = self.victim()
        text = self.chance.choice(["%", "'", '" or user_id != "', "zq", "\\", "' OR 1=1 --", victim.id[:60]])
        filter_ = self.chance.choice([
            {"or": [{"text": text}, {"not": {"text": "zzzz"}}]},
            {"not": {"and": [{"tag": text}]}},
            {"metadata": {"key": text, "equals": None}},
            {"session": self.chance.choice(["shared", text])},
            {"project": text},
            {"entity": text},
        ])
        body = {"user_id": self.id, "query": f"boat {text}", "threshold": 0, "limit": 50, "filter": filter_}
        self.way()("POST", "/v1/memory/search", {**body, "explain": True, "project_id": text})

    def chain(self):
        """Continues another's conversation, or writes into their session."""
        responses = self.victim().responses
        if responses:
            previous = self.chance.choice(responses)
            body = {"model": "echo", "input": "What is my boat called?", "previous_response_id": previous}
            self.envoy("POST", RESPONSES, body)
        else:
            self.talk("What did I say about my boat?", {"session": "shared"})

    def overreach(self):
        """Asks for what is nobody's but an administrator's, or ends and repeats what is another's."""
        other = self.chance.choice([one.id for one in self.place.attackers if one.id != self.id])
        method, path, body = self.chance.choice([
            ("GET", "/admin/memory/export", None), ("GET", "/admin/keys", None), ("GET", "/admin/audit", None),
            ("GET", "/admin/jobs", None), ("POST", "/v1/sessions/shared/end", {"user_id": other}),
            ("POST", "/v1/memory/flush", {"user_id": other, "timeout_ms": 1}),
            ("POST", "/v1/memory", {"user_id": other, "content": "I owe them money"}),
            ("PUT", "/v1/preferences", {"user_id": other, "name": "Mallory"}),
            ("GET", "/v1/memory?cursor=%00%27&user_id=%25", None),
        ])
        if self.rest(method, path, body).status < 400:
            self.faults.append(f"{method} {path} of another was done")


class Battlefield:
    def __init__(self, stack: Stack, issuer: Issuer):
        self.stack, self.issuer = stack, issuer
        self.attackers: list[Attacker] = []
        for seed, (tenant, id_) in enumerate(USERS):
            self.attackers.append(Attacker(self, tenant, id_, seed))

    def fight(self, operations: int):
        for one in self.attackers:
            for _ in range(3):
                one.remember()

        def act(one: Attacker):
            for _ in range(operations // len(self.attackers)):
                one.act()

        with ThreadPoolExecutor(len(self.attackers)) as pool:
            list(pool.map(act, self.attackers))

    def check(self):
        """What everybody has, as an administrator sees it, and what logs and metrics say."""
        leaks = [leak for one in self.attackers for leak in one.leaks]
        assert not leaks, leaks[:5]
        for one in self.attackers:
            assert not one.faults, one.faults[:5]
        for one in self.attackers:
            self.stack.memgate.api("POST", "/v1/memory/flush", {"user_id": one.id, "tenant_id": one.tenant})
            stored = {memory["id"]: memory["content"] for memory in self.memories(one)}
            missing = {id_ for id_, word in one.kept.items() if word not in stored.get(id_, "")}
            assert not missing, f"{one.id} lost {missing}"
            one.judge("the store", str(stored))
            assert not one.leaks, one.leaks
        # Short ids occur in any text.
        ids = [one.id for one in self.attackers if len(one.id) > 8]
        metrics = http.request(self.stack.memgate.http_port, "GET", "/metrics").body.decode()
        for name, text in [("metrics", metrics), ("log", "\n".join(self.stack.memgate.process.lines))]:
            assert not CANARY.search(text), f"{name}: {CANARY.search(text)}"
            assert not [id_ for id_ in ids if id_ in text or json.dumps(id_)[1:-1] in text], name
        # The check can fail: what it looks for is there to be found.
        assert sum(len(one.kept) for one in self.attackers) > len(self.attackers)
        assert any(CANARY.search(str(self.memories(one))) for one in self.attackers)

    def memories(self, one: Attacker) -> list[dict]:
        return self.stack.memgate.memories(one.id, tenant_id=one.tenant)


@pytest.fixture
def battlefield(tmp_path):
    """Starts a stack with the production Envoy on a store."""
    stacks = []

    def on(store: dict) -> Battlefield:
        issuer = Issuer()
        limits = {"requests_per_second": 100_000, "user_requests_per_second": 100_000}
        config = {
            "memory": {"identity": {"mode": "production"}, **store},
            "api": {"key_env": KEY_ENV, **limits},
            "telemetry": {"log": "info", "log_format": "json"},
        }
        stacks.append(stack_with_gateway_key(tmp_path, issuer, config))
        return Battlefield(stacks[-1], issuer)

    yield on
    for stack in stacks:
        stack.stop()


def test_no_operation_of_a_hostile_user_reaches_anothers_memories_in_sqlite(battlefield):
    field = battlefield({"store": "sqlite"})
    field.fight(500)
    field.check()


def test_no_operation_of_a_hostile_user_reaches_anothers_memories_in_postgres(battlefield, tmp_path):
    postgres = Postgres(tmp_path / "postgres").start()
    try:
        field = battlefield(postgres.config)
        field.fight(500)
        field.check()
    finally:
        postgres.stop()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_operation_in_twenty_thousand_reaches_anothers_memories_in_postgres(battlefield, tmp_path):
    postgres = Postgres(tmp_path / "postgres").start()
    try:
        field = battlefield(postgres.config)
        field.fight(20_000)
        field.check()
    finally:
        postgres.stop()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_operation_in_eighty_thousand_reaches_anothers_memories_in_sqlite(battlefield):
    field = battlefield({"store": "sqlite"})
    field.fight(80_000)
    field.check()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_operation_in_twenty_thousand_reaches_anothers_memories_in_milvus(battlefield, tmp_path):
    milvus = Milvus(tmp_path / "milvus").start()
    try:
        field = battlefield({"store": "milvus", "milvus": {"address": milvus.address}})
        field.fight(20_000)
        field.check()
    finally:
        milvus.stop()
