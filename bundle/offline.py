"""The service worker with its list of what to keep: the whole app, named as one version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from bundle.node import esbuild
from bundle.paths import WEB

NAME = "service-worker.js"
# Not part of the app: embedders' library, texts for people, what the command line runs. Mathematics
# costs only those who meet a formula.
_LEFT_OUT = ("character-player.js", "licences/", "sbom.", "assets/author-", "assets/math-")


def write(stage: Path) -> None:
    """Writes the worker; call it when everything else but compressed copies is in ``stage``."""
    files = {
        path.relative_to(stage).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(stage.rglob("*"))
        if path.is_file()
    }
    kept = {path: digest for path, digest in files.items() if not path.startswith(_LEFT_OUT)}
    version = hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16]
    define = {"PERSONAE_OFFLINE": json.dumps({"version": version, "files": list(kept)})}
    # A classic script: not every browser starts workers of this kind from modules.
    esbuild(WEB / NAME, stage / NAME, define=define, form="iife")
