"""A browser profile that tests share: it knows the player, and keeps nothing of what they did.

A first visit takes twice as long as a later one, for the browser fetches and compiles all there is.
What it keeps of that stays from test to test; what the player stores goes after each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app_page import READY, AppPage
from playwright.sync_api import Browser, BrowserContext, Page

STORED = "indexeddb,local_storage"
"""What the player stores of a visitor; beside it the browser keeps the app and its code."""

ACTIVATED = "navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated')"


class Visitor:
    def __init__(self, context: BrowserContext, *origins: str) -> None:
        self.context, self._origins = context, origins
        self._resting = context.new_page()  # a tab that nobody sees, to speak to the browser
        self._session = context.new_cdp_session(self._resting)

    def visit(self, url: str) -> None:
        """Comes here for the first time, and stays until the app is kept."""
        page = self.context.new_page()
        AppPage(page, url).open()
        page.wait_for_function(ACTIVATED, timeout=2 * READY)
        self.forget()

    @property
    def tabs(self) -> list[Page]:
        """All that are open, but the one at rest."""
        return [page for page in self.context.pages if page != self._resting]

    def forget(self) -> None:
        """Closes all tabs, and deletes what the player has stored."""
        for page in self.tabs:
            page.close()
        self.context.clear_permissions()
        for origin in self._origins:
            stored = {"origin": origin, "storageTypes": STORED}
            self._session.send("Storage.clearDataForOrigin", stored)


@contextmanager
def visitor(browser: Browser, *origins: str, **device: Any) -> Iterator[Visitor]:
    """Someone who has been at the player, which is at the first of the ``origins``."""
    context = browser.new_context(**device)
    someone = Visitor(context, *origins)
    someone.visit(origins[0])
    yield someone
    context.close()
