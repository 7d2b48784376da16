"""The boot path stays light, and the core stays free of the browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CORE = Path(__file__).parents[2] / "web" / "personae"


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_itself_loads_nothing_of_the_player():
    assert not any(name.startswith("personae.") for name in loaded_after("import personae"))


def test_the_player_is_loaded_when_it_is_asked_for_without_heavy_modules():
    loaded = loaded_after("from personae import CharacterPlayer")
    assert "personae.player.character_player" in loaded
    heavy = {"jsonschema", "ruamel.yaml", "yaml", "zipfile", "http", "urllib.request", "email"}
    assert not heavy & loaded


def test_the_core_imports_nothing_of_the_browser():
    for part in ("package", "conversation", "llm", "player"):
        for file in (CORE / part).rglob("*.py"):
            for line in file.read_text("utf-8").splitlines():
                words = line.split()
                if words[:1] in (["import"], ["from"]):
                    assert words[1].split(".")[0] not in ("js", "pyodide", "pyscript"), file
