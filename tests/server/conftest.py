"""Fixtures of the server's tests."""

from __future__ import annotations

import gzip
from pathlib import Path

import brotli
import pytest


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A bundle: a page, the frame, the library, a hashed file with variants, odd types."""
    folder = tmp_path / "static"
    texts = {
        "index.html": "<!doctype html><title>Player</title>" + "x" * 400,
        "frame.html": "<!doctype html><title>Frame</title>",
        "assets/sandbox-0a1b/frame.html": "<!doctype html><title>Frame</title>",
        "character-player.js": "export const CharacterPlayer = 1;",
        "assets/core-0a1b/core.mjs": "export default 1;" * 50,
        "assets/core-0a1b/core.wasm": "\0asm" * 100,
        "assets/core-0a1b/personae.whl": "PK wheel",
        "assets/core-0a1b/python_stdlib.zip": "PK zip",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.suffix in (".html", ".js", ".mjs", ".wasm"):
            Path(f"{path}.br").write_bytes(brotli.compress(text.encode()))
            Path(f"{path}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    return folder
