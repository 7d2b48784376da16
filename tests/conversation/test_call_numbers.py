from __future__ import annotations

from personae.conversation.call_numbers import highest, last_viable, numbers

from tests.conversation.support import talk

ENTRIES = talk(
    ("user", "u"),
    ("assistant", "", [1, 2]),
    ("tool", "r", 1),
    ("tool", "r", 2),
    ("assistant", "", [3], True),
    ("tool", "r", 3, True),
)


def test_rejected_numbers_are_not_in_the_history_but_stay_taken():
    assert numbers(ENTRIES) == {1, 2}
    assert last_viable(ENTRIES) == 2
    assert highest(ENTRIES) == 3
    assert (last_viable([]), highest([])) == (0, 0)
