"""The bill of materials: valid, complete, the same each time, and in step with the licences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from bundle import licences, sbom
from bundle.lock import LOCKS, pins
from bundle.wheels import REQUIREMENTS


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("sbom") / sbom.NAME
    sbom.write(target)
    return target.read_text("utf-8")


def of(text: str, part: str) -> list[dict[str, Any]]:
    mark = {"name": "personae:part", "value": part}
    return [each for each in json.loads(text)["components"] if mark in each["properties"]]


def test_it_is_valid(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_is_the_same_each_time(text: str, tmp_path: Path) -> None:
    sbom.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text("utf-8") == text
    assert not {"serialNumber", "timestamp"} & {*json.loads(text), *json.loads(text)["metadata"]}


def test_every_package_with_a_licence_is_in_it(text: str, tmp_path: Path) -> None:
    licences.write(tmp_path / "licences")
    heads = [
        path.read_text("utf-8").split("\n", 1)[0] for path in (tmp_path / "licences").iterdir()
    ]
    licensed = {tuple(head.partition(":")[0].split(" ")) for head in heads}
    listed = {
        ("/".join(filter(None, (each.get("group"), each["name"]))), each["version"])
        for each in of(text, "browser")
    }
    assert set(map(spelled, listed)) == set(map(spelled, licensed))


def spelled(package: tuple[str, ...]) -> tuple[str, ...]:
    """Archives of Python packages spell names in their own way."""
    name, version = package
    return re.sub(r"[-_.]+", "-", name).lower(), version


def test_everything_of_the_browser_has_its_hash_and_licence(text: str) -> None:
    wheels = {pin.name for pin in pins(REQUIREMENTS)}
    for each in of(text, "browser"):
        assert each["hashes"], each["name"]
        assert each.get("licenses") or each["name"] in wheels, each["name"]


def test_the_server_is_in_it_as_the_container_locks_it(text: str) -> None:
    listed = {(each["name"], each["version"]) for each in of(text, "server")}
    assert listed == {(pin.name, pin.version) for pin in pins(LOCKS / "server.lock")}


def test_the_built_player_carries_it() -> None:
    static = licences.ROOT / "server" / "personae_server" / "static"
    assert (
        JsonStrictValidator(SchemaVersion.V1_6).validate_str((static / sbom.NAME).read_text())
        is None
    )
