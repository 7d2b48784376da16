"""After one visit the app starts without a network; a new version is offered, never forced."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import personae_server
import pytest
from app_page import READY, AppPage
from playwright.sync_api import BrowserContext, Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import says

NAME = "Wren Tallow"
KEPT = "navigator.serviceWorker.ready.then(found => found.active.state)"


@pytest.fixture
def context(new_context: Callable[[], BrowserContext]) -> BrowserContext:
    """A profile that has never seen the player."""
    return new_context()


class Quiet(SimpleHTTPRequestHandler):
    """Caching as our server and docs/hosting.md have it.

    Service workers do not see what sandboxed frames load: the agents' frame comes from the
    browser's own cache, so it must have been allowed to keep it.
    """

    def log_message(self, *args: object) -> None:
        pass

    def end_headers(self) -> None:
        forever = "public, max-age=31536000, immutable"
        self.send_header("Cache-Control", forever if "/assets/" in self.path else "no-cache")
        super().end_headers()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[tuple[str, Path, ThreadingHTTPServer]]:
    """The built app in a folder below the root of a plain file server, and the folder."""
    folder = tmp_path / "site" / "app"
    source = Path(personae_server.__file__).parent / "static"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.br", "*.gz"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/app", folder, server
    server.shutdown()
    server.server_close()


def visited(page: Page, url: str) -> AppPage:
    """The app after a first visit, with everything kept."""
    app = AppPage(page, url).open().open_sample()
    page.wait_for_function(f"{KEPT}.then(state => state === 'activated')", timeout=60_000)
    return app


def test_the_app_starts_and_talks_without_its_server(
    page: Page,
    host: tuple[str, Path, ThreadingHTTPServer],
    provider: ModelProvider,
) -> None:
    url, _, server = host
    app = visited(page, url).use_provider(provider.base_url)
    page.wait_for_load_state("networkidle")  # the agents' frame is there too
    server.shutdown()
    server.server_close()
    app.reload().talks_to(NAME)
    provider.script(says("Here, from your own machine."))
    app.use_provider(provider.base_url)
    app.say("Anyone there?").answered("from your own machine")
    app.page.locator("[data-action=open-settings]").first.click()
    expect(app.by("settings")).to_be_visible()


def test_agents_run_offline(
    page: Page, context: BrowserContext, host: tuple[str, Path, ThreadingHTTPServer]
) -> None:
    app = visited(page, host[0])
    context.set_offline(True)
    app.reload().talks_to(NAME)
    app.say('call roll_dice {"sides": 20}').answered("1d20:")


def new_version(folder: Path) -> None:
    """Another version of the app: its page and its worker differ."""
    page, worker = folder / "index.html", folder / "service-worker.js"
    page.write_text(page.read_text("utf-8").replace("<title>", "<title>New "), "utf-8")
    script = worker.read_text("utf-8")
    found = re.search(r'version:"(\w+)"', script)
    assert found, script[:200]
    worker.write_text(script.replace(found[1], "another"), "utf-8")


def test_a_new_version_waits_until_it_is_wanted(
    page: Page, host: tuple[str, Path, ThreadingHTTPServer]
) -> None:
    url, folder, _ = host
    app = visited(page, url)
    new_version(folder)
    app.reload().talks_to(NAME)
    offer = app.by("toast").filter(has_text="new version")
    expect(offer).to_be_visible(timeout=READY)
    app.say("Still the old one?").answered("Still the old one?")
    caches = json.loads(page.evaluate("caches.keys().then(JSON.stringify)"))
    assert "personae-another" in caches
    with page.expect_navigation():
        offer.get_by_role("button", name="Start it").click()
    app.started().talks_to(NAME)
    assert "New " in page.evaluate("fetch('./').then(answer => answer.text())")
    names = set(json.loads(page.evaluate("caches.keys().then(JSON.stringify)")))
    assert names <= {"personae-another", "personae-host"}
