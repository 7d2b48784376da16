"""``ui.dom.Frames`` in a real page: drawing is batched, and waits for what is more urgent."""

from __future__ import annotations

import pytest
from app_page import AppPage
from playwright.sync_api import Page, expect

RUN = """code => {
    const script = document.createElement("script");
    script.type = "py";
    script.textContent = code;
    document.body.append(script);
}"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FRAMES = """
import js
from personae.ui import dom

frames = dom.Frames(print)

def draw(text):
    def work():
        js.document.title += text
    return work

js.document.title = "-"
"""


@pytest.fixture
def drawing(page: Page, player_url: str) -> Page:
    AppPage(page, player_url).open()
    expect(page.locator("html")).to_have_attribute("data-started", "")
    return page


def run(page: Page, code: str) -> None:
    page.evaluate(RUN, FRAMES + code)


def test_one_drawing_per_key(drawing: Page) -> None:
    run(
        drawing,
        "for text in 'abc': frames.schedule('key', draw(text))\nframes.schedule('x', draw('x'))",
    )
    expect(drawing).to_have_title("-cx")


def test_what_is_held_is_drawn_when_it_is_released(drawing: Page) -> None:
    run(
        drawing,
        """
dom.HOLD = 60_000
frames.schedule('before', draw('b'))
frames.hold()
frames.schedule('while', draw('w'))
js.globalThis.release = frames.release
js.document.documentElement.dataset.held = ''
""",
    )
    drawing.wait_for_selector("html[data-held]")
    drawing.evaluate(TWO_FRAMES)
    expect(drawing).to_have_title("-")
    drawing.evaluate("release()")
    expect(drawing).to_have_title("-bw")


def test_what_nobody_releases_is_drawn_all_the_same(drawing: Page) -> None:
    run(drawing, "frames.hold()\nframes.schedule('key', draw('d'))")
    expect(drawing).to_have_title("-d")
