"""What lies in deploy/ is what the programs take: checked by them where they are installed, else by its form."""

import configparser
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from nats_server import server_program

from periplus.cli import assemble
from periplus.clustering import cluster_settings

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
ENVIRONMENT = os.environ | {"PERIPLUS_NATS_PASSWORD": "secret", "NATS_NAME": "nats-0"}


@pytest.mark.needs("nats-server")
@pytest.mark.parametrize("name", ["single.conf", "cluster.conf"])
def test_nats_takes_its_configuration(name: str) -> None:
    program = server_program()
    assert program is not None
    done = subprocess.run(
        [program, "-t", "-c", DEPLOY / "nats" / name], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "sync_interval: always" in (DEPLOY / "nats" / name).read_text("utf-8")


def node_options(command: list[str]) -> None:
    """The command line is one that `periplus node` has."""
    assert command[:2] == ["periplus", "node"]
    given = [word for word in command if word.startswith("--")]
    (node,) = [c for c in assemble("node").registered_commands if c.name == "node"]
    assert node.callback is not None
    assert {"cluster", "job", "out"} <= set(node.callback.__annotations__)
    assert set(given) <= {"--cluster", "--job", "--out"}


def test_the_identity_file_is_one() -> None:
    settings = cluster_settings(str(DEPLOY / "cluster.toml"))
    assert len(settings.servers) == 3
    assert settings.password_file == str(DEPLOY / "nats-password")


@pytest.mark.parametrize("name", ["periplus-nats.service", "periplus-node@.service"])
def test_units_are_units(name: str, tmp_path: Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]  # as the module's documentation has it
    unit.read_string((DEPLOY / "systemd" / name).read_text("utf-8"))
    assert {"Unit", "Service", "Install"} <= set(unit.sections())
    command = shlex.split(unit["Service"]["ExecStart"])
    if "node" in name:
        node_options([Path(command[0]).name, *command[1:]])
        assert unit["Service"]["RestartPreventExitStatus"] == "2 3"
    if shutil.which("systemd-analyze") and Path("/run/systemd/system").exists():
        done = subprocess.run(
            ["systemd-analyze", "verify", DEPLOY / "systemd" / name], capture_output=True, text=True, check=False
        )
        assert "Unknown" not in done.stderr


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text("utf-8")))


def test_the_compose_file_fits_together() -> None:
    (compose,) = documents("compose.yaml")
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", [])) <= set(services)
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source.startswith(".") or source in compose["volumes"]
        if name.startswith("nats-"):
            assert service["environment"]["NATS_NAME"] == name
            assert name in (DEPLOY / "nats" / "cluster.conf").read_text("utf-8")
        else:
            node_options(service["command"])


def test_the_manifest_fits_together() -> None:
    objects = documents("kubernetes.yaml")
    assert all({"apiVersion", "kind", "metadata", "spec"} <= set(thing) for thing in objects)
    services = {thing["metadata"]["name"] for thing in objects if thing["kind"] == "Service"}
    sets = [thing["spec"] for thing in objects if thing["kind"] == "StatefulSet"]
    assert len(sets) == 2
    for spec in sets:
        assert spec["serviceName"] in services
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        pod = spec["template"]["spec"]
        known = {v["name"] for v in pod["volumes"]} | {c["metadata"]["name"] for c in spec["volumeClaimTemplates"]}
        (container,) = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= known
        if "command" in container:
            node_options(container["command"])
