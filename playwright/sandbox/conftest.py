"""Opens the bare page with the sandbox in Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serving
from playwright.sync_api import Page

Drive = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the test server serves."""
    folder = tmp_path_factory.mktemp("site")
    serving.build(folder, serving.HERE / "driver.py")
    # What an escaped agent could do, in the place of a worker.
    serving.write_frame(folder, serving.HERE / "hostile" / "rogue.js")
    return folder


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    with serving.served(site) as url:
        yield url


@pytest.fixture
def server_leaks() -> list[str]:
    """What reached the server past the sandbox, during one test."""
    serving.LEAKS.clear()
    return serving.LEAKS


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
