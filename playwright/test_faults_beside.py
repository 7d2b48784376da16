"""Agents that misbehave while a reply streams: it goes on arriving, and Stop works.

Two ways lead there: the hooks of a conversation go on after it was left, and an agent that has
answered its tool call can go on while the model speaks again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.living import begin
from faults.world import HERE, moody, until
from playwright.sync_api import expect

from tests.provider.server import ModelProvider
from tests.provider.turns import DONE, Pause, Stall, Turn, calls, chunk, reply_json, says, stream


@pytest.fixture(scope="module")
def living_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    patient = folder / "test.hostile.js"
    source = (HERE / "agents" / patient.name).read_text()
    # One that may ask the model has two minutes, so that nothing has to hurry here.
    patient.write_text(source.replace("@api", "@api studio.model\n * @api", 1))
    return moody(folder, patient)


@pytest.fixture(scope="module")
def living_scripts() -> tuple[str, ...]:
    return ("growth.js",)


def slowly() -> Turn:
    """A reply that is still arriving when everything about it has been looked at."""
    words = [step for n in range(5_000) for step in (chunk({"content": f"word {n} "}), Pause(0.05))]
    return stream(*words, chunk(finish="stop"), DONE)


def held() -> Turn:
    """A whole reply that comes when the provider is released."""
    whole = reply_json("Go.")
    return replace(whole, steps=[Stall(), *whole.steps])


def goes_on_arriving(app: AppPage) -> None:
    expect(app.messages().last).to_contain_text("word 1", timeout=READY)
    app.page.evaluate("growth.watch()")
    app.page.wait_for_function("growth.steps >= 10", timeout=READY)


def stops(app: AppPage, provider: ModelProvider) -> None:
    app.by("stop").click()
    expect(app.messages().last).to_contain_text("Stopped", timeout=READY)
    provider.wait_until_left()


@pytest.mark.parametrize("how", ["loop", "flood", "swallow", "requests", "memory"])
def test_a_hook_of_a_conversation_that_was_left(
    app: AppPage, provider: ModelProvider, how: str
) -> None:
    provider.script(slowly(), held(), slowly())
    app.say(f"harm after by {how} when let go")
    expect(app.messages().last).to_contain_text("word 1")
    begin(app)
    provider.wait_for_chats(2)  # the hook's own
    app.say("And here?")
    goes_on_arriving(app)
    failed = app.by("error-banner").filter(has_text="test.hostile")
    expect(failed).to_have_count(0)
    provider.release()
    expect(app.by("toast").filter(has_text="at it")).to_be_visible()
    goes_on_arriving(app)
    if how == "memory":  # which is soon used up
        expect(failed).to_be_visible()
    else:
        expect(failed).to_have_count(0)  # it is still at it
    stops(app, provider)
    until(app, failed.count)
    provider.script(says("All is well."))
    app.say("And now?").answered("All is well.")


@pytest.mark.parametrize("how", ["linger", "babble"])
def test_an_agent_that_goes_on_after_its_answer(
    app: AppPage, provider: ModelProvider, how: str
) -> None:
    provider.script(calls(("harm", {"how": how})), slowly())
    app.say("Go on")
    goes_on_arriving(app)
    assert provider.last_messages()[-1]["content"] == "answered"
    stops(app, provider)
    until(app, lambda: app.by("send").is_visible() and not app.page.locator("#status").inner_text())
    provider.script(calls(("harm", {"how": "surrogate"})), says("All is well."))
    app.say("And now?").answered("All is well.")


def test_what_is_said_while_agents_take_note(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("Fine."))
    app.say("harm after by loop").answered("Fine.")
    expect(app.page.locator("#status")).to_contain_text("taking note")
    app.by("composer").press_sequentially("And here?")
    app.by("composer").press("Enter")
    expect(app.page.locator("#outgoing")).to_have_text("And here?")
    app.by("stop").click()
    expect(app.by("send")).to_be_visible(timeout=READY)
    expect(app.messages("user").last).to_contain_text("And here?")
    assert len(provider.chats) == 1, "it was stopped before it was sent"
    provider.script(says("All is well."))
    app.say("And now?").answered("All is well.")
    asked = [message["content"] for message in provider.last_messages()[1:]]
    assert asked == ["harm after by loop", "Fine.", "And here?", "And now?"]
