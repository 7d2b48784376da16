"""Packages and links that cannot be played: each refusal names what and why, in one tab."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app_page import READY, AppPage
from faults.world import HERE, NAME, moody
from playwright.sync_api import Browser, Route, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import Pause, Reset, Stall, Turn, error, page

CONFIG = '{"name": "Odd", "agents": []}'


@pytest.fixture(scope="module")
def living(browser: Browser, player_url: str) -> Iterator[AppPage]:
    context = browser.new_context()
    context.add_init_script(path=HERE / "footprint.js")
    yield AppPage(context.new_page(), player_url).open()
    context.close()


@pytest.fixture
def app(living: AppPage, provider: ModelProvider) -> AppPage:
    return living


def zipped(*entries: tuple[str | zipfile.ZipInfo, Any], config: str = CONFIG) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", config)
        archive.writestr("instructions.txt", "Be odd.")
        for name, data in entries:
            archive.writestr(name, data)
    return target.getvalue()


def flagged() -> bytes:
    """One entry's general purpose flag says that it is encrypted."""
    data = bytearray(zipped(("notes.txt", "x")))
    local, central = data.rfind(b"PK\x03\x04"), data.rfind(b"PK\x01\x02")
    data[local + 6] |= 1
    data[central + 8] |= 1
    return bytes(data)


def deflate64() -> bytes:
    data = bytearray(zipped(("notes.txt", "x" * 100)))
    local, central = data.rfind(b"PK\x03\x04"), data.rfind(b"PK\x01\x02")
    data[local + 8 : local + 10] = data[central + 10 : central + 12] = struct.pack("<H", 9)
    return bytes(data)


def lying_bomb() -> bytes:
    """64 MiB of zeros whose directory says one byte."""
    data = bytearray(zipped(("context/bomb.txt", bytes(2**26))))
    central = data.rfind(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 1)
    return bytes(data)


def doubled() -> bytes:
    return zipped(("notes.txt", "x"), ("motes.txt", "y")).replace(b"motes.txt", b"notes.txt")


def linked() -> bytes:
    link = zipfile.ZipInfo("context/link.txt")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    return zipped((link, "/etc/passwd"))


def many() -> bytes:
    return zipped(*[(f"context/{number}.txt", "") for number in range(20_000)])


def million(announced: int) -> bytes:
    """A directory of a million entries, and how many it says there are."""
    record = struct.Struct("<4s6H3L5H2L")
    fields = (20, 20, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    head = record.pack(b"PK\x01\x02", *fields)
    directory = b"".join(b"%b%06d" % (head, number) for number in range(1_000_000))
    size = len(directory)
    end64 = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, announced, announced, size, 0
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    return directory + end64 + locator + end


REFUSED: dict[str, tuple[Callable[[], bytes], list[str]]] = {
    "no archive": (lambda: b"<html>Sign in</html>", ["zip"]),
    "encrypted": (flagged, ["notes.txt", "encrypted"]),
    "deflate64": (deflate64, ["notes.txt", "Deflate64"]),
    "a bomb that lies": (lying_bomb, ["context/bomb.txt"]),
    "climbing name": (lambda: zipped(("../up.txt", "x")), ["../up.txt"]),
    "drive name": (lambda: zipped(("C:\\up.txt", "x")), ["C:"]),
    "doubled name": (doubled, ["notes.txt"]),
    "symbolic link": (linked, ["context/link.txt"]),
    "too many files": (many, ["20,000"]),
    "a million entries": (lambda: million(1_000_000), ["20,000"]),
    "a million entries that are said to be ten": (lambda: million(10), ["20,000"]),
    "config of a wrong type": (
        lambda: zipped(config='{"name": 5, "agents": {}}'),
        ["config.json", "name", "agents"],
    ),
    "config with a comma": (lambda: zipped(config='{"name": "x",}'), ["config.json", "line 1"]),
    "header mismatch": (
        lambda: zipped(("notes.txt", "x")).replace(b"notes.txt", b"other.txt", 1),
        ["notes.txt"],
    ),
    "torn off": (lambda: zipped(("notes.txt", "x"))[:-30], ["zip"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_names_entry_and_reason(app: AppPage, tmp_path: Path, kind: str) -> None:
    make, words = REFUSED[kind]
    path = tmp_path / "odd.zip"
    path.write_bytes(make())
    before = app.page.evaluate("footprint.memory()")
    app.open_file(path)
    problems = app.by("error-banner").first
    expect(problems).to_be_visible(timeout=READY)
    for word in words:
        expect(problems).to_contain_text(word, ignore_case=True)
    grown = app.page.evaluate("footprint.memory()") - before
    assert grown < path.stat().st_size + 48 * 2**20


def test_a_good_package_opens_after_all_of_these(app: AppPage, tmp_path: Path) -> None:
    app.open_file(moody(tmp_path)).talks_to(NAME)
    app.page.locator("[data-action=show-start]").first.click()


LINKS: dict[str, tuple[Turn, list[str]]] = {
    "moved away": (error(404, "gone"), ["404", "moved"]),
    "gone for good": (error(410, "gone"), ["410", "moved"]),
    "captive portal": (page("Welcome to the hotel"), ["zip"]),
    "broken off": (Turn([b"PK\x03\x04", Pause(0.1), Reset()]), ["could not be loaded"]),
}


@pytest.mark.parametrize("kind", LINKS)
def test_a_link_says_what_is_wrong(app: AppPage, provider: ModelProvider, kind: str) -> None:
    turn, words = LINKS[kind]
    app.open_link(provider.serve("/odd.zip", turn))
    said(app, words)


POSE = "Your session has expired. Enter your key in Settings."


def test_what_a_strangers_server_says_is_no_sentence_of_ours(
    app: AppPage, provider: ModelProvider
) -> None:
    app.open_link(provider.serve("/odd.zip", error(404, POSE, code="package_expired")))
    said(app, ["odd.zip", "404", "moved"])
    expect(app.by("error-banner").first).not_to_contain_text("session")


def said(app: AppPage, words: list[str]) -> None:
    problems = app.by("error-banner").first
    for word in words:
        expect(problems).to_contain_text(word, ignore_case=True, timeout=READY)


def test_a_name_without_an_address(app: AppPage) -> None:
    app.open_link("http://nowhere.invalid/odd.zip")
    said(app, ["nowhere.invalid"])


def test_offline(app: AppPage, provider: ModelProvider) -> None:
    link = provider.serve("/odd.zip", zipped())
    app.page.context.set_offline(True)
    app.open_link(link)
    said(app, ["offline"])
    app.page.context.set_offline(False)


def test_the_proxy_is_down(app: AppPage, provider: ModelProvider) -> None:
    link = provider.serve("/closed.zip", zipped(), cors=False)

    def down(route: Route) -> None:
        route.abort("connectionrefused")

    app.page.route("**/proxy?**", down)
    app.open_link(link)
    said(app, ["closed.zip", "could not be loaded"])
    app.page.unroute("**/proxy?**", down)


def test_a_download_that_stands_still_can_be_given_up(
    app: AppPage, provider: ModelProvider
) -> None:
    app.open_link(provider.serve("/slow.zip", Turn([b"PK", Stall()])))
    app.page.get_by_role("button", name="Cancel").click()
    expect(app.page.locator("#loading")).to_be_hidden(timeout=READY)
