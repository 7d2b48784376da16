"""Whose a store is: keys of the first member stay as they are without members."""

from __future__ import annotations

import pytest
from personae.storage.scopes import ROOM, scope_and_agent, scoped


@pytest.mark.parametrize(
    ("scope", "name"),
    [("m1", "test.dice"), ("m2", "m2:test.dice"), (ROOM, "room:test.dice")],
)
def test_an_agent_is_named_with_its_scope(scope: str, name: str) -> None:
    assert scoped(scope, "test.dice") == name
    assert scope_and_agent(name) == (scope, "test.dice")
