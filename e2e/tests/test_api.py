"""The API as a whole: every command of docs/api.md works, and Schemathesis finds no answer that contradicts the description."""

import json
import os
import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from harness import paths
from harness.memgate import KEY
from harness.stack import Stack

PAGE = paths.REPOSITORY / "docs" / "api.md"
HOOKS = paths.REPOSITORY / "e2e/harness/api_hooks.py"

# Runs the page's commands, which must succeed, and notes the method and address of each.
CURL = r"""
set -euo pipefail
curl() {
  local method="" address="" get="" data="" last=""
  for word in "$@"; do
    case "$last" in -X) method=$word ;; esac
    case "$word" in
      http*) address=$word ;;
      -G) get=yes ;;
      -d|--data-binary|--data-urlencode) data=yes ;;
    esac
    last=$word
  done
  if [ -z "$method" ]; then
    if [ -n "$data" ] && [ -z "$get" ]; then method=POST; else method=GET; fi
  fi
  echo "$method $address" >> called.txt
  command curl --silent --show-error --fail-with-body "$@" || { local status=$?; echo "$method $address" >&2; return $status; }
}
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """A stack of its own: Schemathesis asks more than a user may in a second, and what it stores is nobody else's matter."""
    config = {"api": {"key_env": "MEMGATE_E2E_KEY", "requests_per_second": 0}}
    stack = Stack(tmp_path_factory.mktemp("api"), config)
    yield stack
    stack.stop()


def commands() -> str:
    """All commands of the page, as one script."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return "\n".join(blocks)


def test_every_command_of_the_page_works_and_every_operation_is_there(stack, tmp_path):
    script = commands()
    for placeholder, value in [("http://127.0.0.1:8080", f"http://127.0.0.1:{stack.memgate.http_port}"),
                               ("http://127.0.0.1:8888", f"http://127.0.0.1:{stack.envoy.port}"),
                               ("Bearer KEY", f"Bearer {KEY}")]:
        assert placeholder in script
        script = script.replace(placeholder, value)
    done = subprocess.run(["bash", "-c", CURL + script], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    called = {tuple(line.split(" ", 1)) for line in (tmp_path / "called.txt").read_text().splitlines()}
    called = {(method, urlsplit(address).path) for method, address in called}
    api = stack.memgate.api("GET", "/openapi.json").json()["paths"]
    for path, methods in api.items():
        pattern = re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path))
        for method in methods:
            assert any(method.upper() == used and pattern.fullmatch(at) for used, at in called), f"{method} {path}"


def ids(stack, alice) -> dict[str, str]:
    """An id for each path of the API that has one, of things that are the user's."""
    alice.say("My budget for the Hawaii trip is $10,000")
    alice.learn()
    asked = alice.later().say("What is my budget for the Hawaii trip?")
    memory = stack.memgate.memories(alice.id)[0]["id"]
    request = asked.headers["x-memgate-request-id"]
    ids = {"/v1/memory/{id}": memory, "/v1/sessions/{id}": alice.session, "/v1/recalls/{id}": request, "/v1/turns/{id}": request}
    paths = stack.memgate.api("GET", "/openapi.json").json()["paths"]
    return {path: known for path in paths for prefix, known in ids.items() if path.startswith(prefix)}


def test_schemathesis_finds_no_failure_and_no_answer_that_contradicts_the_description(stack, tmp_path):
    alice = stack.person("alice")
    environment = {
        **os.environ, "NO_COLOR": "1", "SCHEMATHESIS_HOOKS": str(HOOKS),
        "MEMGATE_E2E_USER": alice.id, "MEMGATE_E2E_IDS": json.dumps(ids(stack, alice)),
    }
    checks = ["not_a_server_error", "status_code_conformance", "content_type_conformance",
              "response_headers_conformance", "response_schema_conformance"]
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{stack.memgate.http_port}/openapi.json",
        "--header", f"Authorization: Bearer {KEY}", "--checks", ",".join(checks),
        # An export and a stream of events are no single answers; a flush waits for jobs.
        "--exclude-path-regex", "stream|export|flush",
        "--phases", "examples,coverage,fuzzing", "--max-examples", "4", "--seed", "1", "--request-timeout", "20",
        "--max-time", "120", "--workers", "2", "--generation-database", "none", "--no-color",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) > 500, done.stdout[-2000:]
    assert stack.memgate.process.running(), stack.memgate.process.output()
