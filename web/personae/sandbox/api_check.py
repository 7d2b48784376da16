"""Judges a worker's bridge request before the player sees it: method, @api line, arguments.

Reference: "The manifest", ``@api``; "The studio bridge object". A refusal is a BridgeError whose
message reaches the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from personae.errors import BridgeError
from personae.protocol import protocol


def checked_request(apis: Collection[str], method: str, arguments: list[Any]) -> dict[str, Any]:
    """The arguments by parameter name, typed as declared; absent optional ones left out."""
    declared = protocol()["studio"].get(method)
    if declared is None:
        raise BridgeError("unknown_method", f"This player has no studio.{method[:80]}.")
    if declared["api"] not in apis:
        raise BridgeError(
            "api_not_declared",
            f"studio.{method} needs the line '@api {declared['api']}' in the agent's manifest.",
        )
    return _named(method, declared["parameters"], arguments)


def _named(method: str, parameters: dict[str, str], arguments: list[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for index, (name, kind) in enumerate(parameters.items()):
        value = arguments[index] if index < len(arguments) else None
        if value is None and kind.endswith("?"):
            continue
        named[name] = _typed(method, name, kind.rstrip("?"), value)
    return named


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _typed(method: str, name: str, kind: str, value: Any) -> Any:
    converted = _CONVERTERS[kind](value)
    if converted is None:
        raise BridgeError("bad_argument", f"studio.{method} needs {name} to be of type {kind}.")
    return converted


def _string(value: Any) -> str | None:
    # A worker may send lone surrogates; nothing behind the bridge could encode them.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _integer(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if _is_whole(value) else None


def _number(value: Any) -> float | int | None:
    return value if isinstance(value, float) or _is_whole(value) else None


def _array(value: Any) -> list[Any] | None:
    # Lua has one empty table for both kinds.
    return [] if value == {} else value if isinstance(value, list) else None


def _object(value: Any) -> dict[str, Any] | None:
    return {} if value == [] else value if isinstance(value, dict) else None


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "array": _array,
    "object": _object,
}
