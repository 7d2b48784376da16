"""``python -m tests.request_bodies.record [scene ...]`` writes the recorded bodies again."""

from __future__ import annotations

import asyncio
import sys

from tests.request_bodies import scenes
from tests.request_bodies.stage import RECORDED, play, recorded


def main(names: list[str]) -> None:
    if not names:
        for path in RECORDED.glob("*.jsonl"):
            path.unlink()
    for name in names or scenes.SCENES:
        recorded(name).write_bytes(asyncio.run(play(name)).encode())
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
