"""Storage fails in the ways browsers know: one calm banner, nothing lost, saving resumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_page import READY, AppPage
from earlier.saved import SCHEMA_1
from faults.talk import said, say, start, texts
from faults.world import NAME, exported, fault, inject, moody, no_banner, one_banner, stored
from playwright.sync_api import Browser, BrowserContext, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, says


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own with an empty storage."""
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return moody(tmp_path)


def test_a_full_disk_then_a_new_conversation_then_room_again(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider, tmp_path: Path
) -> None:
    """A full disk shows as an aborted transaction."""
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    fault(app.page, abort="QuotaExceededError")
    say(app, provider, "Two", "Second.")
    one_banner(app, "full", "in memory", "resumes by itself")
    provider.script(calls(("act", {"how": ""})), says("Third."))
    app.say("Three").answered("Third.")
    one_banner(app, "full")
    assert "Second." not in texts(app)
    contents = [entry["content"] for entry in exported(app, tmp_path)["entries"]]
    assert contents[:4] == ["One", "First.", "Two", "Second."]
    app.by("new-conversation").first.click()
    expect(app.messages("user")).to_have_count(0)
    say(app, provider, "Elsewhere", "Here.")
    app.by("conversation-list").locator(".conversation-open").filter(has_text="One").click()
    app.answered("Third.")
    expect(app.messages("user")).to_have_count(3)
    fault(app.page, abort="")
    say(app, provider, "Four", "Fourth.")
    no_banner(app)
    for answer in ("Second.", "Third.", "Here.", "Fourth."):
        assert answer in texts(app)
    app.reload().talks_to(NAME)
    expect(app.messages("user")).to_have_count(4)
    expect(app.by("tool-call")).to_have_count(1)


def test_aborts_and_failed_reads_and_a_lost_connection(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider
) -> None:
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    fault(app.page, abort="AbortError")
    say(app, provider, "Two", "Second.")
    one_banner(app, "in memory")
    fault(app.page, abort="")
    no_banner(app)  # by itself
    assert texts(app)[-1] == "Second."

    opened = app.page.evaluate("faults.connections")
    app.page.evaluate("faults.lose()")
    say(app, provider, "Three", "Third.")
    no_banner(app)
    assert texts(app)[-1] == "Third."
    assert app.page.evaluate("faults.connections") == opened + 1, "reopened once"

    fault(app.page, read="UnknownError")
    app.by("new-conversation").first.click()
    one_banner(app, "in memory")
    before = stored(app.page)
    say(app, provider, "Four", "Fourth.")
    assert stored(app.page) == before, "nothing is written while reads fail"
    fault(app.page, read="")
    no_banner(app)
    app.reload().talks_to(NAME)
    assert [text for text in texts(app) if "." in text] == [
        "First.", "Second.", "Third.", "Fourth.",
    ]  # fmt: skip


def test_reads_that_fail_from_the_start_write_nothing_until_they_work(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider
) -> None:
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    before = stored(app.page)
    context.add_init_script("faults.read = 'DataError'")
    app.open()
    one_banner(app, "in memory")
    app.open_file(path).talks_to(NAME)
    app.use_provider(provider.base_url, key="")
    say(app, provider, "Two", "Second.")
    one_banner(app, "in memory")
    assert stored(app.page) == before
    fault(app.page, read="")
    no_banner(app)
    after = stored(app.page)
    for table, records in before.items():
        assert records.items() <= {**after[table], **after["packages"]}.items() or table in (
            "packages",
            "settings",
        )
    assert texts(app)[-1] == "Second."
    app.by("conversation-list").locator(".conversation-open").filter(has_text="One").click()
    app.answered("First.")


def test_storage_that_is_refused_gives_a_session_in_memory(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider, tmp_path: Path
) -> None:
    app = start(context, player_url, path, provider, open="SecurityError")
    one_banner(app, "memory", "private mode")
    say(app, provider, "One", "First.")
    app.by("new-conversation").first.click()
    expect(app.messages("user")).to_have_count(0)
    say(app, provider, "Two", "Second.")
    app.by("conversation-list").locator(".conversation-open").filter(has_text="One").click()
    app.answered("First.")
    assert len(exported(app, tmp_path)["entries"]) == 2
    one_banner(app, "memory")


def test_a_character_that_could_not_be_kept_is_updated_from_its_link(
    context: BrowserContext, player_url: str, provider: ModelProvider, tmp_path: Path
) -> None:
    inject(context)
    link = provider.serve("/moody.zip", moody(tmp_path).read_bytes())
    app = AppPage(context.new_page(), player_url).open()
    fault(app.page, abort="QuotaExceededError")
    app.open_link(link).talks_to(NAME)
    assert stored(app.page)["packages"] == {}
    provider.serve("/moody.zip", moody(tmp_path, name="Moodier").read_bytes())
    app.page.locator("nav [data-action=show-start]").last.click()
    app.by("library-item").first.get_by_label(f"More for {NAME}").click()
    app.page.get_by_role("menuitem", name="Update from the link").click()
    expect(app.by("toast").filter(has_text="was updated.")).to_contain_text(
        "Changed: config.json.", timeout=READY
    )
    assert stored(app.page)["packages"] == {}


def test_an_old_tab_blocks_the_upgrade_until_it_closes(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider
) -> None:
    """A tab of an earlier version that does not let go."""
    inject(context)
    old = context.new_page()
    old.goto(f"{player_url}/pyscript.json")
    old.evaluate("tables => faults.hold(1, tables)", SCHEMA_1)
    app = AppPage(context.new_page(), player_url).open()
    one_banner(app, "Another tab", "older version", "close it")
    app.open_file(path).talks_to(NAME)
    app.use_provider(provider.base_url, key="")
    say(app, provider, "One", "First.")
    one_banner(app, "Another tab")
    old.close()
    no_banner(app)
    assert texts(app) == ["One", "First."]


def test_a_newer_tab_takes_over_and_this_one_goes_on_in_memory(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider, tmp_path: Path
) -> None:
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    newer = context.new_page()
    newer.goto(f"{player_url}/pyscript.json")
    newer.evaluate("faults.hold(3, ['later'])")
    one_banner(app, "newer version", "reload")
    before = stored(newer)
    say(app, provider, "Two", "Second.")
    one_banner(app, "newer version", "reload")
    assert stored(newer) == before, "a newer database is left alone"
    assert len(exported(app, tmp_path)["entries"]) == 4
    app.page.on("dialog", lambda dialog: dialog.accept())
    app.reload()  # the code is still the old one
    one_banner(app, "newer version")
    assert stored(newer) == before
    app.open_file(path).talks_to(NAME)


def test_damaged_records_are_left_alone_and_the_rest_works(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider
) -> None:
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    say(app, provider, "Two", "Second.")
    records = stored(app.page)
    head = next(iter(records["conversations"]))
    entries = list(records["entries"])
    damage: list[tuple[str, list[Any], Any]] = [
        ("entries", list(entries[0]), "{broken"),
        ("entries", list(entries[1]), {"not": "text"}),
        ("conversations", [head[0], "broken"], "[]"),
        ("conversations", [head[0], "number"], 5),
        ("packages", ["broken"], '{"id": "broken"}'),
        ("settings", ["api_key"], "{"),
        ("stores", [head[1], "test.moody"], "damaged"),
    ]
    app.page.evaluate("triples => faults.write(triples)", damage)
    app.reload().talks_to(NAME)
    expect(said(app)).to_have_text(["Two"])
    expect(app.messages()).to_have_count(1)
    app.use_provider(provider.base_url, key="")
    provider.script(calls(("act", {"how": ""})), says("Third."))
    app.say("Three").answered("Third.")
    assert "damaged" in provider.last_messages()[-1]["content"]
    after = app.page.evaluate("faults.dump()")
    for table, key, value in damage:
        if table != "settings":
            assert [key, value] in after[table]
    app.page.locator("[data-action=show-start]").first.click()
    expect(app.by("library-item")).to_have_count(1, timeout=READY)


def test_a_clock_that_goes_back(
    context: BrowserContext, player_url: str, path: Path, provider: ModelProvider
) -> None:
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    before = next(iter(stored(app.page)["conversations"].values()))["updatedAt"]
    fault(app.page, shift=-86_400_000)
    provider.script(calls(("act", {"how": ""})), says("Second."))
    app.say("Two").answered("Second.")
    head = next(iter(stored(app.page)["conversations"].values()))
    assert head["updatedAt"] == before
    assert head["lastToolCallId"] == 1
    app.reload().talks_to(NAME)
    expect(said(app)).to_have_text(["One", "Two"])
    no_banner(app)
