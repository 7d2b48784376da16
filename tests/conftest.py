"""What holds for all tests on CPython."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
