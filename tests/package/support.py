"""What several tests of packages need."""

from pathlib import Path

import personae

BUILTIN_FOLDER = Path(personae.__file__).parent / "builtin"
"""The agents the player ships."""
