"""Memories carried from one memgate to another: the real program, by itself and over REST."""

import json
import os
import resource
import signal
import subprocess
from urllib.parse import quote

import pytest

from harness import http
from harness.memgate import BEARER
from harness.place import Place
from harness.wait import until

ODD = "a+b@x.org 'quoted' 予算 👨‍👩‍👧 &=%2F/?#"
USERS = ["alice", "bob", ODD]


@pytest.fixture
def places(tmp_path):
    """Two separate places; no memgate is running on either yet."""
    made = []
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
        made.append(Place(tmp_path / name))
    yield made
    for place in made:
        place.memgate.stop()


@pytest.fixture(params=["alone", "served"])
def either(places, request):
    """A place with and without a running memgate: export and import must behave the same."""
    if request.param == "served":
        for place in places:
            place.memgate.start()
    return places


def fill(place: Place):
    """Stores memories of several users, with labels, a project, a tenant and one changed memory."""
    alone = place.memgate.process is None
    if alone:
        place.memgate.start()

    def remember(content: str, **members) -> str:
        answer = place.memgate.api("POST", "/v1/memory", {"content": content, **members})
        assert answer.status == 201, answer.body
        return answer.json()["id"]

    for user in USERS:
        remember(f"I live in Lyon, says {user}", user_id=user, tags=["ü"], importance=0.1, metadata={"n": 0.1})
        remember("How to bake bread", user_id=user, type="procedural", project_id="blue")
    remember("Of another tenant", user_id="alice", tenant_id="acme/1")
    remember("The office is closed on Monday", space="organisation", tenant_id="acme/1")
    remember("Short plans are followed more often", space="agent:coach", visibility={"kind": "shared", "roles": ["hr"]})
    remember("My desk is by the window", user_id="alice", visibility={"kind": "shared", "users": ["bob"]})
    changed = remember("My dog is called Rex", user_id="bob")
    assert place.memgate.api("PATCH", f"/v1/memory/{changed}?user_id=bob", {"content": "It is Max"}).status == 200
    if alone:
        place.memgate.stop()


def listed(place: Place) -> list:
    """The memories that both sides must list alike."""
    found = [place.json("list", "--user", user)["memories"] for user in USERS]
    others = [("--user", "alice", "--tenant", "acme/1"), ("--space", "organisation", "--tenant", "acme/1"),
              ("--space", "agent:coach")]
    return [*found, *(place.json("list", *whose)["memories"] for whose in others)]


def generated(count: int) -> str:
    """An export file with this many memories of alice, without vectors."""
    time = "2026-03-01T12:00:00Z"
    lines = [{"export": {"format": 2, "vectors": False, "exported_at": time}}]
    for number in range(count):
        memory = {
            "id": f"mem_{number:05}", "owner": {"tenant": "default", "user": "alice"}, "kind": "statement",
            "type": "semantic", "content": f"Fact number {number}", "visibility": {"kind": "private"}, "source": "external_data",
            "status": "active", "importance": 0.5, "version": 1, "access_count": 0, "created_at": time,
            "updated_at": time,
        }
        lines.append({"memory": memory})
    return "".join(json.dumps(line) + "\n" for line in [*lines, {"end": True}])


def memories_of(file) -> list[dict]:
    lines = [json.loads(line) for line in file.read_text().splitlines() if line]
    assert lines[-1] == {"end": True}
    return [line for line in lines if "memory" in line]


def test_an_import_copies_all_memories_of_another_memgate(either, tmp_path):
    source, target = either
    fill(source)
    file = tmp_path / "all.jsonl"
    assert "Exported 11 memories" in source.run("export", "--out", file).stderr.decode()
    assert os.stat(file).st_mode & 0o077 == 0, "others read what users said"
    assert not os.path.exists(f"{file}.part")
    assert target.json("import", file) == {
        "written": 11, "same": 0, "differs": 0, "refused": 0, "complete": True, "problems": [],
    }
    assert listed(target) == listed(source)
    # A second export from there is the same, except for the line with the time.
    assert memories_of(file)[0]["vectors"][0]["space"]
    assert [len(line["history"]) for line in memories_of(file) if "history" in line] == [1]
    again = tmp_path / "again.jsonl"
    target.ok("export", "--out", again)
    assert memories_of(again) == memories_of(file)
    assert target.json("import", file)["same"] == 11
    # It came with its vectors, so it is found by its meaning at once.
    assert target.json("search", "Which town is my home?", "--user", "alice", "--threshold", "0")["hits"]


def test_one_users_export_is_only_that_users(either, tmp_path):
    source, target = either
    fill(source)
    file = tmp_path / "odd.jsonl"
    source.ok("export", "--user", ODD, "--out", file, "--no-vectors")
    text = file.read_text()
    assert "Lyon" in text and '"bob"' not in text and "vectors\":[" not in text
    refused = target.run("import", file, "--user", "alice")
    said = refused.stderr.decode()
    assert refused.returncode == 1 and "odd.jsonl:2-3: memory.owner: is a different user" in said
    assert "without --user" in said
    assert target.json("list", "--user", ODD)["memories"] == []
    assert target.json("import", file, "--user", ODD)["written"] == 2
    assert target.json("list", "--user", ODD) == source.json("list", "--user", ODD)
    source.ok("export", "--space", "organisation", "--tenant", "acme/1", "--out", tmp_path / "space.jsonl")
    assert [line["memory"]["owner"] for line in memories_of(tmp_path / "space.jsonl")] == [
        {"tenant": "acme/1", "organisation": True},
    ]
    # From one program straight into another.
    whole = source.run("export").stdout
    command = target.command("import", "-", "--json")
    done = subprocess.run(command, input=whole, env=target.environment({}), capture_output=True, timeout=30)
    told = json.loads(done.stdout)
    # Two are there without the vectors that come now; they may have got the same meanwhile.
    assert (told["written"], told["same"] + told["differs"], told["refused"]) == (9, 2, 0), told
    assert listed(target) == listed(source)


def test_an_interrupted_export_leaves_no_file_and_goes_on(places, tmp_path):
    source, _ = places
    whole = tmp_path / "generated.jsonl"
    whole.write_text(generated(1300))
    assert source.json("import", whole)["written"] == 1300
    source.memgate.start()
    file, part = tmp_path / "all.jsonl", tmp_path / "all.jsonl.part"
    room = len(whole.read_bytes()) // 2

    def starve():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    # The kernel ends it in the middle of a line.
    command = source.command("export", "--user", "alice", "--out", file, "--no-vectors")
    killed = subprocess.run(command, env=source.environment({}), preexec_fn=starve, capture_output=True, timeout=60)
    assert killed.returncode == -signal.SIGXFSZ, killed
    assert not file.exists() and part.stat().st_size == room and not part.read_bytes().endswith(b"\n")
    # It cannot be continued as the export of another user, or of all users.
    for other in (["--user", "bob", "--no-vectors"], ["--no-vectors"], ["--user", "alice"]):
        assert "belongs to a different export" in source.fails(1, "export", "--out", file, "--resume", *other)
    source.ok("forget", "mem_00001", "--user", "alice")
    source.ok("export", "--user", "alice", "--out", file, "--no-vectors", "--resume")
    assert not part.exists()
    ids = [line["memory"]["id"] for line in memories_of(file)]
    assert sorted(ids) == [f"mem_{number:05}" for number in range(1300)], "each once"
    # Without --resume, an interrupted export starts again.
    part.write_text("half of a li")
    source.ok("export", "--user", "alice", "--out", file, "--no-vectors")
    assert len(memories_of(file)) == 1299


def test_an_interrupted_import_can_run_again_without_duplicates(places, tmp_path):
    _, target = places
    target.memgate.start()
    lines = generated(1000).splitlines(keepends=True)
    command = target.command("import", "-", "--server", f"http://127.0.0.1:{target.memgate.http_port}")
    importing = subprocess.Popen(
        command, env=target.environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    importing.stdin.write("".join(lines[:500]).encode())
    importing.stdin.flush()
    stats = lambda: target.memgate.api("GET", "/v1/memory/stats?user_id=alice").json()["total"]
    until(lambda: stats() >= 200, "the first lines are imported")
    target.memgate.kill()
    _, said = importing.communicate("".join(lines[500:]).encode(), timeout=60)
    assert importing.returncode == 1 and b"run the command again to continue" in said, said
    target.memgate.start()
    before = stats()
    assert 200 <= before < 1000
    file = tmp_path / "all.jsonl"
    file.write_text("".join(lines))
    done = target.json("import", file)
    assert (done["written"], done["same"], done["differs"]) == (1000 - before, before, 0)
    contents = {memory["content"] for memory in target.memgate.memories("alice")}
    assert contents == {f"Fact number {number}" for number in range(1000)}


def test_a_wrong_line_is_named_by_its_number_and_the_rest_is_imported(either, tmp_path):
    _, target = either
    lines = generated(450).splitlines()
    lines[300] = lines[300].replace('"importance": 0.5', '"importance": "high"')
    lines[301] = lines[301][:40]
    lines.insert(5, "")
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n".join(lines) + "\n")
    done = target.run("import", file)
    said = done.stderr.decode()
    assert done.returncode == 1 and "448 memories" in done.stdout.decode()
    assert "wrong.jsonl:302: memory.importance: invalid type" in said and "wrong.jsonl:303: is not JSON" in said
    # The error says that the file is truncated.
    file.write_text("\n".join(lines[:100]) + "\n")
    assert "the export is incomplete" in target.fails(1, "import", file)
    for text in ("", "{}\n", "hello\n", lines[1] + "\n", lines[0].replace('"format": 2', '"format": 1')):
        file.write_text(text)
        target.fails(1, "import", file)
    target.fails(1, "import", tmp_path / "not there")


def test_over_rest_an_export_is_one_stream_and_an_import_another(places):
    source, target = places
    file = source.folder / "generated.jsonl"
    file.write_text(generated(700))
    source.ok("import", file)
    for place in places:
        place.memgate.start()
    exported = source.memgate.api("GET", f"/v1/memory/export?user_id={quote('alice')}")
    assert (exported.status, exported.complete) == (200, True)
    assert exported.headers["content-type"] == "application/x-ndjson"
    imported = http.request(
        target.memgate.http_port, "POST", "/v1/memory/import?user_id=alice", exported.body,
        {"content-type": "application/x-ndjson", **BEARER}, chunked=True,
    )
    assert imported.json()["written"] == 700 and imported.json()["complete"]
    assert target.memgate.memories("alice") == source.memgate.memories("alice")
    # Without vectors they are embedded in the background.
    stats = lambda: target.memgate.api("GET", "/v1/memory/stats?user_id=alice").json()
    assert (stats()["total"], stats()["dimension"]) == (700, 384)
    until(lambda: stats()["embedded"] == 700, "all have their vectors", 120)
