"""Reads docker-compose.yaml and the Dockerfile on a machine without Docker."""

import re
import shlex

from ruamel.yaml import YAML

from . import paths

COMPOSE = paths.REPOSITORY / "docker-compose.yaml"
DOCKERFILE = paths.REPOSITORY / "Dockerfile"
EXAMPLE = paths.REPOSITORY / ".env.example"
VARIABLE = re.compile(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}")


def yaml(text: str):
    return YAML(typ="safe", pure=True).load(text)


def variables() -> dict[str, str]:
    """The variables that .env.example sets."""
    lines = [line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def compose(**environment: str) -> dict:
    """The compose file with these variables substituted; one without a value is an error, as in Docker Compose."""

    def value(match: re.Match) -> str:
        name, operator, rest = match.groups()
        found = environment.get(name)
        if operator and not found:
            if operator == ":?":
                raise KeyError(f"{name}: {rest}")
            return rest
        return found or ""

    def put_in(node):
        # After parsing, as Docker Compose does it: a value is never parsed as YAML.
        if isinstance(node, dict):
            return {key: put_in(inner) for key, inner in node.items()}
        if isinstance(node, list):
            return [put_in(inner) for inner in node]
        return VARIABLE.sub(value, node) if isinstance(node, str) else node

    return put_in(yaml(COMPOSE.read_text()))


def example(**environment: str) -> dict:
    """The compose file with .env.example and dummy secrets."""
    secrets = {name: "not-a-secret-but-long-enough-for-one" for name, value in variables().items() if re.search("KEY|PASSWORD", name)}
    return compose(**{**variables(), **secrets, **environment})


def stages() -> dict[str, list[tuple[str, str]]]:
    """The Dockerfile's instructions by stage; a stage's base stage comes first."""
    found: dict[str, list[tuple[str, str]]] = {}
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text())
    stage: list[tuple[str, str]] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            stage = found[name] = [*found.get(image, [("FROM", image)])]
        else:
            stage.append((word, rest))
    return found


def last(stage: list[tuple[str, str]], word: str) -> str | None:
    """The value of the last instruction of this kind."""
    return next((rest for found, rest in reversed(stage) if found == word), None)


def argv(text: str) -> list[str]:
    """The words of an instruction in its JSON form."""
    assert text.startswith("["), f"{text} is run by a shell, and the image has none"
    return list(yaml(text))


def words(text: str) -> list[str]:
    return shlex.split(text)
