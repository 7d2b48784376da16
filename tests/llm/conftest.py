"""Fixtures of the model client's tests."""

from hypothesis import settings

from tests.provider.fixtures import provider, running_provider

__all__ = ["provider", "running_provider"]

# A deadline for each example would measure how busy the machine is.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
