"""The smaller run in Firefox ESR: the contract and the isolation proof, another engine's word.

Skipped where there is no Firefox: the test command installs it where it may.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import serving

HERE = Path(__file__).parent

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox here")

CASES: list[dict[str, Any]] = json.loads((HERE / "contract" / "cases.json").read_text("utf-8"))
SUFFIXES = {"javascript": "js", "typescript": "ts", "python": "py", "lua": "lua"}
ATTACKS = {"javascript": "js", "python": "py", "lua": "lua"}
# One case of each kind: values, store, bridge, refusal, special values.
CHOSEN = {
    "a value that is no text comes back as JSON",
    "the store is kept without saving",
    "a store that was only read is not sent back",
    "callModel",
    "a refusal can be caught",
    "too deep is refused",
}


@pytest.fixture(scope="module")
def firefox(origin: str) -> Iterator[Any]:
    """Like ``drive``, in Firefox."""
    script = str(HERE / "firefox.mjs")
    command = [serving.NODE, script, str(FIREFOX), origin, str(serving.MODULES)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout

    def run(name: str, value: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps([name, json.dumps(value)]) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(json.loads(process.stdout.readline()))
        return answer

    yield run
    process.stdin.close()
    process.wait(30)
    process.stdout.close()


@pytest.mark.parametrize("language", SUFFIXES)
def test_the_contract(language: str, firefox: Any) -> None:
    source = (HERE / "contract" / f"agent.{SUFFIXES[language]}").read_text("utf-8")
    apis = ["studio.history", "studio.context", "studio.model"]
    spec = {"id": language, "language": language, "source": source, "apis": apis}
    assert "exports" in firefox("load", spec)
    for case in [case for case in CASES if case["name"] in CHOSEN]:
        tool, args = case.get("tool", "special"), case.get("args", {"kind": case.get("special")})
        call = {"id": language, "function": "onToolCall", "arguments": [tool, args]}
        answer = firefox("call", {**call, "store": case.get("store", {})})
        assert answer.get("code") == case.get("error"), (case["name"], answer)
        if "value" in case:
            assert answer["value"] == case["value"]
        if "json" in case:
            assert json.loads(answer["value"]) == case["json"]
        if "after" in case:
            after = json.loads(answer["store"]) if answer["changed"] else None
            assert after == case["after"]


@pytest.mark.parametrize("language", ATTACKS)
def test_attacks_end_and_nothing_leads_outside(language: str, firefox: Any, origin: str) -> None:
    name = f"{language}.attacker"
    source = (HERE / "hostile" / f"attacks.{ATTACKS[language]}").read_text("utf-8")
    handlers = ["loop", "grow", "escape", "ping"]
    firefox("load", {"id": name, "language": language, "source": source, "handlers": handlers})
    call = {"id": name, "verbatim": True, "arguments": [f"{origin}/leak"]}
    assert firefox("call", {**call, "function": "escape"})["value"] == ""
    ended = firefox("call", {**call, "function": "loop", "deadline": 600})
    assert ended["code"] == "agent_deadline"
    assert firefox("call", {**call, "function": "grow"})["code"] == "agent_memory"
    assert firefox("call", {**call, "function": "ping", "arguments": []})["value"] == "pong"


def test_the_browser_refuses_network_storage_and_code(
    firefox: Any, origin: str, server_leaks: list[str]
) -> None:
    spec = {"id": "rogue", "language": "javascript", "sandbox": "rogue/", "source": ""}
    # What may call the model has two minutes for all its attempts.
    assert "exports" in firefox("load", {**spec, "apis": ["studio.model"]})
    call = {"id": "rogue", "function": "onToolCall", "arguments": ["escape", f"{origin}/leak"]}
    assert json.loads(firefox("call", {**call, "deadline": 100_000})["value"]) == []
    lie = firefox("call", {**call, "arguments": ["huge", None]})
    assert lie["code"] == "agent_protocol"
    assert server_leaks == []
