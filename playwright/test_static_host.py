"""The static bundle on an ordinary web server, below a path: it plays, and its sandbox is whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from app_page import AppPage
from personae_server.build import build
from personae_server.settings import STATIC
from playwright.sync_api import Page

from tests.server.nginx import needs_nginx, nginx
from tests.server.recipes import recipes

pytestmark = needs_nginx


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("host")
    build(STATIC, folder / "out")
    recipe = recipes("nginx")[0].replace("/srv/personae/", f"{folder / 'out'}/")
    with nginx(folder, recipe) as url:
        yield f"{url}/play"


def test_the_sample_plays_from_a_sub_path(page: Page, site: str, console: list[str]) -> None:
    app = AppPage(page, site).open().open_sample()
    app.say('call roll_dice {"sides": 20}')
    app.answered("1d20:")
    assert console == []


def test_the_frame_is_an_opaque_origin_even_on_its_own(page: Page, site: str) -> None:
    """Opened directly, outside any iframe: the host's header makes it opaque all the same."""
    (frame,) = STATIC.glob("assets/*/frame.html")
    page.goto(f"{site}/{frame.relative_to(STATIC).as_posix()}")
    assert page.evaluate("self.origin") == "null"
