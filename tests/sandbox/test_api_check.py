"""The gate in front of the bridge: @api lines and argument types."""

from __future__ import annotations

from typing import Any

import pytest
from personae.errors import BridgeError
from personae.protocol import protocol
from personae.sandbox.api_check import checked_request


@pytest.mark.parametrize("method", protocol()["studio"])
def test_each_method_needs_its_api_line(method: str) -> None:
    api = protocol()["studio"][method]["api"]
    others = {declared["api"] for declared in protocol()["studio"].values()} - {api}
    with pytest.raises(BridgeError, match=f"'@api {api}'") as caught:
        checked_request(others, method, ["x", "y"])
    assert caught.value.code == "api_not_declared"


@pytest.mark.parametrize(
    ("method", "arguments", "named"),
    [
        ("history.search", ["x"], {"query": "x"}),
        ("history.search", ["x", "surplus"], {"query": "x"}),
        ("history.range", [0, 4.0], {"start": 0, "end": 4}),
        ("context.readFile", ["\ud800"], {"name": "?"}),
        ("callModel", ["s", []], {"systemPrompt": "s", "messages": []}),
        ("callModel", ["s", {}, None, []], {"systemPrompt": "s", "messages": [], "opts": {}}),
        (
            "callModel",
            ["s", [{"role": "user"}], 9.5, {"model": "main"}],
            {
                "systemPrompt": "s",
                "messages": [{"role": "user"}],
                "maxTokens": 9.5,
                "opts": {"model": "main"},
            },
        ),
    ],
)
def test_arguments_are_named_and_typed(method: str, arguments: list[Any], named: Any) -> None:
    assert checked_request([protocol()["studio"][method]["api"]], method, arguments) == named


@pytest.mark.parametrize(
    ("method", "arguments", "parameter"),
    [
        ("history.search", [], "query"),
        ("history.search", [5], "query"),
        ("history.range", [0], "end"),
        ("history.range", [True, 1], "start"),
        ("history.range", [0.5, 1], "start"),
        ("callModel", ["s", "text"], "messages"),
        ("callModel", ["s", [], "many"], "maxTokens"),
        ("callModel", ["s", [], 5, ["x"]], "opts"),
    ],
)
def test_a_wrong_argument_is_named(method: str, arguments: list[Any], parameter: str) -> None:
    with pytest.raises(BridgeError, match=f"needs {parameter} to be"):
        checked_request([protocol()["studio"][method]["api"]], method, arguments)


def test_a_method_nobody_has_is_refused() -> None:
    with pytest.raises(BridgeError, match=r"no studio\.window"):
        checked_request(["studio.history"], "window.open", [])
