"""``pack``: a project folder becomes a package that any player loads."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from personae.authoring.check import check_path
from personae.authoring.pack import pack
from personae.errors import PackageError

from tests.authoring.test_check import folder
from tests.package.package_support import GREETER, agent, package, with_files
from tests.package.support import BUILTIN_FOLDER, load_package

PROMPT = "---\nname: lore\ndescription: d\nprivate-agents: [studio.memory-store]\n---\nBody\n"
PROJECT = with_files(
    package(
        {
            "name": "Ada",
            "agents": ["park.greeter", "park.typed", "lore.subagent.md"],
            "fileMappings": {"Introduction": "pub/hello.txt", "ContextDirectory": "world"},
        }
    ),
    {
        "pub/hello.txt": "Hello",
        "pub/draft.txt": "no",
        "world/.hidden.json": "{}",
        "world/deep/a.txt": "fact",
        "agents/park.greeter.js": GREETER,
        "agents/park.typed.ts": agent("park.typed", "@lib dice", body="const a: number = 1;"),
        "agents/types.d.ts": "type X = 1;",
        "agents/lib/dice.js": "1",
        "agents/lore.subagent.md": PROMPT,
        "park.greeter.agent.json": "{}",
        "lore.studio.memory-store.agent.json": "{}",
        "conversation_01.json": "secret",
        ".env": "KEY=1",
        "notes/todo.txt": "no",
    },
)


def strip(source: str, filename: str) -> str:
    assert filename == "agents/park.typed.ts"
    return source.replace(": number", "")


def packed(tmp_path: Path) -> Path:
    out = tmp_path / "ada.zip"
    problems = pack(folder(tmp_path / "ada", PROJECT), out, strip)
    assert [one for one in problems if one.severity == "error"] == []
    return out


def test_the_export_holds_what_the_format_names(tmp_path: Path):
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        names = archive.namelist()
    assert names == sorted(
        [
            "agents/lib/dice.js",
            "agents/lore.subagent.md",
            "agents/park.greeter.js",
            "agents/park.typed.js",
            "agents/studio.memory-store.js",
            "agents/studio.sub-agent.js",
            "config.json",
            "instructions.txt",
            "lore.studio.memory-store.agent.json",
            "park.greeter.agent.json",
            "pub/hello.txt",
            "world/.hidden.json",
            "world/deep/a.txt",
        ]
    )


def test_what_is_left_out_is_named(tmp_path: Path):
    problems = pack(folder(tmp_path / "ada", PROJECT), tmp_path / "out.zip", strip)
    assert [one.file for one in problems] == [".env", "conversation_01.json", "notes", "pub"]
    assert {one.severity for one in problems} == {"warning"}


def test_the_export_plays_like_the_project(tmp_path: Path):
    out = packed(tmp_path)
    assert check_path(out) == []
    project, exported = load_package(PROJECT), load_package(out.read_bytes())
    assert exported.context == project.context
    assert exported.intro == project.intro == "Hello"
    assert exported.default_stores == project.default_stores
    assert [one.manifest for one in exported.agents] == [one.manifest for one in project.agents]
    typed = exported.agents[1]
    assert (typed.language, typed.libraries[0].name) == ("javascript", "dice")
    assert "const a = 1;" in typed.source


def test_copied_builtins_are_the_players_own(tmp_path: Path):
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        copied = archive.read("agents/studio.sub-agent.js")
    assert copied == (BUILTIN_FOLDER / "studio.sub-agent.js").read_bytes()


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path):
    first = packed(tmp_path).read_bytes()
    for path in (tmp_path / "ada").rglob("*"):
        os.utime(path, (1, 1))
    again = folder(tmp_path / "again", dict(reversed(PROJECT.items())))
    for root in (tmp_path / "ada", again):
        assert pack(root, tmp_path / "b.zip", strip)
        assert (tmp_path / "b.zip").read_bytes() == first


def test_a_package_of_its_own_keeps_its_builtins(tmp_path: Path):
    own = agent("studio.memory-store", body="// own")
    files = with_files(
        package({"name": "Ada", "agents": ["studio.memory-store"]}),
        {"agents/studio.memory-store.js": own},
    )
    out = tmp_path / "out.zip"
    assert pack(folder(tmp_path / "ada", files), out) == []
    assert load_package(out.read_bytes()).agents[0].source == own


def test_what_the_check_refuses_is_not_packed(tmp_path: Path):
    out = tmp_path / "out.zip"
    out.write_bytes(b"earlier")
    broken = {**PROJECT, "agents/park.greeter.js": b"no manifest"}
    problems = pack(folder(tmp_path / "ada", broken), out, strip)
    assert [one.file for one in problems if one.severity == "error"] == ["agents/park.greeter.js"]
    assert out.read_bytes() == b"earlier"


def test_typescript_that_cannot_be_stripped_is_an_error(tmp_path: Path):
    def fail(source: str, filename: str) -> str:
        raise PackageError("typescript_invalid", "unexpected token on line 3")

    problems = pack(folder(tmp_path / "ada", PROJECT), tmp_path / "out.zip", fail)
    [error] = [one for one in problems if one.severity == "error"]
    assert (error.file, error.message) == ("agents/park.typed.ts", "unexpected token on line 3")
    assert not (tmp_path / "out.zip").exists()


def test_stripping_that_loses_the_manifest_is_noticed(tmp_path: Path):
    problems = pack(
        folder(tmp_path / "ada", PROJECT), tmp_path / "out.zip", lambda source, filename: "1"
    )
    assert [one.file for one in problems if one.severity == "error"] == ["agents/park.typed.js"]
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.parametrize("name", ["gone", "file.zip"])
def test_only_folders_are_packed(tmp_path: Path, name: str):
    (tmp_path / "file.zip").write_bytes(b"")
    [problem] = pack(tmp_path / name, tmp_path / "out.zip")
    assert problem.severity == "error"


def test_a_target_that_cannot_be_written_is_said(tmp_path: Path):
    problems = pack(folder(tmp_path / "ada", PROJECT), tmp_path / "no" / "out.zip", strip)
    assert "cannot be written" in problems[-1].message
