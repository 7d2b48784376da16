"""The files with stable names: the page, its scripts, PyScript's configuration."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

from bundle import wheels
from bundle.node import esbuild
from bundle.paths import WEB

# PyScript makes one function from a string when it starts, hence 'unsafe-eval'. The model endpoint
# is the user's choice, hence connect-src. Agents never run under this policy: the sandbox frame
# carries its own.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self' https: http: data: blob:",
        "frame-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
# Plugins of PyScript that this page has no use for.
UNUSED_PLUGINS = ("deprecations-manager", "donkey", "error", "py-editor", "py-game", "py-terminal")


def write(stage: Path, urls: dict[str, str], boot_bytes: int) -> None:
    """Writes everything that refers to the content-named pieces by ``urls``."""
    define = {"PERSONAE_ASSETS": json.dumps({"urls": urls, "bootBytes": boot_bytes})}
    for script in ("boot.js", "character-player.js"):
        esbuild(WEB / script, stage / script, define=define)
    esbuild(WEB / "style.css", stage / "style.css")
    shutil.copy(WEB / "main.py", stage / "main.py")
    for folder in ("templates", "icons"):
        shutil.copytree(WEB / folder, stage / folder)
    write_sample(stage / "sample.zip")
    write_page(stage, urls)
    write_pyscript_config(stage, urls)


def write_sample(target: Path) -> None:
    """The character the page offers on first start, as the zip a visitor could be sent."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((WEB / "sample").rglob("*")):
            if path.is_file():
                name = path.relative_to(WEB / "sample").as_posix()
                entry = zipfile.ZipInfo(name, wheels.STAMP)
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def write_page(stage: Path, urls: dict[str, str]) -> None:
    preloads = "\n".join(
        f'<link rel="preload" as="fetch" crossorigin href="{url}">'
        for url in (
            urls["pyodide"] + "pyodide.asm.wasm",
            urls["pyodide"] + "python_stdlib.zip",
            urls["core"],
        )
    )
    modules = "\n".join(
        f'<link rel="modulepreload" href="{url}">'
        for url in (
            urls["pyscript"],
            urls["pyodide"] + "interpreter.mjs",
            urls["pyodide"] + "pyodide.mjs",
            urls["pyodide"] + "pyodide.asm.mjs",
        )
    )
    text = (WEB / "index.html").read_text("utf-8")
    for name, value in {
        "policy": POLICY,
        "preloads": f"{preloads}\n{modules}",
        "version": wheels.version(),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    (stage / "index.html").write_text(text, "utf-8")


def write_pyscript_config(stage: Path, urls: dict[str, str]) -> None:
    config = {
        "interpreter": urls["pyodide"] + "interpreter.mjs",
        "files": {urls["core"]: "./*"},
        "plugins": [f"!{name}" for name in UNUSED_PLUGINS],
    }
    (stage / "pyscript.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
