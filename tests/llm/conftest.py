"""Fixtures of the model client's tests."""

from tests.provider.fixtures import provider, running_provider

__all__ = ["provider", "running_provider"]
