"""The files with stable names: the page and its scripts."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

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
# Templates that every start needs: in the page itself, the others are fetched when used.
INLINED = ("chat", "start")


def write(stage: Path, facts: dict[str, Any]) -> None:
    """Writes everything that refers to the content-named pieces by ``facts``."""
    protocol = json.loads((WEB / "personae" / "protocol.json").read_text("utf-8"))
    events = json.dumps(list(protocol["events"]))
    define = {"PERSONAE_ASSETS": json.dumps(facts), "PERSONAE_EVENTS": events}
    for script in ("boot.js", "character-player.js"):
        esbuild(WEB / script, stage / script, define=define)
    esbuild(WEB / "style.css", stage / "style.css")
    shutil.copy(WEB / "theme.js", stage / "theme.js")
    for folder in ("templates", "icons"):
        shutil.copytree(WEB / folder, stage / folder)
    write_sample(stage / "sample.zip")
    write_page(stage)


def write_sample(target: Path) -> None:
    """The character the page offers on first start, as the zip a visitor could be sent."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((WEB / "sample").rglob("*")):
            if path.is_file():
                name = path.relative_to(WEB / "sample").as_posix()
                entry = zipfile.ZipInfo(name, wheels.STAMP)
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def write_page(stage: Path) -> None:
    text = (WEB / "index.html").read_text("utf-8")
    for name, value in {
        "policy": POLICY,
        "inlined": " ".join(INLINED),
        "templates": "".join(
            (WEB / "templates" / f"{name}.html").read_text("utf-8") for name in INLINED
        ),
        "version": wheels.version(),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    (stage / "index.html").write_text(text, "utf-8")
