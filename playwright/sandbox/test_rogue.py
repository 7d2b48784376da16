"""An agent that escaped its interpreter: what the browser refuses, and what the page sees through.

The worker's script is a rogue here, behind the real frame. Everything it may still do is in
docs/security.md.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

LIES = {
    "unknown": "never sends",
    "page_message": "never sends",
    "wrong_call": "call 999",
    "wrong_state": "in state calling",
    "no_array": "no JSON",
    "strings": "no JSON",
    "huge": "no JSON",
    "sparse": "no JSON",
    "no_utf8": "no JSON",
    "store_no_object": "no object",
    "flood_notices": "flood of notices",
    "flood_requests": "flood of requests",
}


@pytest.fixture
def rogue(drive: Any) -> Any:
    spec = {"id": "rogue", "language": "javascript", "sandbox": "rogue/", "source": ""}
    assert "exports" in drive("load", {**spec, "apis": ["studio.history"]})
    yield lambda name, argument=None, **extra: drive(
        "call", {"id": "rogue", "function": "onToolCall", "arguments": [name, argument], **extra}
    )
    drive("close", {"id": "rogue"})


def test_the_browser_refuses_network_storage_and_code(
    rogue: Any, origin: str, leaks: list[str]
) -> None:
    answer = rogue("escape", f"{origin}/leak", deadline=100_000)
    assert json.loads(answer["value"]) == []
    assert leaks == []


def test_a_leak_would_be_seen(sandbox_page: Any, leaks: list[str]) -> None:
    attempt = "async () => { await fetch('leak'); new BroadcastChannel('leak').postMessage('x'); }"
    sandbox_page.evaluate(attempt)
    sandbox_page.wait_for_function("() => heard.length === 1", polling=20)
    assert leaks == ["/leak"]
    sandbox_page.evaluate("() => void (heard.length = 0)")


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_ends_the_worker(lie: str, rogue: Any) -> None:
    failure = rogue(lie)
    assert failure["code"] == "agent_protocol"
    assert LIES[lie] in failure["message"]


def test_a_forged_request_meets_the_same_gate(rogue: Any) -> None:
    answer = json.loads(rogue("undeclared")["value"])
    assert (answer["type"], answer["code"]) == ("refusal", "api_not_declared")


def test_an_error_outside_every_call_is_a_crash(rogue: Any) -> None:
    failure = rogue("thrown")
    assert failure["code"] == "agent_crashed"
    assert "on purpose" in failure["message"]


def test_a_worker_that_goes_away_meets_the_deadline(rogue: Any) -> None:
    assert rogue("closed", deadline=500)["code"] == "agent_deadline"
