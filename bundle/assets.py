"""Assembles the static folder from its pieces.

Each piece is a folder ``assets/<piece>-<hash>/`` named by its content, so that browsers keep it for
a year and an update costs only the pieces that changed. What stands outside (the page, the
consumer library) has stable names and is small.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
from pathlib import Path

from bundle import compress, licences, offline, page, sbom, wheels
from bundle.node import esbuild, esbuild_parts, install_modules, minify, node
from bundle.paths import CACHE, MODULES, ROOT, STAGE, STATIC, WEB, WORKER

PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
SNAPSHOT = "memory.bin"
# What is fetched, not imported, before the first line of Python.
BOOT_FILES = ("pyodide/*.wasm", "pyodide/pyodide-lock.json", "snapshot/*")


def build() -> None:
    """Builds everything into the server package's ``static`` folder."""
    install_modules()
    shutil.rmtree(STAGE, ignore_errors=True)
    assets = STAGE / "assets"
    assets.mkdir(parents=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    node(WORKER / "build.mjs", STAGE)
    wheels.write_time_zones(assets / "sandbox" / "tzdata.zip")
    stage_python(assets)
    snapshot_length = stage_snapshot(assets)
    stage_pyscript(assets / "pyscript")
    esbuild_parts(WEB / "render" / "index.js", assets / "render")
    stage_math(assets / "math")
    facts = {"bootBytes": count_boot_bytes(assets), "snapshotLength": snapshot_length}
    urls = name_by_content(assets)
    page.write(STAGE, {"urls": urls, **facts})
    licences.write(STAGE / "licences")
    sbom.write(STAGE / sbom.NAME)
    offline.write(STAGE)
    compress.compress_tree(STAGE)
    shutil.rmtree(STATIC, ignore_errors=True)
    STAGE.replace(STATIC)


def stage_python(assets: Path) -> None:
    """Pyodide with its library and every wheel compiled ahead, and our core as a wheel."""
    pyodide, core = assets / "pyodide", assets / "core"
    for folder in (pyodide, core):
        folder.mkdir()
    for name in PYODIDE_FILES:
        shutil.copy(MODULES / "pyodide" / name, pyodide / name)
    for name in ("interpreter.mjs", "snapshot.mjs", "started.mjs"):
        minify(WEB / name, pyodide / name)
    source = CACHE / "core.zip"
    wheels.write_core_wheel(source)
    core_wheel = core / f"personae-{wheels.version()}-py3-none-any.whl"
    stdlib = MODULES / "pyodide" / "python_stdlib.zip"
    downloaded = wheels.page_wheels()
    wheels.compile_archives(
        [
            ("/lib/python314.zip/", stdlib, pyodide / "python_stdlib.zip"),
            ("", source, core_wheel),
            *(("", wheel, pyodide / wheel.name) for wheel in downloaded),
        ]
    )
    wheels.write_lock(pyodide, [pyodide / wheel.name for wheel in downloaded])


def stage_snapshot(assets: Path) -> int:
    """The memory of an interpreter that has imported the core; its length in bytes, unpacked."""
    (core,) = (assets / "core").iterdir()
    (assets / "snapshot").mkdir()
    target = assets / "snapshot" / SNAPSHOT
    node(ROOT / "bundle" / "snapshot.mjs", assets / "pyodide", core, target)
    return unpacked_length(target)


def unpacked_length(snapshot: Path) -> int:
    """Bytes of memory that a snapshot becomes (``web/snapshot.mjs``: the file's second word)."""
    with snapshot.open("rb") as file:
        _, length = struct.unpack("<II", file.read(8))
    return int(length)


def stage_pyscript(folder: Path) -> None:
    """PyScript's own build, without source maps and what its editor and terminal would load."""
    distribution = MODULES / "@pyscript" / "core" / "dist"
    unused = ("*.map", "codemirror*", "xterm*", "zip*")
    shutil.copytree(distribution, folder, ignore=shutil.ignore_patterns(*unused))


def stage_math(folder: Path) -> None:
    """KaTeX with its style sheet, and its fonts in the one form that all browsers of ours read."""
    esbuild(WEB / "math" / "index.js", folder / "index.js")
    distribution = MODULES / "katex" / "dist"
    styles = (distribution / "katex.min.css").read_text("utf-8")
    styles = re.sub(r",url\([^)]+\.(?:woff|ttf)\) format\([^)]+\)", "", styles)
    (folder / "katex.css").write_text(styles, "utf-8")
    (folder / "fonts").mkdir()
    for font in sorted((distribution / "fonts").glob("*.woff2")):
        shutil.copy(font, folder / "fonts" / font.name)


def count_boot_bytes(assets: Path) -> int:
    files = [path for name in BOOT_FILES for path in assets.glob(name)]
    return sum(path.stat().st_size for path in files)


def name_by_content(assets: Path) -> dict[str, str]:
    """Renames each piece to ``<piece>-<hash>``; returns the URL each one is entered by."""
    entry = {
        "pyscript": "core.js",
        "core": f"personae-{wheels.version()}-py3-none-any.whl",
        "render": "index.js",
        "math": "index.js",
        "snapshot": SNAPSHOT,
    }
    urls = {}
    for folder in sorted(assets.iterdir()):
        digest = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        named = folder.with_name(f"{folder.name}-{digest.hexdigest()[:12]}")
        folder.rename(named)
        urls[folder.name] = f"assets/{named.name}/{entry.get(folder.name, '')}"
    return urls
