"""A conversation in a tab of its own, and what is stored of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app_page import AppPage
from playwright.sync_api import BrowserContext, Locator

from faults.world import NAME, inject, stored
from tests.provider.server import ModelProvider
from tests.provider.turns import says


def start(
    context: BrowserContext, url: str, path: Path, provider: ModelProvider, **preset: Any
) -> AppPage:
    """A new tab that plays the package at ``path``; ``preset``: see ``inject``."""
    inject(context, **preset)
    app = AppPage(context.new_page(), url).open().open_file(path).talks_to(NAME)
    return app.use_provider(provider.base_url, key="")


def say(app: AppPage, provider: ModelProvider, text: str, answer: str) -> None:
    provider.script(says(answer))
    app.say(text).answered(answer)


def said(app: AppPage) -> Locator:
    """What the user said, as the page shows it."""
    return app.messages("user").locator(".prose")


def texts(app: AppPage) -> list[str]:
    """What is stored of all conversations, in order."""
    return [entry["content"] for entry in stored(app.page).get("entries", {}).values()]
