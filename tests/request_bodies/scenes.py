"""All scenes: importing this fills the table."""

from tests.request_bodies import (
    scenes_edits,
    scenes_examples,
    scenes_faults,
    scenes_history,
    scenes_provider,
    scenes_whole,
)
from tests.request_bodies.stage import SCENES

__all__ = [
    "SCENES",
    "scenes_edits",
    "scenes_examples",
    "scenes_faults",
    "scenes_history",
    "scenes_provider",
    "scenes_whole",
]
