from __future__ import annotations

from personae.conversation.studio_history import search, span

from tests.conversation.support import talk

CONVERSATION = talk(
    ("user", "Where is the Key?"),
    ("assistant", "", [1]),
    ("log", "key found"),
    ("tool", "a key", 1),
    ("assistant", "The KEY is here."),
    ("assistant", "No key for you.", None, True),
    ("user", "Straße"),
)


def test_search_finds_turns_in_any_case_with_their_position_in_the_whole_list():
    assert search(CONVERSATION, "key") == [
        {"role": "user", "content": "Where is the Key?", "index": 0},
        {"role": "assistant", "content": "The KEY is here.", "index": 4},
    ]
    assert [turn["index"] for turn in search(CONVERSATION, "STRASSE")] == [6]
    assert search(CONVERSATION, "dragon") == []


def test_range_takes_start_and_leaves_end_and_skips_what_is_no_turn():
    assert [turn["index"] for turn in span(CONVERSATION, 0, 7)] == [0, 4, 6]
    assert [turn["index"] for turn in span(CONVERSATION, 4, 6)] == [4]
    assert span(CONVERSATION, 1, 4) == []
    assert [turn["index"] for turn in span(CONVERSATION, 1, 99)] == [4, 6]


def test_bounds_outside_the_conversation_are_cut():
    assert [turn["index"] for turn in span(CONVERSATION, -5, 1)] == [0]
    assert span(CONVERSATION, 3, -1) == []
    assert span(CONVERSATION, 6, 2) == []
