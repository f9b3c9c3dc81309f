"""docker-compose.yaml, as far as it can be checked without Docker: form, names, order, bounds, networks."""

import re
import shutil
import subprocess
import sys

import pytest

from harness import compose, paths
from harness.process import free_port

OURS = {"envoy-config", "memgate", "echo"}
# What runs without a profile, or with `echo`; Milvus's own services are as Milvus says.
CONFINED = OURS | {"envoy", "prometheus", "grafana", "postgres"}
MILVUS = {"milvus", "etcd", "minio"}


@pytest.fixture(scope="module")
def project() -> dict:
    return compose.example()


@pytest.fixture(scope="module")
def services(project) -> dict:
    return project["services"]


def valid(file) -> bool:
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(checker, capture_output=True).returncode == 0


def test_the_file_matches_the_compose_specification(tmp_path):
    assert valid(compose.COMPOSE)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(compose.COMPOSE.read_text().replace("read_only: true\n", "read_olny: true\n", 1))
    assert not valid(wrong), "the check sees a wrong key"


def test_docker_compose_accepts_the_file():
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("there is no docker compose on this machine")
    environment = {**compose.variables(), "MEMGATE_API_KEY": "x", "GRAFANA_PASSWORD": "x"}
    done = subprocess.run(
        [docker, "compose", "--file", compose.COMPOSE, "config", "--quiet"], env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_an_unset_variable_is_an_error_that_names_it():
    with pytest.raises(KeyError, match="UPSTREAM"):
        compose.compose(MEMGATE_API_KEY="x", GRAFANA_PASSWORD="x")
    for secret in ("MEMGATE_API_KEY", "GRAFANA_PASSWORD"):
        with pytest.raises(KeyError, match=secret):
            compose.example(**{secret: ""})


def test_the_example_names_every_variable_and_holds_no_secret():
    used = {match[1] for match in compose.VARIABLE.finditer(compose.COMPOSE.read_text())}
    named = compose.variables()
    assert used | {"COMPOSE_PROFILES"} == set(named)
    assert all(value == "" for name, value in named.items() if re.search("API_KEY|PASSWORD", name))


def test_images_are_pinned(services):
    stages = compose.stages()
    by_tag_alone = set()
    for name, service in services.items():
        if name in OURS:
            assert service["build"]["target"] in stages and service["image"].endswith(":local")
            continue
        image, _, digest = service["image"].partition("@")
        assert re.search(r":(v?\d+\.\d+\.\d+(-pg\d+)?|RELEASE\.[\dTZ-]+)$", image), image
        if digest:
            assert re.fullmatch("sha256:[0-9a-f]{64}", digest)
        else:
            by_tag_alone.add(name)
    assert by_tag_alone == {"envoy", "milvus", "postgres"}, "the file says of these that no digest could be confirmed"
    for stage in ("build", "base"):
        assert re.search(r"@sha256:[0-9a-f]{64}$", compose.last(stages[stage], "FROM"))


def test_envoy_is_the_version_that_the_tests_run(services):
    said = subprocess.run([paths.envoy(), "--version"], capture_output=True, text=True, check=True).stdout
    assert f"/{services['envoy']['image'].partition(':v')[2]}/" in said


def test_services_are_not_root_and_can_write_little(services):
    stages = compose.stages()
    for name in CONFINED:
        service = services[name]
        user = service.get("user") or compose.last(stages[service["build"]["target"]], "USER")
        assert int(user.split(":")[0]) > 0, name
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
    for name, service in services.items():
        assert "no-new-privileges:true" in service["security_opt"], name
        for volume in service.get("volumes", []):
            assert volume["type"] == "volume" or volume["read_only"], volume


def test_every_service_has_resource_bounds(services):
    for name, service in services.items():
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert service["logging"]["options"]["max-size"], name
    assert services["envoy"]["ulimits"]["nofile"]["soft"] >= 2 * 50_000


def test_only_envoy_and_grafana_are_published_and_on_loopback(services):
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"envoy": ["127.0.0.1:8888:8888"], "grafana": ["127.0.0.1:3000:3000"]}


def test_memories_are_in_networks_without_a_way_out(project):
    inside = {name for name, network in project["networks"].items() if network and network.get("internal")}
    assert inside == {"memory", "rest", "milvus"}
    for name in {"memgate", "prometheus", "postgres"} | MILVUS:
        assert set(project["services"][name]["networks"]) <= inside, name
    reaches_memgate = {
        name for name, service in project["services"].items() if "memory" in service.get("networks", [])
    }
    assert reaches_memgate == {"memgate", "prometheus", "grafana", "milvus", "postgres"}
    on_rest = {name for name, service in project["services"].items() if "rest" in service.get("networks", [])}
    assert on_rest == {"memgate", "envoy"}


def test_only_envoy_and_memgate_share_the_socket_of_grpc(project):
    mounts = {
        name: volume for name, service in project["services"].items()
        for volume in service.get("volumes", []) if volume["source"] == "memgate-socket"
    }
    assert set(mounts) == {"envoy", "memgate"}
    assert mounts["envoy"]["read_only"] and mounts["envoy"]["target"] == mounts["memgate"]["target"]
    listen = compose.yaml((paths.REPOSITORY / "deploy/memgate/config.yaml").read_text())["listen"]
    socket = f"unix:{mounts['memgate']['target']}/grpc.sock"
    assert listen["grpc"] == socket
    assert f"--memgate={socket}" in project["services"]["envoy-config"]["command"]
    assert listen["http"] == "${REST}"
    assert compose.variables()["REST"].startswith("127.0.0.1:"), "REST is on the network only where one wants it"
    # Both run as the volume's owner.
    assert project["services"]["envoy"]["user"] == "65532:65532"
    assert "uid=65532,gid=65532,mode=0700" in project["volumes"]["memgate-socket"]["driver_opts"]["o"]


def test_volumes_are_declared_and_files_exist(project):
    used = set()
    for service in project["services"].values():
        for volume in service.get("volumes", []):
            if volume["type"] == "volume":
                used.add(volume["source"])
            else:
                assert (paths.REPOSITORY / volume["source"]).exists(), volume
    assert used == set(project["volumes"])


def healthcheck(service: dict) -> list[str] | None:
    """The health check command, from the compose file or else from our Dockerfile."""
    if "healthcheck" in service:
        return service["healthcheck"]["test"]
    text = compose.last(compose.stages()[service["build"]["target"]], "HEALTHCHECK") if "build" in service else None
    return ["CMD", *compose.argv(text.partition(" CMD ")[2])] if text else None


def test_services_depend_on_existing_services_with_health_checks(services):
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in services, f"{name} waits for {other}"
            assert set(services[other].get("profiles", [])) <= set(service.get("profiles", []))
            if how["condition"] == "service_healthy":
                assert healthcheck(services[other]), f"{name} waits for the health of {other}"
    for name in set(services) - {"echo", "envoy-config"}:
        # Without a shell: CMD-SHELL would need one in every image.
        assert healthcheck(services[name])[0] == "CMD", name


def test_envoy_starts_after_memgate_but_not_only_if_it_is_healthy(services):
    waits = services["envoy"]["depends_on"]
    assert waits["memgate"] == {"condition": "service_healthy", "required": False}
    assert waits["envoy-config"]["condition"] == "service_completed_successfully"
    assert services["envoy-config"]["restart"] == "no"


def test_the_servers_of_stores_are_only_there_when_asked_for(services):
    profiles = {"echo": ["echo"], "postgres": ["postgres"], **dict.fromkeys(MILVUS, ["milvus"])}
    for name, service in services.items():
        assert service.get("profiles") == profiles.get(name)
    waits = services["milvus"]["depends_on"]
    assert {name: how["condition"] for name, how in waits.items()} == dict.fromkeys(("etcd", "minio"), "service_healthy")
    # Without a password of the user, MinIO must not start with its well-known default.
    unset = compose.example(MINIO_PASSWORD="")["services"]["minio"]["environment"]["MINIO_ROOT_PASSWORD"]
    assert len(unset) < 8
    # The image of PostgreSQL refuses to start with an empty one.
    unset = compose.example(POSTGRES_PASSWORD="")["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"]
    assert unset == ""


def test_the_health_check_of_envoy_detects_a_dead_one(services, stack):
    test = healthcheck(services["envoy"])
    admin = str(stack.envoy.admin_port)

    def healthy(port: str) -> bool:
        command = [word.replace("/9901", f"/{port}") for word in test[1:]]
        assert command != test[1:]
        return subprocess.run(command, timeout=10, capture_output=True).returncode == 0

    assert healthy(admin)
    assert not healthy(str(free_port()))


@pytest.mark.parametrize("store", ["sqlite", "milvus", "postgres"])
@pytest.mark.parametrize("identity", ["development", "production"])
def test_memgate_accepts_its_configuration(services, identity, store):
    # Where users manage their memories, REST is on the network: in production alone.
    rest = {"production": "0.0.0.0:8080", "development": "127.0.0.1:8080"}[identity]
    environment = compose.example(IDENTITY=identity, STORE=store, REST=rest)["services"]["memgate"]["environment"]
    assert environment["STORE"] == store
    file = paths.REPOSITORY / "deploy/memgate/config.yaml"
    done = subprocess.run(
        [paths.memgate(), "check-config", "--config", file], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    address = compose.yaml(file.read_text())["memory"]["milvus"]["address"]
    assert address.partition(":")[0] in services
    assert compose.yaml(file.read_text())["memory"]["postgres"]["host"] in services


def test_prometheus_scrapes_memgate_where_it_listens(services):
    config = compose.yaml((paths.REPOSITORY / "deploy/prometheus/prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    memgate = compose.yaml((paths.REPOSITORY / "deploy/memgate/config.yaml").read_text())
    port = memgate["listen"]["metrics"].partition(":")[2]
    assert job["static_configs"] == [{"targets": [f"memgate:{port}"]}]
    assert "/etc/prometheus/prometheus.yml" in services["prometheus"]["command"][0]


def test_promtool_accepts_the_configuration_of_prometheus():
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("there is no promtool on this machine")
    file = paths.REPOSITORY / "deploy/prometheus/prometheus.yml"
    done = subprocess.run([promtool, "check", "config", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
