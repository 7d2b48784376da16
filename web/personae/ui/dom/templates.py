"""Markup comes from ``templates/*.html``, fetched when it is first wanted."""

from __future__ import annotations

import asyncio

import js

from personae.ui.dom.elements import document

_loading: dict[str, asyncio.Task[None]] = {}


async def load_templates(name: str) -> None:
    """Fetches ``templates/{name}.html`` once and puts its templates into the page.

    Those that every start needs are in the page already.
    """
    if name in str(document.querySelector('meta[name="templates"]').content).split():
        return
    if name not in _loading:
        _loading[name] = asyncio.ensure_future(_fetch_templates(name))
    try:
        await asyncio.shield(_loading[name])
    except Exception:
        _loading.pop(name, None)
        raise


async def _fetch_templates(name: str) -> None:
    response = await js.fetch(f"templates/{name}.html")
    if not response.ok:
        raise RuntimeError(f"templates/{name}.html: HTTP {response.status}")
    parsed = js.DOMParser.new().parseFromString(await response.text(), "text/html")
    for template in list(parsed.querySelectorAll("template")):
        document.body.appendChild(document.adoptNode(template))
