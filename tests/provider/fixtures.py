"""Fixtures; a conftest.py takes them by importing their names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.provider.server import ModelProvider


@pytest.fixture(scope="session")
def running_provider() -> Iterator[ModelProvider]:
    with ModelProvider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: ModelProvider) -> ModelProvider:
    """A scripted model provider, with nothing left of earlier tests."""
    running_provider.reset()
    return running_provider
