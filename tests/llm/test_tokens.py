"""Estimates of tokens, always marked as such."""

from __future__ import annotations

from typing import Any

import pytest
from personae.llm.request.token_estimate import estimate_prompt, estimate_tokens, usage_or_estimate

BODY = {"messages": [{"role": "user", "content": "12345678"}]}


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_four_characters_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_calls_and_tools_count() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
    assert estimate_prompt(BODY) == 2
    assert estimate_prompt({"messages": [calls], "tools": [{"type": "function"}]}) > 5


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4, 7)),
        ({"input_tokens": 3, "output_tokens": 4.0}, (3, 4, 7)),
        ({"total_tokens": 9}, (0, 0, 9)),
        ({"prompt_tokens": 3, "completion_tokens": None, "total_tokens": 8}, (3, 0, 8)),
    ],
)
def test_the_providers_counts(usage: dict[str, Any], expected: tuple[int, ...]) -> None:
    counted = usage_or_estimate(usage, BODY, [])
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    assert tuple(counted[name] for name in names) == expected
    assert "estimated" not in counted


NOTHING = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": "3"}, {"total_tokens": -1}, NOTHING])
def test_an_estimate_where_there_are_none(usage: dict[str, Any]) -> None:
    assert usage_or_estimate(usage, BODY, ["abcd", "e"]) == {
        "prompt_tokens": 2,
        "completion_tokens": 2,
        "total_tokens": 4,
        "estimated": True,
    }
