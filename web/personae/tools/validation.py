"""Whether the arguments of a call fit what its tool declares (reference: @tool-params)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from personae.errors import ToolError
from personae.package.json_schema import Violation, certainly_valid, violations
from personae.package.steps import Install

LIBRARY = "jsonschema"
MOST_VIOLATIONS = 5


async def check_arguments(
    name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any], install: Install | None
) -> None:
    """Raises ToolError ``invalid_arguments``, which tells the model every field and reason."""
    found = await _violations(arguments, schema, install)
    if found:
        reasons = "; ".join(f"{v.where or 'arguments'}: {v.message}" for v in found)
        raise ToolError(
            "invalid_arguments", f"the arguments of {name} do not fit its parameters: {reasons}."
        )


async def _violations(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], install: Install | None
) -> list[Violation]:
    if certainly_valid(arguments, schema, schema):
        return []
    if install is not None and find_spec(LIBRARY) is None:
        # What keeps it from being fetched shows in the violations.
        with suppress(Exception):
            await install(LIBRARY)
    try:
        return violations(arguments, schema)[:MOST_VIOLATIONS]
    except ModuleNotFoundError as error:
        return [Violation((), f"cannot be checked now ({error})")]
