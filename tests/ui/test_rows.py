"""Which entries are drawn, and what belongs together."""

from __future__ import annotations

from personae.conversation.entries import Entry, ToolCall
from personae.package.steps import run
from personae.ui.transcript.rows import INTRO, Rows


def entry(number: int, role: str, content: str = "", **fields: object) -> Entry:
    return Entry(id=f"e{number}", role=role, content=content, at=number, **fields)  # type: ignore[arg-type]


ROUND = entry(2, "assistant", tool_calls=(ToolCall("c1", "roll", "{}"),))
TURN = [
    entry(1, "user", "roll"),
    ROUND,
    entry(3, "log", "rolled", agent_id="a"),
    entry(4, "tool", "6", tool_call_id="c1"),
    entry(5, "assistant", "A six."),
]


def rows_of(entries: list[Entry]) -> Rows:
    rows = Rows()
    for one in entries:
        rows.add(one)
    return rows


def test_a_tool_entry_is_the_result_of_the_call_before_it() -> None:
    rows = rows_of(TURN)
    assert [row.key for row in rows.rows] == ["e1", "e2", "e3", "e5"]
    assert rows.rows[1].results["c1"].content == "6"
    assert rows.rows[1].bare


def test_the_speaker_is_named_once_in_a_turn() -> None:
    again = [*TURN, entry(6, "user", "and?"), entry(7, "assistant", "Nothing.")]
    rows = rows_of(again)
    assert [row.continues for row in rows.rows] == [False, False, False, True, False, False]


def test_a_continued_response_is_one_message_and_another_one_is_not() -> None:
    def said(number: int, **fields: object) -> Entry:
        return entry(number, "assistant", "more", **{"reply_to": "e1", **fields})

    first = [entry(1, "user", "go"), said(2), entry(3, "log", "noted"), said(4)]
    others = [said(5, rejected=True), said(6, reply_to="e0"), said(7, reply_to="e0", member="m2")]
    rows = rows_of([*first, *others])
    continued = [row.key for row in rows.rows if row.continues]
    assert continued == ["e4"]


def test_a_repeated_call_id_of_another_round_is_another_call() -> None:
    second = entry(6, "assistant", tool_calls=(ToolCall("c1", "roll", "{}"),))
    rows = rows_of([*TURN, second, entry(7, "tool", "2", tool_call_id="c1")])
    assert rows.rows[1].results["c1"].content == "6"
    assert rows.rows[4].results["c1"].content == "2"


def test_adding_says_which_row_changed() -> None:
    rows = Rows()
    run(rows.take([TURN[0]], 80))
    assert rows.rows[0].key == INTRO
    assert rows.add(ROUND) == 2
    assert rows.add(entry(4, "tool", "6", tool_call_id="c1")) == 2
    assert rows.add(entry(5, "assistant", "A six.")) == 3
    assert rows.last_message() == 3
    assert rows.update(entry(5, "assistant", "A six!")) == 3
    assert rows.rows[3].entry is not None
    assert rows.rows[3].entry.content == "A six!"
    assert rows.update(entry(99, "assistant", "who?")) == -1


def test_a_tool_entry_without_its_call_is_not_drawn() -> None:
    rows = rows_of([entry(1, "tool", "6", tool_call_id="c1")])
    assert len(rows) == 0
    assert rows.last_message() == -1


def test_a_longer_text_is_guessed_higher() -> None:
    short, long = rows_of([entry(1, "user", "hi"), entry(2, "assistant", "word " * 900)]).rows
    assert long.guess_height(80) > 4 * short.guess_height(80)


def test_what_is_added_while_rows_are_made_is_among_them() -> None:
    entries = [entry(number, "user", "hi") for number in range(1, 121)]
    rows = Rows()
    steps = rows.take(entries, 80)
    next(steps)
    entries.append(entry(200, "assistant", "late"))
    guesses = run(steps)
    assert [row.key for row in rows.rows] == [INTRO, *(one.id for one in entries)]
    assert guesses == [row.guess_height(80) for row in rows.rows]
