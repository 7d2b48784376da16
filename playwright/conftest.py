"""Fixtures of the browser tests: the real server on a free port, a real Chromium."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app_page import READY, AppPage
from faults.living import begin, living_app
from faults.world import moody
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from visitor import Visitor, visitor

from tests import chromium
from tests.provider.fixtures import provider, running_provider
from tests.provider.server import ModelProvider

__all__ = ["provider", "running_provider"]

LAN_HOST = "player.lan"
"""This machine by a name that browsers do not trust as they trust 127.0.0.1."""

expect.set_options(timeout=READY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest in one piece comes first, so that no worker waits for it at the end."""
    items.sort(key=lambda item: item.path.stem != "test_install")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    arguments = [*chromium.arguments(), f"--host-resolver-rules=MAP {LAN_HOST} 127.0.0.1"]
    return {**browser_type_launch_args, "executable_path": chromium.EXECUTABLE, "args": arguments}


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Starts the installed command with more flags; returns the URL it prints."""
    running: list[subprocess.Popen[str]] = []

    def start(*flags: str) -> str:
        command = [sys.executable, "-m", "personae_server", "--port", "0", *flags]
        log = tmp_path_factory.mktemp("server") / "stderr.txt"
        with log.open("w") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1
            )
        running.append(process)
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://[\d.]+:\d+", line):
                return found[0]
        raise AssertionError(f"the server did not start: {log.read_text()}")

    yield start
    for process in running:
        process.terminate()
        process.wait(READY / 1000)
        if process.stdout:
            process.stdout.close()


@pytest.fixture(scope="session")
def player_url(serve: Callable[..., str], running_provider: ModelProvider) -> str:
    """The player as `personae` serves it, allowed to fetch packages from loopback."""
    port = running_provider.url.rpartition(":")[2]
    ports = ("--proxy-ports", f"80,443,{port}")
    return serve("--reader", "--proxy-networks", "127.0.0.0/8", *ports, "--host-names", LAN_HOST)


@pytest.fixture(scope="session")
def lan_url(player_url: str) -> str:
    """The player over plain http on a LAN: a page that is no secure context."""
    return player_url.replace("127.0.0.1", LAN_HOST)


@pytest.fixture(scope="session")
def desktop(
    browser: Browser, player_url: str, lan_url: str, running_provider: ModelProvider
) -> Iterator[Visitor]:
    """Whose tabs ``page`` and ``context`` are."""
    with visitor(browser, player_url, lan_url, running_provider.url) as someone:
        yield someone


@pytest.fixture(scope="session")
def phone(browser: Browser, player_url: str) -> Iterator[Visitor]:
    """The same, with a small screen and a finger."""
    screen = {"width": 390, "height": 844}
    with visitor(browser, player_url, viewport=screen, has_touch=True, is_mobile=True) as someone:
        yield someone


@pytest.fixture
def context(desktop: Visitor) -> Iterator[BrowserContext]:
    """The profile of someone who knows the player, of whom it has nothing stored.

    Where a first visit or switches of the browser count, modules have a ``context`` of their own.
    """
    yield desktop.context
    desktop.forget()


@pytest.fixture(scope="module")
def living_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The character in the tab of ``living``; some modules have one of their own."""
    return moody(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def living_scripts() -> tuple[str, ...]:
    """Scripts of ``faults`` that run in that tab before the page's own."""
    return ()


@pytest.fixture(scope="module")
def living(
    browser: Browser,
    player_url: str,
    running_provider: ModelProvider,
    living_package: Path,
    living_scripts: tuple[str, ...],
) -> Iterator[AppPage]:
    """The tab that all cases of a module live in, see ``faults.living``."""
    with living_app(browser, player_url, running_provider, living_package, *living_scripts) as app:
        yield app


@pytest.fixture
def app(living: AppPage, provider: ModelProvider) -> AppPage:
    """A new conversation in that tab; most modules have an ``app`` of their own."""
    return begin(living)


@pytest.fixture
def console(page: Page) -> Iterator[list[str]]:
    """What the page complained about; a test that expects something removes it from the list."""
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield complaints


@pytest.fixture(scope="session")
def sample_zip() -> Path:
    """The sample character as built."""
    import personae_server

    return Path(personae_server.__file__).parent / "static" / "sample.zip"
