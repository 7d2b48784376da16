"""What providers and networks do wrong, in one tab: each is said, and the next message works.

The page's clock is a virtual one, so that waits for silence and retries cost no time.
"""

from __future__ import annotations

import pytest
from app_page import READY, AppPage
from faults.world import eventually, skip, until
from playwright.sync_api import expect

from tests.provider.server import ModelProvider
from tests.provider.turns import (
    KEEP_ALIVE,
    Pause,
    Reset,
    Stall,
    Turn,
    calls,
    chunk,
    error,
    event,
    json_body,
    page,
    reply_json,
    says,
    stream,
)


def hurried(app: AppPage, text: str) -> None:
    """Waits until a banner says ``text``; the pauses between tries take no time."""
    banner, status = app.by("error-banner").filter(has_text=text), app.page.locator("#status")

    def said() -> bool:
        if "Trying again" in status.inner_text():
            skip(app, 60_000)
            app.page.wait_for_timeout(100)
        return banner.count() > 0

    eventually(app.page, said)


def next_works(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("All is well."))
    app.say("And now?").answered("All is well.")
    expect(app.by("error-banner")).to_have_count(0)


HALF = {"index": 0, "id": "c1", "function": {"name": "act", "arguments": '{"how": "'}}
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
OVERLOADED = event({"error": {"message": "Overloaded"}})
LATER = {"retry-after": "soon, -5"}
REFUSALS: dict[str, tuple[Turn, str]] = {
    "error after text": (stream(chunk({"content": "So "}), OVERLOADED), "Overloaded"),
    "reset after text": (stream(chunk({"content": "So "}), Pause(0.3), Reset()), "broke"),
    "content filter": (stream(chunk({}, "content_filter")), "content filter"),
    "web page": (page("Sign in to the hotel"), "Sign in to the hotel"),
    "wrong type": (json_body(["no", "reply"]), "base URL"),
    "not JSON": (Turn([b"gibberish"], 200, {"content-type": "text/plain"}), "base URL"),
    "empty reply": (stream(chunk({}, "stop")), "nothing"),
    "reset at once": (stream(Reset()), "broke"),
    "odd Retry-After": (error(429, "Slow down", headers=LATER), "Slow down"),
    "server error": (error(503, "Maintenance"), "Maintenance"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_failure_is_said_and_the_next_message_works(
    app: AppPage, provider: ModelProvider, kind: str
) -> None:
    turn, said = REFUSALS[kind]
    provider.always(turn)
    app.say(f"Try {kind}")
    hurried(app, said)
    next_works(app, provider)


def test_half_a_call_is_noted_and_not_run(app: AppPage, provider: ModelProvider) -> None:
    provider.script(stream(chunk({"tool_calls": [HALF]}), chunk({}, "length")))
    app.say("Half")
    expect(app.by("audit-entry").last).to_contain_text("Cut off", timeout=READY)
    expect(app.by("tool-call")).to_have_count(0)
    next_works(app, provider)


def test_a_stall_is_a_visible_wait_with_stop_and_then_retry(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(stream(chunk({"content": "So "}), KEEP_ALIVE, Stall()))
    app.say("Wait")
    expect(app.messages().last).to_contain_text("So")
    skip(app, 61_000)
    expect(app.page.get_by_text("60 s")).to_be_visible(timeout=READY)
    app.by("stop").click()
    expect(app.messages().last).to_contain_text("Stopped")
    provider.script(stream(Stall()))
    app.say("Wait longer")
    provider.wait_for_chats(2)
    until(app, app.by("error-banner").filter(has_text="sent nothing for").count)
    provider.script(says("Here I am."))
    app.page.get_by_role("button", name="Try again").click()
    app.answered("Here I am.")
    next_works(app, provider)


def test_a_retry_is_shown_and_can_be_stopped(app: AppPage, provider: ModelProvider) -> None:
    provider.script(error(429, "Slow down", headers={"retry-after": "60"}))
    app.say("Hurry")
    expect(app.page.get_by_text("60 s")).to_be_visible(timeout=READY)
    app.by("stop").click()
    next_works(app, provider)


def test_a_hundred_calls_at_once_and_ten_megabytes_of_arguments(
    app: AppPage, provider: ModelProvider
) -> None:
    function = {"name": "act", "arguments": ""}
    spaces = {"index": 0, "function": {"arguments": " " * 2**20}}
    end = {"index": 0, "function": {"arguments": "{}"}}
    provider.script(
        calls(*[("act", {"how": ""})] * 100, ids=["same"] * 100),
        stream(
            chunk({"tool_calls": [{"index": 0, "id": "same", "function": function}]}),
            *[chunk({"tool_calls": [spaces]})] * 10,
            chunk({"tool_calls": [end]}, "tool_calls"),
        ),
        says("Counted."),
    )
    app.say("Many").answered("Counted.")
    sent = provider.last_messages()
    ids = [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert len(ids) == len(set(ids)) == 101
    assert {len(message["content"]) > 0 for message in sent if message["role"] == "tool"} == {True}
    next_works(app, provider)


def test_reasoning_is_sent_back_with_its_round(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": ""}), reasoning="I must act."), says("Acted."))
    app.say("Act").answered("Acted.")
    [asked] = [m for m in provider.last_messages() if m.get("tool_calls")]
    assert asked["reasoning_content"] == "I must act."
    provider.script(reply_json("Whole, though a stream was asked for."))
    app.say("Whole?").answered("Whole, though")
    next_works(app, provider)


@pytest.mark.parametrize(
    ("turn", "mark"),
    [
        (stream(chunk({"content": "Once upon"}, "MAX_TOKENS")), "limit of its length"),
        (stream(chunk({"content": "Once upon"})).without_end(), "ended early"),
    ],
)
def test_an_answer_that_is_cut_off_says_so_and_goes_on(
    app: AppPage, provider: ModelProvider, turn: Turn, mark: str
) -> None:
    provider.script(turn, says(" a time."))
    app.say("Tell me")
    expect(app.messages().last).to_contain_text(mark, timeout=READY)
    app.messages().last.get_by_role("button", name="Continue").click()
    app.answered("a time.")
    next_works(app, provider)


def test_a_picture_in_a_reply_is_shown(app: AppPage, provider: ModelProvider) -> None:
    image = {"type": "image_url", "image_url": {"url": PICTURE}}
    provider.script(stream(chunk({"content": "", "images": [image]}), chunk({}, "stop")))
    app.say("Draw")
    expect(app.messages().last.locator("img")).to_have_attribute("src", PICTURE, timeout=READY)
    next_works(app, provider)


def test_offline_says_so_and_goes_on(app: AppPage, provider: ModelProvider) -> None:
    app.page.context.set_offline(True)
    app.say("Anyone?")
    hurried(app, "offline")
    app.page.context.set_offline(False)
    next_works(app, provider)


def test_a_host_without_an_address(app: AppPage, provider: ModelProvider) -> None:
    app.use_provider("http://nowhere.invalid/v1", key="")
    app.say("Anyone?")
    hurried(app, "nowhere.invalid")
    app.use_provider(provider.base_url, key="")
    next_works(app, provider)
