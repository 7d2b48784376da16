"""``ui.dom.frames`` in a real page: drawing is batched, and waits for what is more urgent."""

from __future__ import annotations

import pytest
from app_page import AppPage
from playwright.sync_api import Page, expect

TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FRAMES = """
import js
from personae.ui.dom import frames as drawing

frames = drawing.Frames(print)

def draw(text):
    def work():
        js.document.title += text
    return work

js.document.title = "-"
"""


@pytest.fixture
def app(page: Page, player_url: str) -> AppPage:
    return AppPage(page, player_url).open()


def test_one_drawing_per_key(app: AppPage) -> None:
    app.run_python(
        f"""{FRAMES}
for text in "abc":
    frames.schedule("key", draw(text))
frames.schedule("x", draw("x"))
"""
    )
    expect(app.page).to_have_title("-cx")


def test_what_is_held_is_drawn_when_it_is_released(app: AppPage) -> None:
    app.run_python(
        f"""{FRAMES}
drawing.HOLD = 60_000
frames.schedule('before', draw('b'))
frames.hold()
frames.schedule('while', draw('w'))
js.globalThis.release = frames.release
js.document.documentElement.dataset.held = ''
""",
    )
    app.page.wait_for_selector("html[data-held]")
    app.page.evaluate(TWO_FRAMES)
    expect(app.page).to_have_title("-")
    app.page.evaluate("release()")
    expect(app.page).to_have_title("-bw")


def test_what_nobody_releases_is_drawn_all_the_same(app: AppPage) -> None:
    app.run_python(f"{FRAMES}\nframes.hold()\nframes.schedule('key', draw('d'))")
    expect(app.page).to_have_title("-d")
