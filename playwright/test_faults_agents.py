"""Agents that hang, throw and flood, wherever they are called: the conversation goes on.

The page's clock is a virtual one, so that deadlines cost no time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.world import HERE, moody, until
from playwright.sync_api import Locator, expect

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
def living_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    hostile = HERE / "agents" / "test.hostile.js"
    folder = tmp_path_factory.mktemp("package")
    return moody(folder, hostile, **{"scholar.subagent.md": SCHOLAR})


def next_works(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": ""})), says("All is well."))
    app.say("And now?").answered("All is well.")
    assert provider.last_messages()[-1]["content"].startswith("did ")


def failed(app: AppPage) -> Locator:
    return app.by("error-banner").filter(has_text="test.moody")


def test_a_tool_that_loops_is_ended_and_the_model_is_told(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(calls(("act", {"how": "loop call"})), says("It hung."))
    app.say("Loop")
    provider.wait_for_chats(1)
    until(app, lambda: len(provider.chats) == 2)
    app.answered("It hung.")
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
    if place == "after":
        expect(app.messages().last).to_contain_text("Here.", timeout=READY)
    until(app, failed(app).count)
    app.answered("Here.")
    next_works(app, provider)


def test_preload_that_loops(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": "loop load"})), says("Acted."))
    app.say("Act")
    expect(app.messages().last).to_contain_text("Acted.", timeout=READY)
    until(app, failed(app).count)
    provider.script(says("And on."))
    app.say("On")
    until(app, app.messages().filter(has_text="And on.").count)


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
    until(app, lambda: len(provider.chats) > 2)
    app.answered("Nobody.")
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
    if how in ("flood", "swallow"):
        provider.wait_for_chats(1)
        until(app, lambda: len(provider.chats) == 2)
    app.answered("Survived.")
    assert provider.last_messages()[-1]["role"] == "tool"
    app.page.title()  # the page answers
    next_works(app, provider)


def test_the_panel_says_failed_and_unfolds_the_stack(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("Here."))
    app.say("throw after")
    until(app, failed(app).count)
    app.answered("Here.")
    app.page.locator("#inspector-toggle").click()
    card = app.by("agent-panel").locator('.agent[data-id="test.moody"]')
    expect(card.locator(".agent-state")).to_have_text("failed")
    card.locator("summary").first.click()
    line = card.locator(".log-line").filter(has_text="thrown after").last
    expect(line).to_contain_text("(agents/test.moody.js, line 22): Error: thrown after")
    stack = line.locator(".log-stack")
    expect(stack.locator("pre")).to_be_hidden()
    stack.locator("summary").click()
    expect(stack.locator("pre")).to_contain_text("at perhaps (agents/test.moody.js:22:")
    next_works(app, provider)
    expect(card.locator(".agent-state")).to_have_text("awake", timeout=READY)
    expect(card.locator(".log-stack[open]")).to_have_count(1)
    app.page.locator("#inspector-toggle").click()
