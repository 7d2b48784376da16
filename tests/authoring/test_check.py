"""``check_path``: what the player would refuse or warn about, for folders and zips."""

from __future__ import annotations

from pathlib import Path

import pytest
from personae.authoring import disk
from personae.authoring.check import check_path

from tests.package.package_support import GREETER, agent, package, with_files, zipped

GOOD = with_files(
    package({"name": "Ada", "agents": ["park.greeter"]}), {"agents/park.greeter.js": GREETER}
)


def folder(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def archive(root: Path, files: dict[str, bytes]) -> Path:
    path = root / "ada.zip"
    path.write_bytes(zipped(files))
    return path


def test_nothing_to_say(tmp_path: Path):
    assert check_path(archive(tmp_path, GOOD)) == []
    assert check_path(folder(tmp_path / "ada", GOOD)) == []


def test_errors_and_warnings_have_file_and_line(tmp_path: Path):
    files = {**GOOD, "config.json": b'{\n "name": 1,\n "agents": ["park.greeter"]\n}'}
    files["agents/park.greeter.js"] = agent("other", "@hook never", "@tool").encode()
    expected = [
        ("error", "config.json", 2),
        ("warning", "agents/park.greeter.js", 3),
        ("error", "agents/park.greeter.js", 4),
        ("warning", "agents/park.greeter.js", None),
    ]
    for path in (archive(tmp_path, files), folder(tmp_path / "ada", files)):
        found = check_path(path)
        assert [(one.severity, one.file, one.line) for one in found] == expected


def test_collisions_of_tools_and_commands_are_warnings(tmp_path: Path):
    config = {"name": "Ada", "agents": ["a", "b"]}
    tags = ["@tool t", "@command @c f"]
    agents = {f"agents/{name}.js": agent(name, *tags) for name in "ab"}
    messages = [
        one.message for one in check_path(archive(tmp_path, with_files(package(config), agents)))
    ]
    assert len(messages) == 2
    assert "'t'" in messages[0]
    assert "'c'" in messages[1]


def test_typescript_belongs_in_folders_not_in_exports(tmp_path: Path):
    files = with_files(
        package({"name": "Ada", "agents": ["park.greeter"]}), {"agents/park.greeter.ts": GREETER}
    )
    assert check_path(folder(tmp_path / "ada", files)) == []
    [warning] = check_path(archive(tmp_path, files))
    assert (warning.severity, warning.file) == ("warning", "agents/park.greeter.ts")


def test_paths_that_cannot_be_read(tmp_path: Path):
    [problem] = check_path(tmp_path / "gone.zip")
    assert problem.severity == "error"
    assert "No such file" in problem.message
    (tmp_path / "page.zip").write_bytes(b"<!doctype html>")
    [page] = check_path(tmp_path / "page.zip")
    assert (page.file, page.line) == ("page.zip", None)
    assert "web page" in page.message
    (tmp_path / "empty").mkdir()
    assert "no files" in check_path(tmp_path / "empty")[0].message


def test_junk_in_a_folder_is_ignored_and_links_are_refused(tmp_path: Path):
    root = folder(tmp_path / "ada", {**GOOD, ".git/HEAD": b"x", ".DS_Store": b"x"})
    assert check_path(root) == []
    (root / "secret.txt").symlink_to("/etc/hostname")
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert [(one.severity, one.file) for one in check_path(root)] == [
        ("error", "loop"),
        ("error", "secret.txt"),
    ]


def test_a_folder_that_is_too_large_is_not_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(disk, "MAX_INFLATED_BYTES", 100)
    root = folder(tmp_path / "ada", {**GOOD, "a": b"x" * 101, "b/c": b"x"})
    assert "more than" in check_path(root)[0].message


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ('{"type":"object"}', "OpenAI refuses an object without properties"),
        (
            '{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}',
            "OpenAI refuses an object without properties",
        ),
        ('{"properties":{"a":{"enum":[]}}}', "Anthropic refuse an empty enum"),
        ('{"properties":{"a":{"enum":["","x"]}}}', 'Google Gemini refuses an enum with ""'),
        ('{"properties":{"a":{"enum":[1,2]}}}', "Google Gemini refuses an enum of other values"),
        (
            '{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}',
            "Google Gemini and Groq refuse $ref",
        ),
        (
            '{"properties":{"a":{"type":"string","format":"uri"}}}',
            "Google Gemini refuses format 'uri'",
        ),
        ('{"properties":{"a":{"type":["string","null"]}}}', "Google Gemini refuses several types"),
        ('{"properties":{"a":{"not":{"type":"string"}}}}', "Google Gemini refuses the keyword not"),
    ],
)
def test_schemas_that_a_provider_refuses_are_warned_about(
    tmp_path: Path, parameters: str, words: str
):
    source = agent(
        "park.greeter", "@tool look", "@tool-description x", f"@tool-params {parameters}"
    )
    (problem,) = check_path(archive(tmp_path, {**GOOD, "agents/park.greeter.js": source.encode()}))
    assert (problem.severity, problem.file) == ("warning", "agents/park.greeter.js")
    assert words in problem.message
    assert "look" in problem.message
