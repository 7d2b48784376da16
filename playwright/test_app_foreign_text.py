"""Foreign text never runs, never calls out, and looks the same however it arrives."""

from __future__ import annotations

import json
import random
import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_page import READY, AppPage
from playwright.sync_api import Page, Request, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import DONE, Stall, calls, chunk, says, stream

NAME = "Wren Tallow"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)

HOSTILE = """<script>window.hacked = "script"</script>
<img src=x onerror="window.hacked = 'onerror'">
<svg onload="window.hacked = 'svg'"></svg>
<iframe srcdoc="<script>parent.hacked = 'frame'</script>"></iframe>
[click](javascript:window.hacked='link') [data](data:text/html,<script>1</script>)
[vb](vbscript:x) <a href="javascript:window.hacked='a'">raw</a> [odd](  JaVaScRiPt:alert(1))
![track]({tracker}) ![js](javascript:window.hacked='img')
<style>body {{ display: none }}</style> <form action="/x"><input name="password"></form>
[ref]: javascript:window.hacked='ref'
[ref]
`<b>code</b>`"""


@pytest.fixture
def calls_out(page: Page, player_url: str, provider: ModelProvider) -> list[str]:
    """URLs requested that are neither the player, its model nor the package."""
    asked: list[str] = []

    def look(request: Request) -> None:
        known = (player_url, provider.base_url, f"{provider.url}/wren.zip", "blob:", "data:")
        if not request.url.startswith(known):
            asked.append(request.url)

    page.on("request", look)
    return asked


@pytest.fixture
def app(page: Page, player_url: str, provider: ModelProvider, sample_zip: Path) -> AppPage:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(page, player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    return app.use_provider(provider.base_url)


def unharmed(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    bad = "script:not([src]), iframe:not([src]), [onerror], [onload], [style*=display]"
    assert (
        page.locator(f"#feed :is({bad}), .prose :is(script, style, form, svg[onload])").count() == 0
    )
    for link in page.locator(".prose a").all():
        assert (link.get_attribute("href") or "").startswith(("http://", "https://", "mailto:"))
        assert "noopener" in (link.get_attribute("rel") or "")


def test_markdown_from_a_model_does_nothing(
    app: AppPage, provider: ModelProvider, calls_out: list[str]
) -> None:
    tracker = provider.serve("/track.png", PNG, "image/png")
    provider.script(says(HOSTILE.format(tracker=tracker)))
    app.say("Go").answered("<script>")
    unharmed(app.page)
    assert calls_out == []
    for link in app.page.locator(".prose a").all():
        assert "javascript" not in (link.get_attribute("href") or "").lower()
    app.page.get_by_role("button", name="Show picture from").click()
    shown = app.messages().last.locator(".prose img")
    expect(shown).to_have_attribute("alt", "track")
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    assert calls_out == [tracker]


def test_a_picture_whose_host_refuses_becomes_a_link(app: AppPage, provider: ModelProvider) -> None:
    closed = provider.serve("/closed.png", PNG, "image/png", cors=False)
    provider.script(says(f"![closed]({closed})"))
    app.say("Go").answered("")
    app.page.get_by_role("button", name="Show picture from").click()
    link = app.page.get_by_role("link", name="Open the picture")
    expect(link).to_have_attribute("href", closed)


def test_a_picture_that_was_asked_for_stays_while_the_reply_goes_on(
    app: AppPage, provider: ModelProvider
) -> None:
    shown = provider.serve("/shown.png", PNG, "image/png")
    beginning = stream(chunk({"content": f"Look: ![shown]({shown}) and"}), Stall())
    provider.script(beginning.without_end(chunk({"content": " so on"}), chunk({}, "stop"), DONE))
    app.say("Go")
    app.page.get_by_role("button", name="Show picture from").click(timeout=READY)
    picture = app.messages().last.locator(".prose img")
    expect(picture).to_have_attribute("alt", "shown")
    provider.release()
    app.answered("and so on")
    expect(picture).to_have_attribute("alt", "shown")
    expect(app.page.get_by_role("button", name="Show picture from")).to_have_count(0)


def test_user_text_tool_results_and_errors_are_text(app: AppPage, provider: ModelProvider) -> None:
    bad = "<img src=x onerror=\"window.hacked='text'\">"
    provider.script(calls(("roll_dice", {"sides": 6, "reason": bad}), ids=["c"]), says("ok"))
    app.say(bad).answered("ok")
    expect(app.messages("user").last).to_contain_text(bad)
    app.by("tool-call").locator("summary").click()
    expect(app.by("audit-entry")).to_contain_text("<img")
    provider.script(says(bad))
    app.page.locator("#inspector-toggle").click()
    app.page.locator(".agent summary").first.click()
    app.page.get_by_role("tab", name="Prompt").click()
    expect(app.by("prompt-preview")).to_contain_text("<img")
    unharmed(app.page)


def package(path: Path, config: dict[str, Any], **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        for name, text in {"instructions": "x", **files}.items():
            archive.writestr(f"{name}.txt", text)
    return path


def test_a_hostile_package_does_nothing(
    page: Page, player_url: str, tmp_path: Path, calls_out: list[str]
) -> None:
    bad = "<img src=x onerror=\"window.hacked='package'\">"
    path = package(
        tmp_path / "bad.zip",
        {"name": bad},
        description=bad,
        intro=HOSTILE.format(tracker="https://tracker.example/x.png"),
    )
    app = AppPage(page, player_url).open().open_file(path)
    expect(app.by("character-name").first).to_have_text(bad, timeout=READY)
    expect(app.by("intro")).to_contain_text("<script>")
    unharmed(page)
    page.locator("nav [data-action=show-start]").last.click()
    expect(app.by("library-item")).to_contain_text("<img")
    unharmed(page)
    assert calls_out == []


def test_problems_of_a_package_are_text(page: Page, player_url: str, tmp_path: Path) -> None:
    agent = "<img src=x onerror=window.hacked=1>"
    path = package(tmp_path / "bad.zip", {"name": "B", "agents": [agent, "b.missing"]})
    app = AppPage(page, player_url).open().open_file(path)
    expect(app.by("error-banner")).to_contain_text("b.missing", timeout=READY)
    unharmed(page)


class Trap:
    """A port of this machine that no text may make the browser connect to, in whatever way."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.heard: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1)
                try:
                    self.heard.append(connection.recv(200))
                except OSError:
                    self.heard.append(b"a connection without a request")

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


REACHING = """[link](http://{trap}/link) <http://{trap}/auto> http://{trap}/bare www.trap.example
![image](http://{trap}/image.png) ![same](//{trap}/same.png) ![svg](http://{trap}/x.svg#a)
![title](http://{trap}/t.png "a \\" onerror=x") [![in link](http://{trap}/il.png)](http://{trap}/il)
![ref][r] [r]
![data](data:image/svg+xml,<svg><image href="http://{trap}/d"/></svg>)
<img src="http://{trap}/img"><img srcset="http://{trap}/set 2x">
<picture><source srcset="http://{trap}/ps"></picture>
<audio src="http://{trap}/audio" autoplay></audio>
<video poster="http://{trap}/poster" src="http://{trap}/v"></video>
<iframe src="http://{trap}/frame"></iframe>
<object data="http://{trap}/object"></object><embed src="http://{trap}/embed">
<link rel="stylesheet" href="http://{trap}/css"><link rel="prefetch" href="http://{trap}/prefetch">
<link rel="preconnect" href="http://{trap}"><link rel="dns-prefetch" href="//{trap}">
<link rel="icon" href="http://{trap}/icon">
<link rel="modulepreload" href="http://{trap}/module"><link rel="manifest" href="http://{trap}/manifest">
<style>@import "http://{trap}/import"; body {{ background: url(http://{trap}/style) }}</style>
<p style="background: url(http://{trap}/inline); list-style-image: url(http://{trap}/list)">x</p>
<svg><image href="http://{trap}/svg"/>
<use href="http://{trap}/use#x"/><feImage href="http://{trap}/fe"/></svg>
<a href="http://{trap}/ping" ping="http://{trap}/pinged">a</a> <base href="http://{trap}/">
<meta http-equiv="refresh" content="0;url=http://{trap}/refresh"><form action="http://{trap}/form"></form>
<script src="http://{trap}/script"></script>
<script type="speculationrules">{{"prefetch": [{{"urls": ["http://{trap}/rules"]}}]}}</script>
<table background="http://{trap}/table">
<tr><td background="http://{trap}/td">x</td></tr></table>
<input type="image" src="http://{trap}/input"><track src="http://{trap}/track">
<math href="http://{trap}/math">x</math>
<template shadowrootmode="open"><img src="http://{trap}/shadow"></template>
<noscript><img src="http://{trap}/ns"></noscript>

| ![cell](http://{trap}/cell.png) | [c](http://{trap}/c) |
|---|---|
| ![x](http://{trap}/x.png) | <img src="http://{trap}/y"> |

- [ ] ![todo](http://{trap}/todo.png)

```css
@import url(http://{trap}/code);
```

```html
<img src="http://{trap}/highlighted">
```

> ![quote](http://{trap}/quote.png)

[r]: http://{trap}/ref.png
"""

SHOWING = """/**
 * @agent b.shows
 * @version 1.0.0
 * @command show onShow
 */
const TEXT = %s;
export function onShow(args, store, studio) {
  store.text = TEXT;
  studio.log(TEXT);
  studio.toast(TEXT);
  return TEXT;
}
"""


def test_no_text_of_anybody_makes_the_browser_ask_before_a_click(
    page: Page, player_url: str, provider: ModelProvider, trap: Trap, tmp_path: Path
) -> None:
    bad = REACHING.format(trap=trap.host)
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as archive:
        config = {"name": f"B <img src=http://{trap.host}/name>", "agents": ["b.shows"]}
        archive.writestr("config.json", json.dumps(config))
        for name in ("instructions", "description", "intro"):
            archive.writestr(f"{name}.txt", bad)
        archive.writestr("agents/b.shows.js", SHOWING % json.dumps(bad))
    app = AppPage(page, player_url).open().open_file(path)
    expect(app.by("composer")).to_be_editable(timeout=READY)
    app.use_provider(provider.base_url)
    pieces = [chunk({"content": bad[at : at + 97]}) for at in range(0, len(bad), 97)]
    provider.script(stream(*pieces, chunk({}, "stop"), DONE))
    app.say(bad).answered("auto")
    page.locator('[data-action="open-palette"]').click()
    page.get_by_role("combobox", name="Find a command").press("Enter")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(app.by("toast")).to_be_visible(timeout=READY)
    expect(page.locator(".palette-problem")).to_contain_text(trap.host)
    page.keyboard.press("Escape")
    page.locator("#inspector-toggle").click()
    page.locator(".agent summary").first.click()
    for message in app.messages().all():
        for link in message.locator("a").all():
            link.hover()
    page.mouse.move(0, 0)
    page.wait_for_timeout(1_500)
    assert trap.heard == []
    app.page.get_by_role("button", name="Show picture from").first.click()
    for _ in range(50):
        if trap.heard:
            break
        page.wait_for_timeout(100)
    assert trap.heard, "the trap hears what is asked for with a click"


BLOCKS = (
    "# Head **b**", "Para *em* and `c`.\nsecond line", "- a\n- b\n  - c\n- d", "1. x\n2. y\n\n3. z",
    "```js\nlet a = 1;\n\n```", "~~~\nplain\n~~~", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | **4** |",
    "> quote\n> more\nlazy", "> - q1\n> - q2\n>\n> ```\n> code\n> ```", "---", "<b>raw</b> text",
    "[l](https://e.example) ![i](https://e.example/i.png)", "- item\n\n  ```py\n  x\n  ```\n- next",
    "Setext\n===", "    indented\n    more", "- [ ] todo\n- [x] done", "a **un closed", "| pipe",
)  # fmt: skip


def test_how_a_text_was_cut_does_not_show(app: AppPage) -> None:
    texts = []
    for seed in range(60):
        dice = random.Random(seed)
        blocks = 40 if seed % 10 == 0 else dice.randint(1, 7)
        text = "\n\n".join(dice.choice(BLOCKS) for _ in range(blocks))
        cuts, at = [], 0
        while at < len(text):
            size = dice.choice((1, 2, 3, 7, 20, 100))
            cuts.append(text[at : at + size])
            at += size
        texts.append(cuts)
    different = app.page.evaluate(
        """async (texts) => {
            const render = await globalThis["personae.host"].load("render");
            const plain = (element) => {
                for (const code of element.querySelectorAll("code")) code.textContent += "";
                const html = element.innerHTML.replace(/<\\/?p>/g, " ").replace(/\\s+/g, " ");
                return html.replace(/ ?([<>]) ?/g, "$1").trim();
            };
            const found = [];
            for (const cuts of texts) {
                const whole = document.createElement("div");
                const pieces = document.createElement("div");
                render.openStream(whole).end(cuts.join(""));
                const stream = render.openStream(pieces);
                for (const cut of cuts) stream.push(cut);
                stream.end();
                if (plain(whole) !== plain(pieces))
                    found.push([cuts.join(""), plain(whole), plain(pieces)]);
            }
            return found;
        }""",
        texts,
    )
    assert different == []
