"""The start screen: the library, what the host offers, and the ways to bring a character."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import js
from pyodide.ffi import JsException

from personae.bounded_json import load_json
from personae.browser.convert import bytes_from_js
from personae.errors import PackageError
from personae.package.identity import FOLDER
from personae.ui import formats
from personae.ui.dom.elements import by_id, clone, fill, part, show
from personae.ui.dom.monogram import paint_monogram
from personae.ui.dom.templates import load_templates
from personae.ui.notices.advice import problem_lines

Rows = list[dict[str, Any]]
"""The library's records, as ``Library.list`` gives them."""
PATIENCE = 1.5
"""Seconds the start screen waits for offers, so that nothing moves when they come."""


class StartScreen:
    """Draws into ``#start``; what is chosen goes through the dispatcher to the app."""

    def __init__(self, host: dict[str, Any], now: Callable[[], int]) -> None:
        self._host, self._now = host, now
        self._box = by_id("start")
        self._offers: list[dict[str, Any]] = []
        self._loading: asyncio.Task[None] | None = None

    async def show(
        self, library: Callable[[], Awaitable[Rows]], appear: Callable[[], None]
    ) -> None:
        """Draws everything at once; only offers that are late come in afterwards."""
        await load_templates("start")
        if not self._box.childElementCount:
            self._box.appendChild(clone("start"))
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load_offers())
        await asyncio.wait([self._loading], timeout=PATIENCE)
        self.draw_library(await library())
        appear()
        if not self._loading.done():
            await self._loading
            self.draw_library(await library())

    def draw_library(self, rows: Rows) -> None:
        self._draw("library", [self._library_item(row) for row in rows])
        known = {row.get("source") for row in rows}
        offers = [offer for offer in self._offers if offer["url"] not in known]
        self._draw("offers", [_offer_item(offer) for offer in offers])
        show(part(self._box, "library-section"), bool(rows))
        show(part(self._box, "offer-section"), bool(offers))
        part(self._box, "offer-title").textContent = "Meet someone new" if rows else "Meet someone"

    def _draw(self, name: str, items: list[Any]) -> None:
        part(self._box, name).replaceChildren(*items)

    def _library_item(self, row: dict[str, Any]) -> Any:
        note = " · ".join(
            text for text in (source_label(row.get("source")), formats.size(row.get("size") or 0))
        )
        item = _card(str(row["name"]), str(row.get("description") or ""), note)
        item.dataset.id = row["id"]
        part(item, "more").setAttribute("aria-label", f"More for {row['name']}")
        return item

    async def _load_offers(self) -> None:
        """The sample character and what the host lists; quiet when there is nothing."""
        self._offers = [*await _sample(), *await _hosted(self._host)]

    def show_problems(self, error: PackageError | None) -> None:
        """Lists everything that is wrong with a package; None takes it away."""
        place = part(self._box, "problems-place")
        place.replaceChildren()
        if error is None:
            return
        lines = problem_lines(error)
        box = clone("problems")
        fill(
            box,
            title="This package cannot be played."
            if lines
            else "The character could not be opened.",
            lead="The author of the package can mend these:" if lines else error.message,
        )
        part(box, "list").replaceChildren(*[_problem(*line) for line in lines])
        place.appendChild(box)
        box.scrollIntoView(block="center")


def source_label(source: str | None) -> str:
    """Where a character came from, short: a host name, a folder, a file."""
    if source is None:
        return "From a file"
    if source.startswith(("http://", "https://")):
        return source.split("/")[2]
    return f"Folder {formats.one_line(source.removeprefix(FOLDER), 40)}"


def _card(name: str, description: str, note: str) -> Any:
    item = clone("library-item")
    fill(item, name=name, description=formats.one_line(description, 160), note=note)
    paint_monogram(part(item, "monogram"), name)
    return item


def _offer_item(offer: dict[str, Any]) -> Any:
    item = _card(
        str(offer["name"]), str(offer.get("description") or ""), str(offer.get("note") or "")
    )
    item.dataset.url = offer["url"]
    item.dataset.testid = "offer"
    part(item, "more").remove()
    return item


def _problem(place: str, text: str) -> Any:
    item = clone("problem")
    fill(item, file=place, text=text)
    show(part(item, "file"), bool(place))
    return item


async def _sample() -> list[dict[str, Any]]:
    """Our own character, from the package beside the page."""
    from personae.package.load import load_package_async

    url = js.URL.new("sample.zip", js.document.baseURI).href
    try:
        response = await js.fetch(url)
        package = await load_package_async(bytes_from_js(await response.arrayBuffer()))
    except (JsException, PackageError):
        return []  # a page without it makes no offer
    return [
        {
            "name": package.name,
            "description": package.description,
            "url": url,
            "note": "Comes with Personae",
        }
    ]


async def _hosted(host: dict[str, Any]) -> list[dict[str, Any]]:
    if not host.get("characters"):
        return []
    base = js.URL.new("characters/", js.document.baseURI)
    try:
        listed = load_json(await _get(base.href))
    except ValueError:
        return []
    found = listed.get("characters", []) if isinstance(listed, dict) else listed
    return [_hosted_offer(item, base) for item in found]


def _hosted_offer(item: Any, base: Any) -> dict[str, Any]:
    fact = {"name": item} if isinstance(item, str) else dict(item)
    address = fact.get("url") or f"{js.encodeURIComponent(fact['name'])}.zip"
    return {
        "name": str(fact.get("title") or fact["name"]),
        "description": fact.get("description", ""),
        "url": js.URL.new(address, base).href,
        "note": f"From {js.location.host}",
    }


async def _get(url: str) -> str:
    try:
        response = await js.fetch(url)
        return str(await response.text()) if response.ok else ""
    except JsException:
        return ""  # an offer that cannot be read is not made
