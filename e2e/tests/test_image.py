"""The Dockerfile, without Docker: it runs only the scripts of tools/image/, their layout starts with the image's own
commands, and the base image has the libraries."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import compose, http, paths
from harness.process import Process, free_port
from harness.wait import until

# The libraries of gcr.io/distroless/cc that programs may be linked with.
PROVIDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
            "libgcc_s.so.1", "libstdc++.so.6"}
SCRIPTS = paths.REPOSITORY / "tools/image"


@pytest.fixture(scope="module")
def layout(tmp_path_factory) -> Path:
    """The images' files, made from the programs that the tests run."""
    programs = tmp_path_factory.mktemp("programs")
    for name, program in {
        "memgate": paths.memgate(), "xtask": paths.xtask(), "model-double": paths.double(),
    }.items():
        (programs / name).symlink_to(program)
    out = tmp_path_factory.mktemp("image")
    subprocess.run([SCRIPTS / "layout.sh", programs, paths.ASSETS, out], cwd=paths.REPOSITORY, check=True)
    return out


def run_steps() -> list[list[str]]:
    stages = compose.stages().values()
    return [compose.words(rest) for rest in dict.fromkeys(rest for s in stages for word, rest in s if word == "RUN")]


def test_the_dockerfile_runs_the_scripts_and_nothing_else():
    steps = run_steps()
    assert steps == [["tools/image/packages.sh"], ["tools/image/build.sh", "/image"]]
    for script in [*SCRIPTS.glob("*.sh"), paths.REPOSITORY / "tools/release.sh"]:
        assert os.access(script, os.X_OK), script
        subprocess.run(["sh", "-n", script], check=True)


def test_the_build_makes_the_layout_that_is_tested_here():
    lines = (SCRIPTS / "build.sh").read_text().splitlines()
    assert lines[-1] == 'tools/image/layout.sh target/release .assets "$out"'
    assert "cargo build --release --locked --workspace --bins" in lines


def test_every_copied_file_is_in_the_layout(layout):
    for name, stage in compose.stages().items():
        for word, rest in stage:
            if word == "COPY" and "--from=build" in rest:
                source = compose.words(rest)[-2]
                assert source.startswith("/image/"), rest
                assert (layout / source.removeprefix("/image/")).is_dir(), f"{name} copies {rest}"


def test_the_build_does_not_read_ignored_files():
    ignored = (paths.REPOSITORY / ".dockerignore").read_text().split()
    assert {".env", ".git", ".assets", "data", "**/target"} <= set(ignored)
    for needed in ("Cargo.toml", "Cargo.lock", "src", "xtask", "e2e", "envoy", "tools", "testdata", "benches"):
        assert needed not in ignored


def test_programs_find_their_libraries_in_the_image(layout):
    files = [*layout.glob("*/usr/local/bin/*"), *layout.glob("memgate/opt/memgate/onnxruntime/*.so*")]
    assert len(files) == 4
    for file in files:
        said = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", said))
        assert "libc.so.6" in needed and needed <= PROVIDED, f"{file.name} needs {needed - PROVIDED}"


def test_builder_and_image_use_the_same_debian():
    stages = compose.stages()
    assert "-bookworm@" in compose.last(stages["build"], "FROM")
    assert "/cc-debian12:" in compose.last(stages["base"], "FROM")


class Container:
    """memgate as the image starts it, with the image's fixed paths below a temporary folder."""

    def __init__(self, layout: Path, folder: Path):
        self.stage = compose.stages()["memgate"]
        self.port = free_port()
        config = (paths.REPOSITORY / "deploy/memgate/config.yaml").read_text()
        for there, here in {
            "/var/lib/memgate": str(folder / "data"),
            "/opt/memgate": str(layout / "memgate/opt/memgate"),
            "/run/memgate": str(folder),
            "${REST}": f"127.0.0.1:{self.port}",
            "0.0.0.0:9464": f"127.0.0.1:{free_port()}",
        }.items():
            assert config.count(there) == 1
            config = config.replace(there, here)
        file = folder / "config.yaml"
        file.write_text(config)
        name, _, _ = compose.last(self.stage, "ENV").partition("=")
        service = compose.example()["services"]["memgate"]
        self.programs = layout / "memgate/usr/local/bin"
        self.environment = {**service["environment"], name: str(file), "PATH": str(self.programs)}

    def command(self, words: list[str]) -> list:
        """The path of a command in the container's PATH."""
        return [self.programs / words[0], *words[1:]]

    def start(self) -> Process:
        words = [word for part in ("ENTRYPOINT", "CMD") for word in compose.argv(compose.last(self.stage, part))]
        return Process("memgate", self.command(words), env=self.environment)

    def healthy(self) -> bool:
        text = compose.last(self.stage, "HEALTHCHECK").partition(" CMD ")[2]
        done = subprocess.run(self.command(compose.argv(text)), env=self.environment, capture_output=True, timeout=30)
        return done.returncode == 0

    def list(self) -> subprocess.CompletedProcess:
        """The command of docs/docker.md: `memgate list` beside the running server."""
        command = self.command(["memgate", "list", "--user", "alice", "--json"])
        return subprocess.run(command, env=self.environment, capture_output=True, timeout=30)


def test_the_image_starts_says_it_is_healthy_and_stops(layout, tmp_path):
    container = Container(layout, tmp_path)
    assert not container.healthy()
    memgate = container.start()
    try:
        until(lambda: container.healthy() or not memgate.running(), "the health check passes", 60)
        assert memgate.running(), memgate.output()
        assert http.request(container.port, "GET", "/v1/memory?user_id=alice").status == 401, "without the key"
        done = container.list()
        assert done.returncode == 0 and b'"memories":[]' in done.stdout, done
    finally:
        status = memgate.stop()
    assert status == 0
    assert not container.healthy()
