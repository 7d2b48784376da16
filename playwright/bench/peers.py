"""Other Python in the browser, from packages: bare PyScript and Pyodide, JupyterLite, marimo.

And ``floor.html``: a page that only puts the player's own interpreter back.

JupyterLite and marimo fetch Pyodide, and the wheels they need, from a CDN. Here they find both
beside themselves: the npm package of the Pyodide each one asks for, and the wheels from the package
index, in a lock file of our own. All are served by the player's server, compressed alike, under
``assets/``, so that their files are kept by the browser like those of a CDN.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from harness import BENCH
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bundle.assets import SNAPSHOT, unpacked_length
from bundle.compress import compress_tree
from bundle.node import node_package
from bundle.paths import CACHE, MODULES, STATIC

PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
JUPYTERLITE = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6")
JUPYTERLITE_WHEELS = (
    *("asttokens==3.0.1", "comm==0.2.3", "decorator==5.2.1", "executing==2.2.1"),
    *("ipython==9.12.0", "jedi==0.19.2", "matplotlib-inline==0.2.1", "micropip==0.11.1"),
    *("packaging==26.1", "parso==0.8.6", "prompt-toolkit==3.0.52", "pure-eval==0.2.3"),
    *("pygments==2.20.0", "pyodide-http==0.2.2", "six==1.17.0", "stack-data==0.6.3"),
    *("traitlets==5.14.3", "wcwidth==0.6.0"),
)
MARIMO = ("marimo==0.25.2", "uv")
MARIMO_PYODIDE = "314.0.0"
MARIMO_WHEELS = (
    *("docutils==0.22.4", "itsdangerous==2.2.0", "jedi==0.19.2", "markdown==3.10.2"),
    *("marimo-base==0.25.2", "micropip==0.11.1", "msgspec==0.23.0", "narwhals==2.18.1"),
    *("packaging==26.1", "parso==0.8.6", "pygments==2.20.0", "pymdown-extensions==10.21.2"),
    *("pyodide-http==0.2.2", "python-multipart==0.0.27", "tomlkit==0.14.0"),
)
PURE = ("pyyaml==6.0.3",)
"""No wheel for Pyodide on the index: the one for this machine, without its optional binary part."""

# What markers in a wheel's metadata are judged by.
EMSCRIPTEN = {"sys_platform": "emscripten", "platform_system": "Emscripten", "extra": ""}
EMSCRIPTEN |= {"python_version": "3.14", "python_full_version": "3.14.2", "os_name": "posix"}
EMSCRIPTEN |= {"platform_machine": "wasm32", "implementation_name": "cpython"}
EMSCRIPTEN |= {"platform_python_implementation": "CPython"}


def build(target: Path) -> None:
    """All peers in one folder to serve; what is fetched and compressed is kept in the cache."""
    assets = target / "assets"
    bare_pyodide(target)
    put_back(target)
    shutil.copytree(MODULES / "@pyscript" / "core" / "dist", assets / "pyscript")
    build_jupyterlite(assets / "jupyterlite")
    build_marimo(assets / "marimo")
    compress_tree(target)


def bare_pyodide(target: Path) -> None:
    """Pyodide as its package is, and the pages; the page of bare Pyodide is the first."""
    pyodide = target / "assets" / "pyodide"
    copy_pyodide(MODULES / "pyodide", pyodide)
    shutil.copy(MODULES / "pyodide" / "pyodide-lock.json", pyodide)
    for page in (BENCH / "pages").iterdir():
        shutil.copy(page, target / page.name)
    shutil.copy(BENCH / "pages" / "pyodide.html", target / "index.html")


def put_back(target: Path) -> None:
    """``floor.html`` and what it needs: the built player's interpreter and its memory."""
    (pyodide,) = (STATIC / "assets").glob("pyodide-*")
    (snapshot,) = (STATIC / "assets").glob(f"snapshot-*/{SNAPSHOT}")
    unused = shutil.ignore_patterns("*.br", "*.gz", "*.whl", "*.zip")
    shutil.copytree(pyodide, target / "assets" / "kept", ignore=unused)
    shutil.copy(snapshot, target / "assets" / "kept")
    page = (target / "pyodide.html").read_text("utf-8")
    script = f"floor.mjs?length={unpacked_length(snapshot)}"
    (target / "floor.html").write_text(page.replace("pyodide.mjs", script), "utf-8")


def build_jupyterlite(target: Path) -> None:
    """Its REPL, which runs the code in its address."""
    tools = installed("jupyterlite", JUPYTERLITE)
    work = CACHE / "peers" / "jupyterlite-work"
    work.mkdir(exist_ok=True)
    run(tools / "jupyter-lite", "build", "--apps", "repl", f"--output-dir={target}", cwd=work)
    copy_pyodide(MODULES / "pyodide", target / "pyodide")
    write_lock(target / "pyodide", MODULES / "pyodide", wheels(JUPYTERLITE_WHEELS))
    settings = target / "jupyter-lite.json"
    page = json.loads(settings.read_text("utf-8"))
    plugins = page["jupyter-config-data"].setdefault("litePluginSettings", {})
    kernel = plugins.setdefault("@jupyterlite/pyodide-kernel-extension:kernel", {})
    kernel["pyodideUrl"] = "./pyodide/pyodide.mjs"
    settings.write_text(json.dumps(page), "utf-8")


def build_marimo(target: Path) -> None:
    """A notebook of one cell, exported to be run."""
    tools = installed("marimo", MARIMO)
    notebook = BENCH / "pages" / "marimo_notebook.py"
    options = ("--mode", "run", "--no-execute", "--force", "--output", target)
    run(tools / "marimo", "-y", "export", "html-wasm", notebook, *options, path=tools)
    pyodide = node_package("pyodide", MARIMO_PYODIDE, CACHE / "peers")
    copy_pyodide(pyodide, target / "pyodide")
    found = [*wheels(MARIMO_WHEELS), *map(pure_wheel, PURE)]
    write_lock(target / "pyodide", pyodide, found)
    page = target / "index.html"
    text = page.read_text("utf-8")
    element = '<marimo-wasm hidden=""'
    assert text.count(element) == 1
    own = {"pyodide-index-url": "./pyodide/", "pypi-index-url": "./pyodide/index/"}
    own["pyodide-lockfile-url"] = "./pyodide/pyodide-lock.json"
    attributes = "".join(f' data-{name}="{value}"' for name, value in own.items())
    page.write_text(text.replace(element, element + attributes), "utf-8")


def copy_pyodide(package: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in PYODIDE_FILES:
        shutil.copy(package / name, target / name)


def installed(name: str, requirements: Sequence[str]) -> Path:
    """The programs of an environment with these packages; made once."""
    folder = CACHE / "peers" / f"{name}-{digest(requirements)}"
    if not folder.exists():
        # Made in place: its programs name their interpreter by its path.
        try:
            run(sys.executable, "-m", "venv", folder)
            run(folder / "bin" / "python", "-m", "pip", "install", "-q", *requirements)
        except subprocess.CalledProcessError:
            shutil.rmtree(folder)
            raise
    return folder / "bin"


def wheels(requirements: Sequence[str]) -> list[Path]:
    """Wheels that Pyodide can load, from the package index."""
    folder = CACHE / "peers" / f"wheels-{digest(requirements)}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        target = ("--python-version=3.14", "--abi=cp314", "--platform=pyemscripten_2026_0_wasm32")
        choice = ("--no-deps", "--only-binary=:all:", "--implementation=cp", *target)
        pip = (sys.executable, "-m", "pip", "download", "-q")
        run(*pip, *choice, f"--dest={partial}", *requirements)
        partial.rename(folder)
    return sorted(folder.glob("*.whl"))


def pure_wheel(requirement: str) -> Path:
    """A wheel without its binary parts, which its package can do without."""
    folder = CACHE / "peers" / f"pure-{digest((requirement,))}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:")
        run(*pip, f"--dest={partial}", requirement)
        (whole,) = partial.glob("*.whl")
        name, version = whole.name.split("-")[:2]
        with zipfile.ZipFile(whole) as source:
            target = partial / f"{name}-{version}-py3-none-any.whl"
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pure:
                for entry in source.namelist():
                    if not entry.endswith((".so", ".pyd")):
                        pure.writestr(entry, source.read(entry))
        whole.unlink()
        partial.rename(folder)
    return next(folder.glob("*.whl"))


def write_lock(folder: Path, pyodide: Path, found: Sequence[Path]) -> None:
    """Puts the wheels beside Pyodide, and the lock file that offers them."""
    entries = {}
    for wheel in found:
        shutil.copy(wheel, folder / wheel.name)
        entry = described(wheel)
        entries[entry["name"]] = entry
    for entry in entries.values():
        entry["depends"] = [name for name in entry["depends"] if name in entries]
    full = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    lock = {"info": full["info"], "packages": entries}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")


def described(wheel: Path) -> dict[str, Any]:
    """The wheel as a lock file describes it."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        head = HeaderParser().parsestr(archive.read(metadata).decode())
    needed = [Requirement(text) for text in head.get_all("Requires-Dist", [])]
    tops = {name.partition("/")[0].removesuffix(".py") for name in names}
    return {
        "name": canonicalize_name(head["Name"]),
        "version": head["Version"],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": [
            canonicalize_name(need.name)
            for need in needed
            if need.marker is None or need.marker.evaluate(EMSCRIPTEN)
        ],
        "unvendored_tests": False,
    }


def digest(requirements: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]


def run(*command: str | Path, cwd: Path | None = None, path: Path | None = None) -> None:
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    (CACHE / "peers").mkdir(parents=True, exist_ok=True)
    subprocess.run([*map(str, command)], cwd=cwd, env=environment, check=True, stdout=sys.stderr)
