"""A character to injure, and the tab it lives in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app_page import READY, AppPage
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import Error as PlaywrightError

HERE = Path(__file__).parent
NAME = "Moody"


def moody(folder: Path, *more: Path, name: str = NAME, **files: str) -> Path:
    """A package with test.moody, the agents at ``more``, and prompt files name -> text."""
    agents = [HERE / "agents" / "test.moody.js", *more]
    listed = [path.stem for path in agents] + list(files)
    config = {"name": name, "agents": listed}
    target = folder / "moody.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("instructions.txt", "You are moody.")
        for path in agents:
            archive.write(path, f"agents/{path.name}")
        for name, text in files.items():
            archive.writestr(f"agents/{name}", text)
    return target


def inject(context: BrowserContext, **preset: Any) -> None:
    """Makes ``faults`` of injected.js known in every page that is opened from now on."""
    context.add_init_script(path=HERE / "injected.js")
    if preset:
        context.add_init_script(f"Object.assign(faults, {json.dumps(preset)})")


def fault(page: Page, **changes: Any) -> None:
    page.evaluate("changes => void Object.assign(faults, changes)", changes)


def skip(app: AppPage, milliseconds: int) -> None:
    """Lets time pass at once; the page runs with clock.js."""
    app.page.evaluate("milliseconds => skip(milliseconds)", milliseconds)


def until(app: AppPage, happened: Callable[[], Any]) -> None:
    """Lets time fly until something has happened; the page runs with clock.js.

    For what only a deadline brings about: time that flies is taken from all that is under way,
    so it goes no faster than the page can follow.
    """
    for _ in range(120):
        skip(app, 10_000)
        for _ in range(10):
            if happened():
                return
            app.page.wait_for_timeout(10)
            app.page.evaluate("rest()")
    raise AssertionError("twenty minutes have passed and it has not happened")


def eventually(page: Page, happened: Callable[[], Any]) -> None:
    """Waits for what the page itself does not show."""
    for _ in range(READY // 20):
        if happened():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it has not happened")


def stored(page: Page) -> dict[str, dict[tuple[Any, ...], Any]]:
    """table -> key -> value as it is in IndexedDB; JSON texts of conversations are parsed."""
    tables = page.evaluate("faults.dump()")
    return {
        table: {tuple(key): _parsed(table, value) for key, value in rows}
        for table, rows in tables.items()
    }


def _parsed(table: str, value: Any) -> Any:
    if table in ("conversations", "entries", "packages") and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def crash(page: Page) -> None:
    """Ends the page's process at once, as a killed tab."""
    try:
        page.goto("chrome://crash", timeout=5_000)
    except PlaywrightError:
        page.close()
        return
    raise AssertionError("the tab has survived")


def exported(app: AppPage, tmp_path: Path) -> dict[str, Any]:
    """The open conversation as the menu exports it."""
    app.page.locator("[data-action=chat-menu]").click()
    with app.page.expect_download(timeout=READY) as download:
        app.page.get_by_role("menuitem", name="Export as JSON").click()
    target = tmp_path / "exported.json"
    download.value.save_as(target)
    data: dict[str, Any] = json.loads(target.read_text())
    return data


def one_banner(app: AppPage, *words: str) -> None:
    """There is one banner, and it is a quiet one that says all of ``words``."""
    banner = app.by("error-banner")
    expect(banner).to_have_count(1, timeout=READY)
    expect(banner).to_have_attribute("data-tone", "quiet")
    for word in words:
        expect(banner).to_contain_text(word)


def no_banner(app: AppPage) -> None:
    expect(app.by("error-banner")).to_have_count(0, timeout=READY)
