"""The base image's digest, with programs in place of skopeo and docker that answer from a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from bundle.pin import images, main, pinned
from tests.server.recipes import HOSTING

ROOT = HOSTING.parents[1]
TEXT = "# FROM nobody\nFROM python:3.13-slim AS build\nRUN x\n\nFROM python:3.13-slim\nCOPY a b\n"
MANIFEST = json.dumps({"schemaVersion": 2, "manifests": [{"digest": "sha256:0"}]})
DIGEST = f"sha256:{hashlib.sha256(MANIFEST.encode()).hexdigest()}"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found, but for the system's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, name: str, manifest: str) -> None:
    (folder / f"{name}.json").write_text(manifest)
    script = folder / name
    cat = f'while IFS= read -r line || [ -n "$line" ]; do printf "%s" "$line"; done < {script}.json'
    script.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{cat}\n')
    script.chmod(0o755)


def test_every_stage_is_pinned_and_can_be_pinned_again(tmp_path: Path, programs: Path) -> None:
    install(programs, "skopeo", MANIFEST)
    containerfile = tmp_path / "Containerfile"
    containerfile.write_text(TEXT)
    main(containerfile)
    once = containerfile.read_text()
    assert once == TEXT.replace("\nFROM python:3.13-slim", f"\nFROM python:3.13-slim@{DIGEST}")
    main(containerfile)
    assert containerfile.read_text() == once
    asked = (programs / "asked").read_text().splitlines()
    assert asked == ["inspect --raw docker://python:3.13-slim"] * 2


def test_docker_is_asked_when_skopeo_cannot_tell(tmp_path: Path, programs: Path) -> None:
    install(programs, "skopeo", '{"schemaVersion": 2, "config": {}}')
    install(programs, "docker", MANIFEST)
    containerfile = tmp_path / "Containerfile"
    containerfile.write_text(TEXT)
    main(containerfile)
    assert containerfile.read_text().count("@sha256:") == 2


@pytest.mark.parametrize("manifest", ["", "<html>", "[]", '{"config": {}}'])
def test_without_a_digest_nothing_is_changed(tmp_path: Path, programs: Path, manifest: str) -> None:
    install(programs, "docker", manifest)
    containerfile = tmp_path / "Containerfile"
    containerfile.write_text(TEXT)
    with pytest.raises(SystemExit, match="install skopeo or docker"):
        main(containerfile)
    assert containerfile.read_text() == TEXT


def test_our_own_containerfile_can_be_pinned() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    (image,) = images(text)
    assert pinned(text, {image: DIGEST}).count(f"{image}@{DIGEST}") == text.count("\nFROM ")
