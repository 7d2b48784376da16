"""The boot path stays light."""

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
