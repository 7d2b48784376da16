"""The command line: subcommands, exit codes, and the server as a real process."""

from __future__ import annotations

import sys
import tomllib
import types
from pathlib import Path

import httpx
import personae_server
import pytest
from personae.package.model import Problem
from personae_server import cli, settings

from tests.server.support import personae

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_version_is_the_project_s() -> None:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    assert personae_server.__version__ == project["version"]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--version", "--help"):
        with pytest.raises(SystemExit) as caught:
            cli.main([flag])
        assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(personae_server.__version__)
    assert all(command in out for command in cli.COMMANDS)


def test_build(
    static: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cli, "STATIC", static)
    assert cli.main(["build", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/index.html").exists()
    assert cli.main(["build", str(static)]) == 1
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problems", "code", "line"),
    [
        ([], 0, ""),
        ([Problem("warning", "a.js", "odd")], 0, "a.js: warning: odd\n"),
        ([Problem("error", "config.json", "bad", 3, 7)], 1, "config.json:3:7: error: bad\n"),
    ],
)
def test_check_and_pack_report_every_problem(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    problems: list[Problem],
    code: int,
    line: str,
) -> None:
    """The package tools are looked up only when asked for; here they are given."""
    check, pack = types.ModuleType("check"), types.ModuleType("pack")
    check.check_path = lambda path: problems  # type: ignore[attr-defined]
    pack.pack = lambda folder, out: problems  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "personae.authoring.check", check)
    monkeypatch.setitem(sys.modules, "personae.authoring.pack", pack)
    assert cli.main(["check", "aria.zip"]) == code
    assert cli.main(["pack", "aria", "-o", "aria.zip"]) == code
    assert capsys.readouterr().out == line * 2


@pytest.mark.parametrize("command", [[], ["serve"]])
def test_serving(static: Path, command: list[str]) -> None:
    with personae(static, *command, PERSONAE_NAME="Stage") as (url, _):
        assert httpx.get(url).text.startswith("<!doctype html>")
        assert httpx.get(f"{url}config.json").json()["name"] == "Stage"
        assert "server" not in httpx.get(f"{url}healthz").headers


def test_a_taken_port_says_what_to_do(static: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with personae(static) as (url, _):
        port = url.rstrip("/").rpartition(":")[2]
        assert cli.main(["--port", port, "--static", str(static)]) == 1
    assert "try another --port" in capsys.readouterr().err


def test_a_missing_bundle_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--static", str(tmp_path)]) == 1
    assert "make run" in capsys.readouterr().err
    assert settings.STATIC.name == "static"
