"""What a new interpreter does first."""

from __future__ import annotations

import asyncio
import random

from personae.browser.loop import run_ready_together


def wake() -> None:
    """New randomness, for all copies of a snapshot were one; and a prompt event loop."""
    random.seed()
    run_ready_together(asyncio.get_event_loop())
