"""Agents that hang, throw and flood, wherever they are called: the conversation goes on.

The page's clock is a virtual one, so that deadlines cost no time.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from app_page import AppPage
from faults.world import HERE, NAME, moody, skip
from playwright.sync_api import Browser, Locator, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, json_body, reply_json, says

CALL = {"id": "i1", "type": "function"} | {
    "function": {"name": "harm", "arguments": '{"how": "swallow"}'}
}
INNER = json_body(
    {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
                "finish_reason": "tool_calls",
            }
        ]
    }
)
SCHOLAR = """---
name: scholar
description: Asks others.
shared-agents: [test.hostile]
---
Answer the question."""


@pytest.fixture(scope="module")
def living(
    browser: Browser,
    player_url: str,
    running_provider: ModelProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[AppPage]:
    context = browser.new_context()
    context.add_init_script(path=HERE / "clock.js")
    app = AppPage(context.new_page(), player_url).open()
    folder = tmp_path_factory.mktemp("package")
    hostile = HERE / "agents" / "test.hostile.js"
    path = moody(folder, hostile, **{"scholar.subagent.md": SCHOLAR})
    app.open_file(path).talks_to(NAME)
    yield app.use_provider(running_provider.base_url, key="")
    context.close()


@pytest.fixture
def app(living: AppPage, provider: ModelProvider) -> AppPage:
    living.by("new-conversation").first.click()
    expect(living.messages("user")).to_have_count(0)
    return living


def until(app: AppPage, seen: Locator) -> None:
    """Lets deadlines pass until something is seen."""
    for _ in range(60):
        if seen.count():
            return
        skip(app, 10_000)
        app.page.wait_for_timeout(100)
    expect(seen).to_be_visible()


def next_works(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": ""})), says("All is well."))
    app.say("And now?")
    until(app, app.messages().filter(has_text="All is well."))
    app.answered("All is well.")
    assert provider.last_messages()[-1]["content"].startswith("did ")


def test_a_tool_that_loops_is_ended_and_the_model_is_told(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(calls(("act", {"how": "loop call"})), says("It hung."))
    app.say("Loop")
    provider.wait_for_chats(1)
    until(app, app.messages().filter(has_text="It hung."))
    result = provider.last_messages()[-1]["content"]
    assert "test.moody" in result
    assert "took longer" in result
    next_works(app, provider)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("how", ["loop", "throw"])
def test_a_hook_that_fails_is_told_and_the_answer_comes(
    app: AppPage, provider: ModelProvider, how: str, place: str
) -> None:
    provider.script(says("Here."))
    app.say(f"{how} {place}")
    until(app, app.messages().filter(has_text="Here."))
    until(app, app.by("error-banner").filter(has_text="test.moody"))
    next_works(app, provider)


def test_preload_that_loops(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": "loop load"})), says("Acted."))
    app.say("Act")
    until(app, app.messages().filter(has_text="Acted."))
    until(app, app.by("error-banner").filter(has_text="test.moody"))
    provider.script(says("And on."))
    app.say("On")
    until(app, app.messages().filter(has_text="And on."))


def test_a_granted_agent_that_loops_in_a_sub_agents_inner_loop(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(
        calls(("scholar", {"question": "Who?"})),
        INNER,
        reply_json("Nobody answered."),
        says("Nobody."),
    )
    app.say("Ask")
    provider.wait_for_chats(2)
    until(app, app.messages().filter(has_text="Nobody."))
    told = [m for m in provider.chats[2].body["messages"] if m["role"] == "tool"]
    assert "test.hostile" in told[-1]["content"]
    assert "took longer" in told[-1]["content"]
    next_works(app, provider)


@pytest.mark.parametrize(
    "how", ["flood", "swallow", "memory", "deep", "cycle", "surrogate", "huge"]
)
def test_harm_ends_with_the_call_and_the_answer_comes(
    app: AppPage, provider: ModelProvider, how: str
) -> None:
    provider.script(calls(("harm", {"how": how})), says("Survived."))
    app.say(f"Harm by {how}")
    provider.wait_for_chats(1)
    until(app, app.messages().filter(has_text="Survived."))
    assert provider.last_messages()[-1]["role"] == "tool"
    app.page.title()  # the page answers
    next_works(app, provider)
