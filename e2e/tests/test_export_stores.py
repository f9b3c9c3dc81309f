"""Memories carried from every store to every other: they stay the same, with their histories, readers and vectors."""

import json

import pytest
from test_export import fill, memories_of

from harness.milvus import Milvus
from harness.place import Place
from harness.postgres import Postgres

pytestmark = pytest.mark.timeout(600)

# Each store follows each other one once.
WAY = ["sqlite", "postgres", "milvus", "sqlite", "milvus", "postgres", "sqlite"]


@pytest.fixture
def servers(tmp_path):
    made = [Postgres(tmp_path / "postgres"), Milvus(tmp_path / "milvus")]
    try:
        for one in made:
            one.start()
        yield made
    finally:
        for one in made:
            one.stop()


def test_every_store_takes_what_every_other_one_exports_and_exports_the_same(servers, tmp_path):
    assert {*zip(WAY, WAY[1:])} == {(one, other) for one in WAY for other in WAY if one != other}
    postgres, milvus = servers

    def place(number: int, store: str) -> Place:
        """An empty one, on a schema or collection of its own."""
        memory = {
            "sqlite": {"store": "sqlite"},
            "postgres": {"store": "postgres", "postgres": {"port": postgres.port, "schema": f"place{number}"}},
            "milvus": {"store": "milvus", "milvus": {"address": milvus.address, "collection": f"place{number}"}},
        }[store]
        folder = tmp_path / f"{number}-{store}"
        folder.mkdir()
        return Place(folder, {"memory": memory})

    def exported(source: Place) -> list[dict]:
        file = source.folder / "all.jsonl"
        source.ok("export", "--out", file)
        return sorted(memories_of(file), key=lambda line: json.dumps([line["memory"]["owner"], line["memory"]["id"]]))

    source = place(0, WAY[0])
    fill(source)
    first = exported(source)
    assert len(first) == 11 and all(any(name in line for line in first) for name in ("history", "vectors"))
    for number, store in enumerate(WAY[1:], 1):
        target = place(number, store)
        assert target.json("import", source.folder / "all.jsonl")["written"] == 11
        assert exported(target) == first, (number, store)
        source = target
