"""The page's few helpers in JavaScript, by themselves."""

from __future__ import annotations

import pytest
from app_page import AppPage
from playwright.sync_api import Page

from tests.provider.server import ModelProvider

READER = """() => {
    const text = (bytes) => bytes && new TextDecoder().decode(bytes);
    const body = new ReadableStream({ start(controller) { globalThis.feed = controller; } });
    const next = globalThis["personae.host"].pieces(body);
    globalThis.next = async () => text(await next());
    globalThis.send = (word) => feed.enqueue(new TextEncoder().encode(word));
}"""


@pytest.fixture
def reader(page: Page, player_url: str) -> Page:
    AppPage(page, player_url).open()
    page.evaluate(READER)
    return page


def test_small_pieces_of_a_response_arrive_together_and_in_order(reader: Page) -> None:
    found = reader.evaluate(
        """async () => {
            send("first");
            const found = [await next()], more = next();
            for (const word of ["one ", "two ", "three"]) send(word);
            found.push(await more);
            const last = next();
            send("last");
            feed.close();
            return [...found, await last, await next() ?? "end", await next() ?? "end"];
        }"""
    )
    assert found == ["first", "one two three", "last", "end", "end"]


def test_what_came_before_a_broken_connection_is_handed_over_first(reader: Page) -> None:
    found = reader.evaluate(
        """async () => {
            send("first");
            const found = [await next()], more = next();
            send("half a sen");
            await null;
            feed.error(new Error("broken"));
            return [...found, await more, await next().catch((error) => error.message)];
        }"""
    )
    assert found == ["first", "half a sen", "broken"]


@pytest.mark.parametrize("host", ["player_url", "lan_url"])
def test_a_lock_that_is_given_back_can_be_had_at_once(
    page: Page, host: str, request: pytest.FixtureRequest
) -> None:
    AppPage(page, request.getfixturevalue(host)).open()
    had = page.evaluate(
        """async () => {
            const { tryLock } = globalThis["personae.host"];
            (await tryLock("x"))();
            (await tryLock("x"))();
            return [await tryLock("x"), await tryLock("x")].map(Boolean);
        }"""
    )
    assert had == [True, False]


def test_requests_to_a_model_do_not_pass_through_the_service_worker(
    page: Page, player_url: str, provider: ModelProvider
) -> None:
    AppPage(page, player_url).open()
    page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
    AppPage(page, player_url).open()
    routes = page.evaluate(
        """async (url) => {
            const seen = async (method) => {
                performance.clearResourceTimings();
                await (await fetch(url, { method })).text();
                return performance.getEntriesByName(url)[0].workerMatchedSourceType;
            };
            return [await seen("GET"), await seen("POST")];
        }""",
        f"{provider.base_url}/models",
    )
    assert routes == ["", "network"]
