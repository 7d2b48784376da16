"""The licences of everything that ships, collected from the packages themselves."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from bundle.paths import MODULES, ROOT, WORKER
from bundle.wheels import download_wheels

NOTICES = ROOT / "bundle" / "notices"
_LICENCE = re.compile(r"^(licen[cs]e|copying|notice)", re.IGNORECASE)


def write(folder: Path) -> None:
    """One text per package: name, version, declared licence, and its licence files."""
    folder.mkdir(parents=True)
    for package in shipped_packages():
        manifest = json.loads((package / "package.json").read_text("utf-8"))
        files = [path for path in sorted(package.iterdir()) if _LICENCE.match(path.name)]
        # A package without a licence file of its own gets our notice.
        texts = [p.read_text("utf-8") for p in files or NOTICES.glob(f"{package.name}.txt")]
        head = f"{manifest['name']} {manifest['version']}: {manifest.get('license', 'unknown')}"
        name = manifest["name"].replace("/", "-").lstrip("@")
        # Two versions of one package may ship.
        (folder / f"{name}-{manifest['version']}.txt").write_text(
            "\n\n".join([head, *texts]) + "\n", "utf-8"
        )
    for wheel in download_wheels():
        write_wheel_licences(wheel, folder)


def shipped_packages() -> list[Path]:
    """The locked packages that the built assets contain: dependencies, not development tools."""
    lock = json.loads((WORKER / "package-lock.json").read_text("utf-8"))
    return [
        WORKER / path
        for path, entry in lock["packages"].items()
        if path and not entry.get("dev") and (WORKER / path / "package.json").exists()
        if WORKER / path != MODULES / "esbuild" and "@esbuild" not in path
    ]


def write_wheel_licences(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if _LICENCE.match(Path(n).name)]
        texts = [archive.read(name).decode("utf-8", "replace") for name in names]
    distribution, number = wheel.name.split("-")[:2]
    text = "\n\n".join([f"{distribution} {number}", *texts])
    (folder / f"python-{distribution}.txt").write_text(text + "\n", "utf-8")
