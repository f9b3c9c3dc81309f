"""The dashboard queries metrics and labels that memgate has."""

import json
import re
import signal
import uuid

import pytest

from harness import compose, http, paths
from harness.stack import Stack
from harness.wait import until

pytestmark = pytest.mark.allows_log("Memory search timeout, skipping", "Extraction failed, batch skipped")

GRAFANA = paths.REPOSITORY / "deploy/grafana"
DASHBOARD = GRAFANA / "dashboards/memgate.json"
SUFFIXES = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"], "info": ["_info"]}
# Counted only when something goes wrong.
WANTED = ("capture_dropped", "failures", "config_reloads", "screened", "candidates_dropped", "job_runs")
SECRET = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4" * 2
UNKNOWN = {"type": "no-such-type", "content": "The user has a boat called Halcyon."}


@pytest.fixture(scope="module")
def dashboard() -> dict:
    return json.loads(DASHBOARD.read_text())


@pytest.fixture(scope="module")
def queries(dashboard) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


@pytest.fixture(scope="module")
def figures(tmp_path_factory) -> dict[str, set[str]]:
    """The names at /metrics, with their samples' labels (`name="value"`), once everything was counted at least once:
    a family shows nothing before that."""
    stack = Stack(tmp_path_factory.mktemp("dashboard"), helped)
    try:
        count_everything(stack)
        text = http.request(stack.memgate.http_port, "GET", "/metrics").body.decode()
    finally:
        stack.stop()
    found: dict[str, set[str]] = {}
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE):
        found |= {name + suffix: set() for suffix in SUFFIXES[kind]}
    for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        found[name] |= set(re.findall(r'\w+="[^"]*"', labels))
    return found


def helped(double) -> dict:
    """A configuration whose helper model finds a refused fact in every turn."""
    double.script({"contains": "The conversation, oldest turn first", "reply": json.dumps([UNKNOWN])})
    model = {
        "llm_provider": "vllm", "model_role": "memory_extraction", "llm_model_name": "m",
        "llm_endpoint": {"address": "127.0.0.1", "port": double.port},
    }
    return {"memory": {"extraction_batch_size": 1}, "external_models": [model]}


def count_everything(stack: Stack):
    memgate, alice = stack.memgate, stack.person()
    alice.say("My boat is called Halcyon")
    alice.say(f"My key is {SECRET}")
    alice.learn()
    alice.later().say("What is my boat called?")
    alice.say("I have a dog", {"x-double": "status=503"})
    # Read again with a deadline that nothing meets.
    memgate.configure({**helped(stack.double), "memory": {"deadline_ms": 1}})
    memgate.process.signal(signal.SIGHUP)

    def counted():
        alice.say(f"What did I say of {uuid.uuid4()}?")
        return all(memgate.metric(f"memgate_{name}_total") for name in WANTED)

    until(counted, "everything was counted")


def test_every_metric_of_the_dashboard_exists(queries, figures):
    asked = {name for query in queries for name in re.findall(r"memgate_\w+", query)}
    assert asked and asked <= set(figures), asked - set(figures)


def test_the_dashboard_shows_the_important_metrics(queries):
    text = " ".join(queries)
    for name in ("decisions", "hits", "phase_seconds", "turns_journaled", "jobs", "failures", "capture_dropped"):
        assert f"memgate_{name}" in text, name


def test_labels_of_the_dashboard_exist(queries, figures):
    for query in queries:
        for name, selector in re.findall(r"(memgate_\w+)(?:\{([^}]*)\})?", query):
            selected = set(re.findall(r'\w+="[^"]*"', selector))
            # A state without jobs has no sample.
            assert selected <= figures[name] | {'state="dead"'}, query
            labels = {label.partition("=")[0] for label in figures[name]}
            grouped = {word.strip() for group in re.findall(r"by \(([^)]*)\)", query) for word in group.split(",")}
            assert grouped <= labels, query


def test_every_panel_has_a_place_a_title_and_our_source(dashboard):
    source = compose.yaml((GRAFANA / "provisioning/datasources/prometheus.yaml").read_text())["datasources"][0]
    assert source["url"] == "http://prometheus:9090"
    places = set()
    for panel in dashboard["panels"]:
        assert panel["title"] and panel["description"] and panel["targets"]
        assert panel["datasource"] == {"type": source["type"], "uid": source["uid"]}
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not cells & places, panel["title"]
        places |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_grafana_finds_the_dashboard_where_it_is_mounted():
    provider = compose.yaml((GRAFANA / "provisioning/dashboards/memgate.yaml").read_text())["providers"][0]
    grafana = compose.example()["services"]["grafana"]
    mounted = {volume["target"]: volume["source"] for volume in grafana["volumes"]}
    folder = paths.REPOSITORY / mounted[provider["options"]["path"]]
    assert folder / DASHBOARD.name == DASHBOARD
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == f"{provider['options']['path']}/{DASHBOARD.name}"
