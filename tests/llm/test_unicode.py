"""No lone surrogate comes out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from personae.unicode import PairJoiner, well_formed, well_formed_json

ANY = st.text(alphabet=st.characters(codec=None) | st.sampled_from("\ud83c\udf19"), max_size=8)


def test_pairs_are_joined_and_halves_replaced() -> None:
    assert well_formed("a\ud83c\udf19b\udf19c\ud83c") == "a\U0001f319b\ufffdc\ufffd"


def test_values_are_copied_deep() -> None:
    assert well_formed_json({"\ud83c": ["\udf19", 1, None, {"a": True}]}) == {
        "\ufffd": ["\ufffd", 1, None, {"a": True}]
    }


@given(st.lists(ANY, max_size=5))
def test_streaming_gives_what_the_whole_gives(pieces: list[str]) -> None:
    joiner = PairJoiner()
    out = [joiner.feed(piece) for piece in pieces] + [joiner.finish()]
    for piece in out:
        piece.encode()
    assert "".join(out) == well_formed("".join(pieces))
