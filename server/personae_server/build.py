"""``personae build OUT``: the whole player as files for any static host.

The output is the static bundle, a ``config.json`` that says what such a host lacks, and
``bundle.json``: every file's size and SHA-256. The same bundle gives the same bytes. A second
build into the same folder removes what the first one wrote and the new one has not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from personae.errors import UsageError

from personae_server.app import capabilities

LIST = "bundle.json"


def build(static: Path, out: Path) -> int:
    """Writes the bundle and returns the number of files.

    Raises UsageError when ``out`` holds anything that no earlier build wrote there.
    """
    old = _earlier_build(out)
    files = {
        path.relative_to(static).as_posix(): path for path in static.rglob("*") if path.is_file()
    }
    for name, source in files.items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    config = json.dumps(capabilities(None), indent=2, sort_keys=True) + "\n"
    (out / "config.json").write_text(config, "utf-8")
    written = sorted({*files, "config.json"})
    _write_list(out, written)
    for name in old - set(written):
        if (out / name).resolve().is_relative_to(out.resolve()):
            (out / name).unlink(missing_ok=True)
    return len(written) + 1


def _earlier_build(out: Path) -> set[str]:
    if not out.exists() or not any(out.iterdir()):
        return set()
    try:
        return set(json.loads((out / LIST).read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{out} is not empty and holds no earlier build: name a new or empty folder."
        raise UsageError("build_folder", message) from error


def _write_list(out: Path, names: list[str]) -> None:
    files = {name: _digest(out / name) for name in names}
    listing = {"version": capabilities(None)["version"], "files": files}
    (out / LIST).write_text(json.dumps(listing, indent=2, sort_keys=True) + "\n", "utf-8")


def _digest(path: Path) -> dict[str, object]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}
