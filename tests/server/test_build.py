"""The static bundle: complete, listed with hashes, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from personae.errors import UsageError
from personae_server.build import build


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_bundle_is_the_static_files_and_what_it_lacks(static: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    count = build(static, out)
    written = contents(out)
    assert count == len(written)
    assert contents(static).items() <= written.items()
    config = json.loads(written["config.json"])
    assert {key: config[key] for key in ("proxy", "reader", "relay", "characters")} == {
        "proxy": False,
        "reader": False,
        "relay": False,
        "characters": False,
    }


def test_the_list_has_every_file_with_its_hash(static: Path, tmp_path: Path) -> None:
    build(static, tmp_path / "out")
    written = contents(tmp_path / "out")
    listed = json.loads(written.pop("bundle.json"))["files"]
    assert listed == {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in written.items()
    }


def test_the_same_bundle_gives_the_same_bytes(static: Path, tmp_path: Path) -> None:
    build(static, tmp_path / "a")
    build(static, tmp_path / "b")
    build(static, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_newer_build_removes_what_is_gone(static: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(static, out)
    (out / "robots.txt").write_text("kept: not ours")
    (static / "assets/core-0a1b/core.mjs").rename(static / "assets/new.mjs")
    build(static, out)
    assert not (out / "assets/core-0a1b/core.mjs").exists()
    assert (out / "assets/new.mjs").exists() and (out / "robots.txt").exists()


def test_another_folder_is_left_alone(static: Path, tmp_path: Path) -> None:
    out = tmp_path / "home"
    out.mkdir()
    (out / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="empty folder"):
        build(static, out)
    assert contents(out) == {"index.html": b"mine"}


def test_a_forged_list_removes_nothing_elsewhere(static: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(static, out)
    (tmp_path / "mine").write_text("mine")
    (out / "bundle.json").write_text('{"files": {"../mine": {}, "/etc/none": {}}}')
    build(static, out)
    assert (tmp_path / "mine").read_text() == "mine"
