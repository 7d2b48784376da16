"""``<think>`` at the start of the text, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.llm.stream.reply import ReasoningDelta, TextDelta
from personae.llm.stream.think_tags import ThinkFilter


def read(*pieces: str, trusted: bool = False) -> tuple[str, str]:
    """(reasoning, text) as a consumer of the deltas ends up with them."""
    reasoning = text = ""
    thinking = ThinkFilter()
    if trusted:
        thinking.trust_text()
    deltas = [delta for piece in pieces for delta in thinking.feed(piece)]
    for delta in [*deltas, *thinking.finish()]:
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, ReasoningDelta):
            reasoning += delta.text
        else:
            reasoning, text = reasoning + text, ""
    return reasoning, text


CASES = [
    ("plain text", ("", "plain text")),
    ("<think>why</think>\n\nbecause", ("why", "because")),
    ("\n <think>\nwhy</think>because", ("why", "because")),
    ("<think></think>answer", ("", "answer")),
    ("<think>\n\n</think>\n\nanswer", ("", "answer")),
    ("<think>never closed", ("never closed", "")),
    ("why</think>because", ("why", "because")),
    ("why\n</think>\n\nbecause", ("why\n", "because")),
    ("</think>because", ("", "because")),
    ("the tag `</think>` closes", ("", "the tag `</think>` closes")),
    ("```\n</think>\n```", ("", "```\n</think>\n```")),
    ("say <think>x</think> now", ("", "say <think>x</think> now")),
    ("<think>a</think>b</think>c", ("a", "b</think>c")),
    ("a < b <thin", ("", "a < b <thin")),
    ("<thinker> is a name", ("", "<thinker> is a name")),
    ("<thi", ("", "<thi")),
    ("  ", ("", "  ")),
    *((f"<{name}>why</{name}> so", ("why", "so")) for name in ("thought", "thinking", "reasoning")),
    *((f"<{name}>why</{name}> so", ("why", "so")) for name in ("seed:think", "THINK", "Thinking")),
    ("<think>why</THINK>so", ("why", "so")),
    ("[THINK]why[/THINK]so", ("why", "so")),
    ("[think]why[/think]\n\nso", ("why", "so")),
    ("why[/THINK]so", ("why", "so")),
    ("why</reasoning>so", ("why", "so")),
    ("◁think▷why◁/think▷so", ("why", "so")),
    ("<|START_THINKING|>why<|END_THINKING|><|START_RESPONSE|>so<|END_RESPONSE|>", ("why", "so")),
    (
        "<|begin_of_thought|>why<|end_of_thought|>\n<|begin_of_solution|>so<|end_of_solution|>",
        ("why", "so"),
    ),
    ("<|channel|>analysis<|message|>why<|end|>so", ("why", "so")),
    (
        "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>so"
        "<|return|>",
        ("why", "so"),
    ),
    ("<|start|>assistant<|channel|>final<|message|>so<|return|>", ("", "so")),
    (
        "<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant<|channel|>analysis"
        "<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>so",
        ("why", "Let me see.so"),
    ),
    ("<|channel>thought\nwhy<channel|>so", ("why", "so")),
    ("<think>a</think>\n<think>b</think>\n\nc", ("ab", "c")),
    ("<thinking>a</thinking><reasoning>b</reasoning>c", ("ab", "c")),
    ("a</think>\n<think>b</think>c", ("ab", "c")),
    ("<think>a</think>b <think>c</think>", ("a", "b <think>c</think>")),
    ("<think>a </thinking> b</think>c", ("a </thinking> b", "c")),
    ("<thoughtful> he said", ("", "<thoughtful> he said")),
    ("[thinker] he said", ("", "[thinker] he said")),
    ("[Thinking] Well, well.", ("", "[Thinking] Well, well.")),
    ("He wrote </thinker> and left", ("", "He wrote </thinker> and left")),
    ("a <|end|> b", ("", "a <|end|> b")),
    ("K<think>x", ("", "K<think>x")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_reasoning_and_speech(text: str, expected: tuple[str, str]) -> None:
    assert read(text) == expected
    assert read(*text) == expected


def test_an_unopened_tag_is_text_when_reasoning_came_in_a_field() -> None:
    assert read("a</think>b", trusted=True) == ("", "a</think>b")
    assert read("<think>a</think>b", trusted=True) == ("a", "b")


@given(
    parts=st.lists(
        st.sampled_from(["<think>", "</think>", "<", "/th", "a", "\n", " ", "`", "<th", "ink>"]),
        max_size=10,
    ),
    data=st.data(),
)
def test_splitting_anywhere_gives_the_same(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cut = data.draw(st.integers(0, len(text)))
    assert read(text[:cut], text[cut:]) == read(text) == read(*text)


def test_text_is_passed_on_at_once() -> None:
    thinking = ThinkFilter()
    assert list(thinking.feed("Hello")) == [TextDelta("Hello")]
    assert list(thinking.feed(" you <")) == [TextDelta(" you ")]
    assert list(thinking.feed("3")) == [TextDelta("<3")]
