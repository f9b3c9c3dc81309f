"""Users whose ids attack queries, keys and comparisons. Each user attacks all others through every interface and records the
answers.

Each memory has a canary, a word that no other text has. A user that finds a canary in an answer must own its memory, or have
been among its readers when the request began.
"""

import json
import math
import random
import re
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import quote

from . import http
from .issuer import Issuer
from .stack import CHAT, RESPONSES, Stack

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
ROLES = ["crew", 'crew" or "1"=="1', "crew%"]
AGENTS = ["coach", "coach%", "' OR agent <> '"]
CANARY = re.compile(r"zq[a-z]{10}")
# Who keeps more memories than this deletes all of them, so that the last operations are as quick as the first.
MOST_KEPT = 16
# An answer holds the user's own memories, or is a refusal; any other status is a fault.
STATUSES = {200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 413, 422}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


@dataclass
class Readers:
    """Who else may read a memory, until when."""

    visibility: dict
    until: float = math.inf

    def has(self, user: str, roles: list[str]) -> bool:
        if self.visibility["kind"] == "public":
            return True
        users, of = self.visibility.get("users", []), self.visibility.get("roles", [])
        return user in users or not set(roles).isdisjoint(of)


@dataclass
class Canary:
    """A word, whose it is, and who was and is among its readers."""

    owner: "Attacker"
    agent: str | None = None
    readers: list[Readers] = field(default_factory=list)

    def shared_with(self, visibility: dict):
        """Before it is asked for: from now on these may see it too."""
        self.readers.append(Readers(visibility))

    def ends(self, last: int | None = None):
        """Called after the answer: a request that begins from now on must not see what earlier readers saw."""
        now = time.monotonic()
        for readers in self.readers[:last]:
            readers.until = min(readers.until, now)

    def may_be_seen_by(self, one: "Attacker", roles: list[str], agent: str | None, began: float) -> bool:
        if one is self.owner:
            return True
        is_here = one.user is not None and one.tenant == self.owner.tenant and self.agent in (None, agent)
        return is_here and any(it.until >= began and it.has(one.user, roles) for it in list(self.readers))


class Attacker:
    """A user with tokens for Envoy and a key for REST. `kept` are the canaries that REST must still know."""

    def __init__(self, place: "Battlefield", tenant: str, id_: str, seed: int):
        self.place, self.tenant, self.id = place, tenant, id_
        self.user: str | None = id_
        self.chance = random.Random(seed)
        self.kept: dict[str, str] = {}
        self.responses: list[str] = []
        self.leaks: list[str] = []
        self.faults: list[str] = []
        self.done = 0
        self.roles: list[str] = []
        self.agent: str | None = None
        self.key = self.token = None

    def arm(self):
        self.key = self.place.key(user_id=self.id, tenant_id=self.tenant)
        self.sign_in()
        return self

    def sign_in(self):
        """Another token: with other roles, and for another agent."""
        self.roles = [role for role in ROLES if self.chance.random() < 0.4]
        self.agent = self.chance.choice([None, *AGENTS])
        tenant = {} if self.tenant == "default" else {"tenant": self.tenant}
        self.token = self.place.issuer.token(self.id, roles=self.roles, agent=self.agent, **tenant)

    # -- ways in --------------------------------------------------------------------------------------------------

    def rest(self, method: str, path: str, body=None):
        return self._sent(self.place.stack.memgate.http_port, self.key, method, path, body)

    def envoy(self, method: str, path: str, body=None, headers=None):
        return self._sent(self.place.stack.envoy.port, self.token, method, path, body, headers)

    def _sent(self, port, bearer, method, path, body, headers=None):
        headers = {**({"authorization": f"Bearer {bearer}"} if bearer else {}), **(headers or {})}
        began = time.monotonic()
        answer = http.request(port, method, path, body, headers)
        seen = answer.body.decode(errors="replace") + str(answer.headers)
        self.judge(f"{method} {path[:80]} {str(body)[:200]}", seen, began)
        if answer.status not in STATUSES:
            self.faults.append(f"{answer.status} {method} {path} {str(body)[:200]}: {seen[:300]}")
        return answer

    def judge(self, what: str, seen: str, began: float):
        for word in set(CANARY.findall(seen)):
            canary = self.place.canaries.get(word)
            if canary and canary.may_be_seen_by(self, self.roles, self.agent, began):
                self.place.seen_of_others += canary.owner is not self
            else:
                self.leaks.append(f"{self.tenant}/{self.id[:20]} got {word} by {what}")

    # -- operations -----------------------------------------------------------------------------------------------

    def act(self):
        """One operation: mostly on another's things, sometimes on one's own, so that there is something to take."""
        own = [self.remember, self.say, self.erase, self.search, self.look, self.share, self.take_back, self.sign_in,
               self.use_tools]
        foreign = [self.take_a_space, self.claim, self.name_another, self.reach, self.filter, self.chain, self.overreach]
        act = self.chance.choice(own if self.chance.random() < 0.45 else foreign)
        (act if len(self.kept) <= MOST_KEPT else self.start_over)()
        self.done += 1

    def victim(self) -> "Attacker":
        return self.chance.choice([one for one in self.place.attackers if one is not self])

    def way(self):
        return self.chance.choice([self.rest, self.envoy])

    def remember(self):
        self.stored("The box {} is in the cellar")

    def share(self):
        """Shares a memory with one other, with a role, or with the tenant."""
        self.stored("My boat {} lies in the harbour", visibility=self.audience())

    def audience(self) -> dict:
        return self.chance.choice([
            {"kind": "public"},
            {"kind": "shared", "users": [self.victim().id], "roles": []},
            {"kind": "shared", "users": [], "roles": [self.chance.choice(ROLES)]},
        ])

    def stored(self, content: str, **members):
        word, canary = self.place.canary(self)
        if "visibility" in members:
            canary.shared_with(members["visibility"])
        made = self.rest("POST", "/v1/memory", {"user_id": self.id, "content": content.format(word), **members})
        if made.status == 201:
            self.kept[made.json()["id"]] = word

    def take_back(self):
        """Shares a memory with others, or with nobody any more."""
        if not self.kept:
            return
        id_, word = self.chance.choice(list(self.kept.items()))
        canary, before = self.place.canaries[word], len(self.place.canaries[word].readers)
        visibility = self.chance.choice([{"kind": "private"}, self.audience()])
        if visibility["kind"] != "private":
            canary.shared_with(visibility)
        path = f"/v1/memory/{id_}?user_id={quote(self.id, safe='')}"
        if self.way()("PATCH", path, {"visibility": visibility}).status == 200:
            canary.ends(before)

    def erase(self):
        if len(self.kept) <= 8:
            return
        id_ = self.chance.choice(list(self.kept))
        path = f"/v1/memory/{id_}?user_id={quote(self.id, safe='')}"
        if self.way()("DELETE", path).json() == {"deleted": 1}:
            self.place.canaries[self.kept.pop(id_)].ends()
        else:
            self.faults.append(f"{self.id}: own memory {id_} was not there")

    def start_over(self):
        """Deletes all that is one's own, what was learned from turns included, and nothing else."""
        made = [self.rest("DELETE", f"/v1/memory?{home}") for home in self.homes()]
        deleted = sum(one.json().get("deleted", 0) for one in made)
        if deleted < len(self.kept):
            self.faults.append(f"{self.id}: {deleted} of at least {len(self.kept)} own memories deleted")
        for word in self.kept.values():
            self.place.canaries[word].ends()
        self.kept.clear()

    def homes(self) -> list[str]:
        """How REST is told what is one's own."""
        return [f"user_id={quote(self.id, safe='')}"]

    def take_a_space(self):
        """Writes and reads what belongs to nobody who is a user."""
        space = self.chance.choice(["organisation", "agent:coach", "session:shared", "agent:", "\u0001organisation"])
        tenant = self.chance.choice([self.tenant, self.victim().tenant])
        method, path, body = self.chance.choice([
            ("POST", "/v1/memory", {"space": space, "tenant_id": tenant, "content": "The cellar is mine"}),
            ("POST", "/v1/memory/search", {"space": space, "tenant_id": tenant, "query": "Which box?", "threshold": 0}),
            ("POST", "/v1/context", {"space": space, "tenant_id": tenant, "message": "Where is my boat?"}),
            ("GET", f"/v1/memory?space={quote(space)}&tenant_id={tenant}", None),
            ("DELETE", f"/v1/memory?space={quote(space)}&tenant_id={tenant}", None),
            ("GET", f"/v1/memory/export?space={quote(space)}&tenant_id={tenant}", None),
        ])
        answer = self.way()(method, path, body)
        if answer.status < 400:
            self.faults.append(f"{answer.status} {method} {path} by {self.tenant}/{self.id}")

    def say(self):
        word, _ = self.place.canary(self)
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

    def use_tools(self):
        """A tool loop, whose calls get the same context: but for what is shared no longer."""
        said = [{"role": "user", "content": "Where does the boat lie?"}]
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        results = [{"role": "assistant", "content": None, "tool_calls": [call]},
                   {"role": "tool", "tool_call_id": "c1", "content": "nothing"}]
        for messages in (said, said + results):
            body = {"model": "echo", "messages": messages, "tools": [TOOL]}
            self.envoy("POST", CHAT, body, {"x-session-id": "loop"})

    def search(self):
        query = self.chance.choice(["What is my boat called?", "Which box is in the cellar?"])
        body = {"user_id": self.id, "query": query, "threshold": 0, "limit": 50, "explain": True}
        self.way()("POST", "/v1/memory/search", body)

    def look(self):
        path = self.chance.choice(["/v1/memory", "/v1/memory/export", "/v1/preferences", "/v1/forgettings", "/v1/recalls",
                                   "/v1/entities"])
        self.way()("GET", f"{path}?user_id={quote(self.id, safe='')}")

    def claim(self):
        """Says to be another, in every field and header that has ever named a user."""
        victim = self.victim().id
        fields = {"user": victim, "metadata": {"user_id": victim},
                  "memory_context": {"user_id": victim, "agent_id": self.chance.choice(AGENTS)}}
        fields = {name: value for name, value in fields.items() if self.chance.random() < 0.5}
        claims = json.dumps({"sub": victim, "roles": ROLES, "agent": "coach"})
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
            ("GET", "/v1/recalls"), ("GET", "/v1/entities"),
        ])
        if victim.tenant == self.tenant and self.chance.random() < 0.2:
            scope = f"user_id={quote(self.id, safe='')}&{scope}"
            method = "GET"
        answer = self.way()(method, f"{path}?{scope}")
        if answer.status < 400:
            self.faults.append(f"{answer.status} {method} {path}?{scope} by {self.tenant}/{self.id}")

    def reach(self):
        """Uses the id of another's memory as one's own."""
        victim = self.chance.choice([self.victim(), self.place.stewards[0]])
        ids = list(victim.kept)
        if not ids:
            return
        id_, user = self.chance.choice(ids), self.chance.choice([victim.id, self.id])
        method, rest = self.chance.choice([("GET", ""), ("DELETE", ""), ("PATCH", ""), ("GET", "/history")])
        change = self.chance.choice([{"content": "Taken over"}, {"visibility": {"kind": "public"}}])
        body = change if method == "PATCH" else None
        answer = self.way()(method, f"/v1/memory/{id_}{rest}?user_id={quote(user, safe='')}", body)
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
            ("POST", "/v1/context", {"user_id": other, "message": "What is my boat called?"}),
            ("PUT", "/v1/preferences", {"user_id": other, "name": "Mallory"}),
            ("GET", "/v1/memory?cursor=%00%27&user_id=%25", None),
        ])
        if self.rest(method, path, body).status < 400:
            self.faults.append(f"{method} {path} of another was done")


class Steward(Attacker):
    """Writes what the organisation and an agent know, with a key of the whole tenant, and takes it back."""

    def __init__(self, place: "Battlefield", tenant: str, seed: int):
        super().__init__(place, tenant, "steward of " + tenant, seed)
        self.user = None

    def arm(self):
        self.key = self.place.key(tenant_id=self.tenant)
        return self

    def act(self):
        act = self.chance.choice([self.publish, self.publish, self.change, self.erase])
        (act if len(self.kept) <= MOST_KEPT else self.start_over)()
        self.done += 1

    def publish(self):
        agent = self.chance.choice([None, "coach"])
        space = f"agent:{agent}" if agent else "organisation"
        word, canary = self.place.canary(self)
        canary.agent = agent
        visibility = self.audience()
        canary.shared_with(visibility)
        content = f"Where the boat {word} lies in the harbour"
        body = {"space": space, "tenant_id": self.tenant, "content": content, "visibility": visibility}
        made = self.rest("POST", "/v1/memory", body)
        if made.status == 201:
            self.kept[made.json()["id"]] = word

    def homes(self) -> list[str]:
        return [f"space={space}&tenant_id={self.tenant}" for space in ["organisation", "agent:coach"]]

    def path(self, id_: str) -> str:
        agent = self.place.canaries[self.kept[id_]].agent
        return f"/v1/memory/{id_}?space={f'agent:{agent}' if agent else 'organisation'}&tenant_id={self.tenant}"

    def change(self):
        if self.kept:
            id_, word = self.chance.choice(list(self.kept.items()))
            canary, visibility = self.place.canaries[word], self.audience()
            before = len(canary.readers)
            canary.shared_with(visibility)
            if self.rest("PATCH", self.path(id_), {"visibility": visibility}).status == 200:
                canary.ends(before)

    def erase(self):
        if len(self.kept) > 8:
            id_ = self.chance.choice(list(self.kept))
            if self.rest("DELETE", self.path(id_)).json() == {"deleted": 1}:
                self.place.canaries[self.kept.pop(id_)].ends()
            else:
                self.faults.append(f"{id_} of a space was not there")


class Nobody(Attacker):
    """A session without a user, whose id is a secret: it has nothing but what is said in it."""

    def __init__(self, place: "Battlefield", seed: int):
        super().__init__(place, "default", secrets.token_hex(16), seed)
        self.user = None

    def act(self):
        self.chance.choice([self.say, self.say, self.claim, self.chain, self.use_tools, self.name_another, self.take_a_space])()
        self.done += 1

    def envoy(self, method: str, path: str, body=None, headers=None):
        named = self.chance.choice([self.id] * 3 + ["shared", self.victim().id])
        headers = {**(headers or {}), "x-session-id": named.encode()}
        return self._sent(self.place.stack.envoy.port, None, method, path, body, headers)


class Battlefield:
    def __init__(self, stack: Stack, issuer: Issuer):
        self.stack, self.issuer = stack, issuer
        self.canaries: dict[str, Canary] = {}
        # How often anybody got what another shared with them.
        self.seen_of_others = 0
        self.lock, self.chance = threading.Lock(), random.Random(len(USERS))
        self.attackers = [Attacker(self, tenant, id_, seed).arm() for seed, (tenant, id_) in enumerate(USERS)]
        self.stewards = [Steward(self, tenant, 100 + seed).arm() for seed, tenant in enumerate(["default", "acme"])]
        self.nobodies = [Nobody(self, 200 + seed) for seed in range(3)]
        self.everybody = [*self.attackers, *self.stewards, *self.nobodies]

    def key(self, **bound) -> str:
        name = f"key{self.chance.getrandbits(40)}"
        made = self.stack.memgate.api("POST", "/admin/keys", {"name": name, "scopes": ["read", "write"], **bound})
        assert made.status == 201, made.body
        return made.json()["key"]

    def canary(self, owner: Attacker) -> tuple[str, Canary]:
        with self.lock:
            word = "zq" + "".join(self.chance.choices("abcdefghijklmnoprstuvwy", k=10))
            self.canaries[word] = Canary(owner)
            return word, self.canaries[word]

    def fight(self, operations: int):
        for one in self.attackers:
            for _ in range(3):
                one.remember()
        for one in self.stewards:
            for _ in range(3):
                one.publish()
        each = -(-operations // len(self.everybody))

        def act(one: Attacker):
            for _ in range(each):
                one.act()

        with ThreadPoolExecutor(len(self.everybody)) as pool:
            list(pool.map(act, self.everybody))
        assert sum(one.done for one in self.everybody) >= operations

    def check(self):
        """What everybody has, as an administrator sees it, and what logs and metrics say."""
        leaks = [leak for one in self.everybody for leak in one.leaks]
        assert not leaks, (len(leaks), leaks[:5])
        for one in self.everybody:
            assert not one.faults, one.faults[:5]
        for one in self.attackers:
            self.stack.memgate.api("POST", "/v1/memory/flush", {"user_id": one.id, "tenant_id": one.tenant})
            stored = {memory["id"]: memory["content"] for memory in self.memories(one)}
            missing = {id_ for id_, word in one.kept.items() if word not in stored.get(id_, "")}
            assert not missing, f"{one.id} lost {missing}"
            # Memories that others shared have not become the reader's own.
            foreign = {word for word in CANARY.findall(str(stored)) if self.canaries[word].owner is not one}
            assert not foreign, f"{one.id} has {foreign}"
        # Short ids occur in any text.
        ids = [one.id for one in self.everybody if len(one.id) > 8]
        metrics = http.request(self.stack.memgate.http_port, "GET", "/metrics").body.decode()
        for name, text in [("metrics", metrics), ("log", "\n".join(self.stack.memgate.process.lines))]:
            assert not CANARY.search(text), f"{name}: {CANARY.search(text)}"
            assert not [id_ for id_ in ids if id_ in text or json.dumps(id_)[1:-1] in text], name
        # The check can fail: what it looks for is there to be found.
        assert sum(len(one.kept) for one in self.attackers) > len(self.attackers)
        assert any(CANARY.search(str(self.memories(one))) for one in self.attackers)
        assert self.seen_of_others > 10

    def memories(self, one: Attacker) -> list[dict]:
        return self.stack.memgate.memories(one.id, tenant_id=one.tenant)
