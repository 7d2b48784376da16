"""The contract, the same cases for four agents in four languages.

``contract/cases.json`` is the data; each case names the section of the reference it checks. The
agents beside it are written to one specification: a tool for everything a case needs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "contract"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
SUFFIXES = {"javascript": "js", "typescript": "ts", "python": "py", "lua": "lua"}
APIS = ["studio.history", "studio.context", "studio.model", "studio.grants", "studio.web"]
CONTEXT = {
    "invokedBy": "model",
    "conversationLength": 4,
    "characterName": "Aria",
    "agentId": "contract.suite",
    "config": {"contextFile": "cars.json"},
    "toolCallId": 17,
}


@pytest.fixture(scope="module", params=SUFFIXES)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def agents(language: str, drive: Any) -> Any:
    """Starts the language's agent twice: with every @api line, and with none."""
    path = FOLDER / f"agent.{SUFFIXES[language]}"
    spec = {
        "language": language,
        "path": f"agents/contract.suite.{SUFFIXES[language]}",
        "source": path.read_text(encoding="utf-8"),
        "handlers": ["memoryAdd", "onlyArgs", "notThere"],
    }
    for name, apis in (("full", APIS), ("bare", [])):
        agent_id = f"{language}.{name}"
        answer = drive("load", {**spec, "id": agent_id, "apis": apis})
        lacking = f"The manifest declares @command notThere, but {spec['path']} has no function"
        assert answer == {
            "exports": ["memoryAdd", "onAfterResponse", "onLoad", "onToolCall", "onlyArgs"],
            "notices": [[agent_id, "error", f"{lacking} notThere."]],
        }
    yield f"{language}."
    for name in ("full", "bare"):
        drive("close", {"id": f"{language}.{name}"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any], language: str, agents: str, drive: Any) -> None:
    if language in case.get("not", []):
        return  # the language has no such value
    answer = drive("call", {"id": agents + case.get("agent", "full"), **_call(case)})
    _check_outcome(case, answer)
    if "raised" in case:
        _check_error(case, language, answer)
    if "notices" in case:
        assert [notice[1:] for notice in answer["notices"]] == case["notices"]
    if "lines" in case:
        assert len(answer["notices"]) == case["lines"]
        assert answer["notices"][-1][2] == case["last"]


def _call(case: dict[str, Any]) -> dict[str, Any]:
    call: dict[str, Any] = {"store": case.get("store", {}), "context": CONTEXT}
    if "handler" in case:
        return {
            **call,
            "function": case["handler"],
            "arguments": case["arguments"],
            "verbatim": True,
        }
    if "function" in case:
        return {**call, "function": case["function"], "arguments": case.get("arguments", [])}
    tool, args = case.get("tool", "special"), case.get("args", {"kind": case.get("special")})
    return {**call, "function": "onToolCall", "arguments": [tool, args]}


def test_no_two_workers_roll_the_same_dice(language: str, agents: str, drive: Any) -> None:
    """They start together, and all but the first Python worker from one memory."""
    tools = ["roll", "roll_seeded"] if language == "lua" else ["roll"]
    calls = [
        {"store": {}, "context": CONTEXT, **_call({"tool": tool, "args": {}})} for tool in tools
    ]
    rolled = [
        drive("call", {"id": agents + agent, **call})["value"]
        for agent in ("full", "bare")
        for call in calls
    ]
    assert all(len(one.split()) == 8 for one in rolled)
    assert len(set(rolled)) == len(rolled)


def _check_error(case: dict[str, Any], language: str, answer: dict[str, Any]) -> None:
    """Type, what the model is told, and the place: the line that is marked in the agent."""
    detail = answer["detail"]
    expected = case["raised"]
    type_, told = expected["javascript" if language == "typescript" else language]
    file = FOLDER / f"agent.{SUFFIXES[language]}"
    lines = file.read_text(encoding="utf-8").splitlines()
    mark = f"raises {case['args']['how']}"
    (line,) = [number for number, text in enumerate(lines, 1) if mark in text]
    path = f"agents/contract.suite.{SUFFIXES[language]}"
    assert (detail["type"], detail["told"]) == (type_, told.replace("{line}", str(line)))
    assert (detail["file"], detail["line"]) == (path, line)
    assert path in detail["stack"] and "prelude" not in detail["stack"]


def _check_outcome(case: dict[str, Any], answer: dict[str, Any]) -> None:
    if "error" in case:
        assert answer["code"] == case["error"]
        assert case.get("thrown", "") in answer["detail"]["thrown"]
        return
    assert "code" not in answer, answer
    if "value" in case:
        assert answer["value"] == case["value"]
    if "json" in case:
        assert json.loads(answer["value"]) == case["json"]
    if "after" in case:
        assert (json.loads(answer["store"]) if answer["changed"] else None) == case["after"]
    if "text" in case:
        assert answer["store"] == case["text"]
    if "depth" in case:
        assert answer["store"].count("[") == case["depth"]
