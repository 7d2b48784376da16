"""Writes a .br and a .gz beside every file worth compressing."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import brotli

from bundle.paths import CACHE

# Everything else (images, small files) gains nothing.
_TYPES = "bin html css js mjs json py wasm whl zip svg txt md webmanifest"
SUFFIXES = frozenset(f".{name}" for name in _TYPES.split())
SMALLEST = 512
# The snapshot changes with every line of Python: the best level would take a minute each time for
# a tenth less.
QUICK = {".bin": 9}


def compress_tree(folder: Path) -> None:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size >= SMALLEST
    ]
    with ThreadPoolExecutor() as pool:
        list(pool.map(compress_file, files))


def compress_file(path: Path) -> None:
    """Brotli at its best level takes a while on a large file, so results are kept by content."""
    data = path.read_bytes()
    kept = CACHE / "compressed" / hashlib.sha256(data).hexdigest()
    kept.parent.mkdir(parents=True, exist_ok=True)
    if not kept.with_suffix(".br").exists():
        replace_with(kept.with_suffix(".gz"), gzip.compress(data, 9, mtime=0))
        quality = QUICK.get(path.suffix, 11)
        replace_with(kept.with_suffix(".br"), brotli.compress(data, quality=quality, lgwin=24))
    for suffix in (".br", ".gz"):
        if kept.with_suffix(suffix).stat().st_size < len(data):
            shutil.copy(kept.with_suffix(suffix), path.with_name(path.name + suffix))


def replace_with(path: Path, data: bytes) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.replace(path)
