"""The locks hold what pyproject.toml asks for, by hash, and name nobody's index."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bundle.lock import LOCKS, Pin, pins

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAMES = ("build", "server", "test", "tools")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MACHINES = ("x86_64", "aarch64")


def asked_for(name: str) -> Iterator[Requirement]:
    """What goes into a lock, by pyproject.toml (and tools.in)."""
    if name == "tools":
        lines = (LOCKS / "tools.in").read_text("utf-8").splitlines()
        yield from (Requirement(line) for line in lines if not line.startswith("#"))
        return
    if name in ("build", "test"):
        yield from map(Requirement, PROJECT["build-system"]["requires"])
    if name in ("server", "test"):
        extras = PROJECT["project"]["optional-dependencies"]
        chosen = ["reader", "redis"] + (["test"] if name == "test" else [])
        lines = [*PROJECT["project"]["dependencies"], *(each for x in chosen for each in extras[x])]
        yield from (each for each in map(Requirement, lines) if each.name != "personae")


def found(locked: list[Pin], wanted: Requirement, environment: dict[str, str]) -> list[Pin]:
    name = canonicalize_name(wanted.name)
    return [
        pin
        for pin in locked
        if canonicalize_name(pin.name) == name
        and (not pin.marker or Marker(pin.marker).evaluate(environment))
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_lock_holds_one_fitting_version_of_all_that_is_asked_for(
    name: str, python: str, machine: str
) -> None:
    environment = {**default_environment(), "platform_machine": machine, "extra": ""}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    locked = pins(LOCKS / f"{name}.lock")
    for wanted in asked_for(name):
        (pin,) = found(locked, wanted, environment)
        assert pin.version in wanted.specifier, f"{wanted} is locked at {pin.version}: `make lock`"


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_has_hashes_and_names_no_index(name: str) -> None:
    text = (LOCKS / f"{name}.lock").read_text("utf-8")
    assert all(pin.hashes for pin in pins(LOCKS / f"{name}.lock"))
    assert "://" not in text and " @ " not in text
    options = re.findall(r"^\s*-[^ =]+", text, re.MULTILINE)
    assert {each.strip() for each in options} == {"--hash"}


@pytest.mark.parametrize("name", ["build", "server", "tools"])
def test_all_locks_agree(name: str) -> None:
    largest = {(pin.name, pin.version): set(pin.hashes) for pin in pins(LOCKS / "test.lock")}
    names = {name for name, _ in largest}
    shared = [pin for pin in pins(LOCKS / f"{name}.lock") if pin.name in names]
    assert shared
    assert all(largest[pin.name, pin.version] == set(pin.hashes) for pin in shared)


def test_users_of_the_wheel_get_no_pins() -> None:
    lines = PROJECT["project"]["dependencies"]
    assert not [line for line in lines if "==" in line or "<" in line]


@pytest.mark.parametrize(
    "line", ["a>=1 --hash=sha256:" + "0" * 64, "a==1 --hash=md5:0", "-i http://x/", "./a.whl"]
)
def test_a_line_that_pins_nothing_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.lock").write_text(line)
    with pytest.raises(ValueError, match="pins versions by hashes"):
        pins(tmp_path / "x.lock")


def test_the_container_installs_nothing_that_is_not_locked() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    commands = re.findall(r"pip (?:install|wheel)[^\n&]*", text)
    assert len(commands) == 4
    assert all("--require-hashes" in each or "--no-deps" in each for each in commands)
    assert all("--no-build-isolation" in each for each in commands if "pip wheel" in each)
