"""Tools' schemas in the form that providers take.

``sendable_schema`` is applied to every request: what some providers refuse and nobody needs
otherwise (an object without ``properties``, an empty ``enum``, ``$ref``) is written in the way all
take. ``plain_schema`` is for those that refuse more: only the usual keywords are left of it.
Invariants: schemas come from strangers, so the size of what is written out is bounded; what a
schema allows is never narrowed; a schema that needs nothing is the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MOST_PARTS = 2_000
"""Objects in a schema after its references were written out."""

PLAIN = frozenset(
    (
        *("type", "description", "properties", "required", "items", "enum", "nullable", "title"),
        *("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "anyOf"),
    )
)
"""Keywords that providers with a schema language of their own know."""

_NAMED_PARTS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_PARTS = ("items", "additionalProperties", "contains", "not", "if", "then", "else")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")

Rewrite = Callable[[dict[str, Any]], dict[str, Any]]


def sendable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without references to its own parts, empty enums, and objects that name no properties."""
    rewritten: dict[str, Any] = _rewritten(_written_out(dict(schema)), _completed)
    return rewritten


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Of ``sendable_schema``'s what every provider takes; a looser schema, never a stricter one."""
    rewritten: dict[str, Any] = _rewritten(schema, _plain)
    return rewritten


def parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and the schemas in it."""
    if isinstance(schema, Mapping):
        yield schema
        for inner in _inner(schema):
            yield from parts(inner)


def _inner(schema: Mapping[str, Any]) -> Iterator[Any]:
    for name in _NAMED_PARTS:
        named = schema.get(name)
        yield from named.values() if isinstance(named, Mapping) else ()
    for name in _PARTS:
        yield schema.get(name)
    for name in _LISTS:
        listed = schema.get(name)
        yield from listed if isinstance(listed, list) else ()


def _rewritten(schema: Any, rewrite: Rewrite) -> Any:
    """A schema with every part of it rewritten, the innermost first."""
    if not isinstance(schema, Mapping):
        return schema
    copy = dict(schema)
    for name in _NAMED_PARTS:
        if isinstance(copy.get(name), Mapping):
            named = copy[name].items()
            copy[name] = {key: _rewritten(part, rewrite) for key, part in named}
    for name in _PARTS:
        if isinstance(copy.get(name), Mapping):
            copy[name] = _rewritten(copy[name], rewrite)
    for name in _LISTS:
        if isinstance(copy.get(name), list):
            copy[name] = [_rewritten(part, rewrite) for part in copy[name]]
    return rewrite(copy)


def is_object(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    return kinds == "object" or (isinstance(kinds, list) and "object" in kinds)


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    if is_object(schema) and not isinstance(schema.get("properties"), Mapping):
        schema["properties"] = {}
    if schema.get("enum") == []:
        del schema["enum"]
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    if "const" in schema:
        schema.setdefault("enum", [schema["const"]])
    if isinstance(schema.get("oneOf"), list):
        schema.setdefault("anyOf", schema["oneOf"])
    kept = {name: value for name, value in schema.items() if name in PLAIN}
    if isinstance(kinds := kept.get("type"), list):
        named = [kind for kind in kinds if kind != "null"]
        kept["type"] = named[0] if len(named) == 1 else "string"
        if len(kinds) > len(named):
            kept["nullable"] = True
        if len(named) != 1:
            del kept["type"]
    options = kept.get("enum")
    if isinstance(options, list) and not all(isinstance(one, str) and one for one in options):
        del kept["enum"]
    return _completed(kept)


def _written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with what it refers to in place of the reference.

    Stays as it is when that would be too large. A reference to what holds it becomes an object of
    any kind.
    """
    if not any("$ref" in part for part in parts(schema)):
        return schema
    try:
        out: dict[str, Any] = _Inliner(schema).inlined(schema, ())
    except _TooLarge:
        return schema
    for name in ("$defs", "definitions"):
        out.pop(name, None)
    return out


class _TooLarge(Exception):
    pass


class _Inliner:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MOST_PARTS

    def inlined(self, value: Any, within: tuple[str, ...]) -> Any:
        """``within``: the references that led here."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        if isinstance(value, list):
            return [self.inlined(one, within) for one in value]
        if not isinstance(value, Mapping):
            return value
        target = value.get("$ref")
        beside = {name: one for name, one in value.items() if name != "$ref"}
        if not isinstance(target, str):
            return {name: self.inlined(one, within) for name, one in value.items()}
        found = _at(self._root, target)
        if target in within or not isinstance(found, Mapping):
            inner: Any = {"type": "object"} if target in within else {}
        else:
            inner = self.inlined(found, (*within, target))
        return {**inner, **self.inlined(beside, within)}


def _at(root: Any, reference: str) -> Any:
    """What a JSON pointer of the schema's own leads to; None when it leads nowhere."""
    if not reference.startswith("#"):
        return None
    value = root
    for step in reference[1:].split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            return None
    return value
