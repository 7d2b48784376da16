"""One tab for all cases of a module: it has to survive each of them.

Its clock is a virtual one, so that deadlines, retries and silence cost no time. Each case begins in
a conversation of its own, with nothing left of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app_page import READY, AppPage
from playwright.sync_api import Browser, expect

from faults.world import HERE, NAME
from tests.provider.server import ModelProvider


@contextmanager
def living_app(
    browser: Browser, url: str, provider: ModelProvider, package: Path, *scripts: str
) -> Iterator[AppPage]:
    """The app with a package open; ``scripts`` of this folder run before the page's own."""
    context = browser.new_context()
    for script in ("clock.js", *scripts):
        context.add_init_script(path=HERE / script)
    app = AppPage(context.new_page(), url).open()
    app.open_file(package).talks_to(NAME)
    yield app.use_provider(provider.base_url, key="")
    context.close()


def begin(app: AppPage) -> AppPage:
    """A new conversation in the same tab."""
    for close in app.page.locator("[data-action=banner-close]").all():
        close.click()
    app.by("new-conversation").first.click()
    expect(app.messages("user")).to_have_count(0)
    expect(app.by("composer")).to_be_editable(timeout=READY)
    return app
