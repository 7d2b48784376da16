"""The Python code of the page: our core as a wheel, and the few wheels it may load."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from bundle.node import node
from bundle.paths import CACHE, MODULES, ROOT, WEB

REQUIREMENTS = ROOT / "bundle" / "requirements.txt"
# A fixed time in archives: the same input gives the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)
_OF_AGENTS = "tzdata"
"""The distribution that no page loads: agents whose source names zoneinfo get what is in it."""
_IMPORTS = {"attrs": ["attr", "attrs"], "ruamel-yaml": ["ruamel.yaml"]}


def version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def write_core_wheel(target: Path) -> None:
    """Zips ``web/personae`` with the metadata a wheel needs; sources, not yet compiled."""
    info = f"personae-{version()}.dist-info"
    files = {
        path.relative_to(WEB).as_posix(): path.read_bytes()
        for path in sorted((WEB / "personae").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    metadata = f"Metadata-Version: 2.4\nName: personae\nVersion: {version()}\n"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in files).encode()
    with zipfile.ZipFile(target, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name, STAMP), content)


def download_wheels() -> list[Path]:
    """The wheels of ``requirements.txt``, from the cache or the package index."""
    key = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = CACHE / f"wheels-{key}"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version=3.14", "--require-hashes"]
        command += [f"--requirement={REQUIREMENTS}", f"--dest={folder}.partial"]
        subprocess.run(command, check=True)  # noqa: S603
        Path(f"{folder}.partial").rename(folder)
    return sorted(folder.glob("*.whl"))


def page_wheels() -> list[Path]:
    """Those of them that the page may load."""
    return [wheel for wheel in download_wheels() if not wheel.name.startswith(f"{_OF_AGENTS}-")]


def write_time_zones(target: Path) -> None:
    """An archive of tzdata's package, which Python's ``zoneinfo`` reads as it is."""
    (wheel,) = (one for one in download_wheels() if one.name.startswith(f"{_OF_AGENTS}-"))
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as archive:
        for name in sorted(source.namelist()):
            if name.startswith(f"{_OF_AGENTS}/"):
                archive.writestr(zipfile.ZipInfo(name, STAMP), source.read(name))


def compile_archives(jobs: list[tuple[str, Path, Path]]) -> None:
    """Replaces .py by .pyc in each (traceback prefix, source, target), one interpreter for all."""
    node(ROOT / "bundle" / "compile.mjs", *(part for job in jobs for part in job))


def write_lock(folder: Path, wheels: list[Path]) -> None:
    """The lock file Pyodide reads: only what the bundle holds."""
    full = json.loads((MODULES / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
    names = [wheel.name.split("-")[0].replace("_", "-") for wheel in wheels]
    packages = {}
    for wheel, name in zip(wheels, names, strict=True):
        packages[name] = {
            "name": name,
            "version": wheel.name.split("-")[1],
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": _IMPORTS.get(name, [name]),
            "depends": ["attrs", "pyrsistent"] if name == "jsonschema" else [],
            "unvendored_tests": False,
        }
    lock = {"info": full["info"], "packages": packages}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
