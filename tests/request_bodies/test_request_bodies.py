"""The bodies of all requests are those that are recorded, byte for byte."""

from __future__ import annotations

import json

import pytest

from tests.request_bodies import scenes
from tests.request_bodies.stage import RECORDED, play, recorded

AROUND = 80
"""Characters shown before and after a difference."""


@pytest.mark.parametrize("name", scenes.SCENES)
async def test_a_scene_asks_what_is_recorded(name: str) -> None:
    wanted, sent = lines(recorded(name).read_bytes().decode()), lines(await play(name))
    for number, (before, now) in enumerate(zip(wanted, sent, strict=False), 1):
        if before != now:
            pytest.fail(f"request {number} of {name} differs {difference(before, now)}")
    assert len(sent) == len(wanted), f"{name} sends another number of requests"


def test_every_recording_has_its_scene_and_holds_requests() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(scenes.SCENES)
    for path in RECORDED.iterdir():
        bodies = lines(path.read_bytes().decode())
        assert bodies
        assert all(json.loads(body)["messages"] for body in bodies)


def lines(text: str) -> list[str]:
    """JSON holds other line separators as they are."""
    return text.removesuffix("\n").split("\n")


def difference(before: str, now: str) -> str:
    at = next(
        (at for at, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(now)),
    )
    cut = slice(max(0, at - AROUND), at + AROUND)
    return f"at character {at}:\n- ...{before[cut]}...\n+ ...{now[cut]}..."
