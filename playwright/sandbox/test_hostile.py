"""Agents that do not end, do not fit, or flood: each is stopped alone, and named.

The same attacks run in every language. While one goes on, another agent answers; after it, the
attacker's next call works.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "hostile"
# JavaScript is TypeScript too: the same attacks go through the type stripper.
SOURCES = {"javascript": "js", "typescript": "js", "python": "py", "lua": "lua"}

DEADLINE = 600
"""Milliseconds: shorter than the player's own, which the process tests check."""

LIMITS = {"agent_memory", "agent_too_large", "agent_threw"}

# Attack -> how it may end.
ENDS: dict[str, set[str]] = {
    "loop": {"agent_deadline"},
    "asyncLoop": {"agent_deadline"},
    "pattern": {"agent_deadline"},
    "sleep": {"agent_deadline"},
    "allocate": {"agent_memory", "agent_threw"},
    "grow": {"agent_memory"},
    "hugeResult": {"agent_memory", "agent_too_large"},
    "hugeStore": {"agent_memory", "agent_too_large"},
    "recurse": {"agent_threw", "agent_memory", "agent_crashed"},
}
PATIENT = {"allocate", "grow", "hugeResult", "hugeStore", "recurse"}
"""Attacks that end by themselves; they get the time that needs on a busy machine."""

HANDLERS = [*ENDS, "floodLog", "floodRequests", "tamper", "look", "escape", "ping"]


@pytest.fixture(scope="module", params=SOURCES)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def attacker(language: str, drive: Any) -> Any:
    for name in (f"{language}.attacker", f"{language}.other"):
        _load(drive, name, language)
    _load(drive, "bystander", "javascript")
    yield f"{language}.attacker"
    for name in (f"{language}.attacker", f"{language}.other", "bystander"):
        drive("close", {"id": name})


def _load(drive: Any, name: str, language: str) -> None:
    source = (FOLDER / f"attacks.{SOURCES[language]}").read_text(encoding="utf-8")
    handlers = [name for name in HANDLERS if name != "sleep" or language == "python"]
    spec = {"id": name, "language": language, "source": source, "handlers": handlers}
    assert "ping" in drive("load", {**spec, "apis": ["studio.history"]})["exports"]


def call(drive: Any, agent: str, function: str, **extra: Any) -> dict[str, Any]:
    call = {"id": agent, "function": function, "arguments": [""], "verbatim": True, **extra}
    answer: dict[str, Any] = drive("call", call)
    return answer


def attack(drive: Any, agent: str, function: str, deadline: int | None) -> dict[str, Any]:
    bystander = {"id": "bystander", "function": "ping", "verbatim": True}
    spec = {"function": function, "arguments": [""], "verbatim": True, "deadline": deadline}
    seen: dict[str, Any] = drive("attack", {"id": agent, "bystander": bystander, **spec})
    assert seen["meanwhile"]["value"] == "pong"
    assert seen["next"]["value"] == "pong"
    return seen


@pytest.mark.parametrize("function", ENDS)
def test_an_attack_is_stopped_alone(
    function: str, language: str, attacker: str, drive: Any
) -> None:
    if function == "sleep" and language != "python":
        return  # only Python can sleep
    if language == "typescript" and function not in ("loop", "recurse"):
        return  # the interpreter is JavaScript's; that it is the same one, two attacks show
    seen = attack(drive, attacker, function, None if function in PATIENT else DEADLINE)
    outcome = seen["outcome"]
    assert outcome["code"] in ENDS[function], outcome
    assert attacker in outcome["message"]
    assert outcome["detail"] == {**outcome["detail"], "agentId": attacker, "function": function}


def test_a_flood_of_lines_is_bounded(attacker: str, drive: Any) -> None:
    outcome = attack(drive, attacker, "floodLog", None)["outcome"]
    assert outcome["value"] == "done"
    assert len(outcome["notices"]) == 201
    assert outcome["notices"][-1][2] == "49800 more messages of this call were dropped"


def test_a_flood_of_requests_is_bounded(attacker: str, drive: Any) -> None:
    assert attack(drive, attacker, "floodRequests", None)["outcome"]["value"] == "refused 19968"


def test_the_page_stays_responsive(attacker: str, drive: Any) -> None:
    # On a busy machine a task may be long for reasons of others: the best of a few runs counts.
    for function in ("loop", "floodLog", "floodRequests"):
        runs = (attack(drive, attacker, function, DEADLINE)["longest"] for _ in range(20))
        assert any(longest <= 50 for longest in runs), function


def test_tampering_stays_with_the_one_who_tampers(language: str, attacker: str, drive: Any) -> None:
    before = call(drive, f"{language}.other", "look")
    call(drive, attacker, "tamper")
    assert call(drive, f"{language}.other", "look") == {
        **before,
        "duration": pytest.approx(0, abs=1e9),
    }
    call(drive, attacker, "loop", deadline=50)  # ends the worker, so the next one is fresh
    assert call(drive, attacker, "look")["value"] == before["value"]


def test_nothing_leads_outside(
    language: str, attacker: str, drive: Any, origin: str, leaks: list[str]
) -> None:
    answer = call(drive, attacker, "escape", arguments=[f"{origin}/leak"])
    assert answer == {**answer, "value": ""}
    assert leaks == []
