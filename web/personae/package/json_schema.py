"""JSON Schema (draft 2020-12) for config.json, prompt files, tool parameters and arguments.

``jsonschema`` decides, but importing it takes over half a second in a browser. Most values are
plainly valid against plain schemas, so ``certainly_valid`` looks first: it knows a few keywords,
answers True only when jsonschema would find nothing, and leaves everything else to the library.

Schemas of packages are foreign: they may refer only to themselves, checking against one ends
after ``MAX_STEPS`` keywords or ``MAX_DEPTH`` nested ones, a ``pattern`` that could backtrack
without end is not applied, and a schema with such a one in ``patternProperties`` not at all. The
depth is counted because deep recursion through generators ends the interpreter in a browser
before Python raises RecursionError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from personae import resources

MAX_STEPS = 100_000
MAX_DEPTH = 40
MAX_SCHEMA_DEPTH = 40
"""Objects and arrays within each other in a schema; one nested property takes two."""
MAX_PATTERN_TEXT = 10_000

_ANNOTATIONS = {"$schema", "$id", "$comment", "title", "description", "default", "examples"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


@dataclass(frozen=True, slots=True)
class Violation:
    path: tuple[str | int, ...]
    """From the checked value down to what is wrong in it."""
    message: str

    @property
    def where(self) -> str:
        """The path as one would write it: ``agents[2].id``; empty for the value itself."""
        parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path]
        return "".join(parts).removeprefix(".")


@cache
def own_schema(name: str) -> dict[str, Any]:
    """One of the schema files beside this module."""
    schema: dict[str, Any] = json.loads(resources.text(f"package/{name}.schema.json"))
    return schema


def violations(value: Any, schema: Mapping[str, Any]) -> list[Violation]:
    """Everything in ``value`` that the schema forbids; empty when it is valid."""
    try:
        if certainly_valid(value, schema, schema):
            return []
        if (reason := _unsafe_names(value, schema)) is not None:
            return [Violation((), f"the schema cannot be applied: {reason}")]
        errors = sorted(_validator(schema).iter_errors(value), key=lambda error: list(error.path))
        return [Violation(tuple(error.absolute_path), _message(error)) for error in errors]
    except ModuleNotFoundError:
        raise  # the library comes when it is missed, see ``steps.with_python_package``
    except (_TooMuchWork, RecursionError):
        return [Violation((), "the schema takes too much work to check; make it simpler")]
    except Exception as error:
        # A foreign schema that passed schema_fault can still refer to what it does not hold,
        # and each version of the library has its own class for that.
        return [Violation((), f"the schema cannot be applied: {error}")]


def schema_fault(schema: Any) -> str | None:
    """Why a tool's parameters are no usable JSON Schema of type object, or None."""
    if not isinstance(schema, dict):
        return "the parameters are a JSON Schema, which is an object"
    if _is_deeper(schema, MAX_SCHEMA_DEPTH):
        return "the schema is nested too deeply"
    if schema.get("type", "object") != "object":
        return "the parameters' type is object: the model passes named arguments"
    plain = own_schema("plain-parameters")
    if certainly_valid(schema, plain, plain):
        return None
    return _foreign_part(schema, inner=False) or _unsafe_names({}, schema) or _library_fault(schema)


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [inner for one in level for inner in _inner(one)]
        if not level:
            return False
    return True


def _inner(value: Any) -> list[Any]:
    members = value.values() if isinstance(value, Mapping) else value
    return list(members) if isinstance(value, Mapping | list) else []


def certainly_valid(value: Any, schema: Any, root: Any) -> bool:
    """True only when ``value`` is valid; False when it is not, or when it is not plain."""
    if schema is True:
        return True
    if not isinstance(schema, Mapping):
        return False
    if schema.get("$ref") == "#":  # of the root itself it would never end
        return len(schema) == 1 and schema is not root and certainly_valid(value, root, root)
    return all(
        key in _ANNOTATIONS or (key in _PLAIN and _PLAIN[key](value, limit, schema, root))
        for key, limit in schema.items()
    )


def _plain_type(value: Any, kinds: Any, schema: Any, root: Any) -> bool:
    names = [kinds] if isinstance(kinds, str) else kinds
    return any(name in _TYPES and _TYPES[name](value) for name in names)


def _plain_properties(value: Any, members: Any, schema: Any, root: Any) -> bool:
    if not isinstance(value, dict):
        return True
    return all(
        certainly_valid(value[name], member, root)
        for name, member in members.items()
        if name in value
    )


def _plain_additional(value: Any, rule: Any, schema: Any, root: Any) -> bool:
    if not isinstance(value, dict):
        return True
    named = schema.get("properties", {})
    return all(certainly_valid(value[name], rule, root) for name in value if name not in named)


def _plain_items(value: Any, rule: Any, schema: Any, root: Any) -> bool:
    return not isinstance(value, list) or all(certainly_valid(one, rule, root) for one in value)


def _plain_enum(value: Any, options: Any, schema: Any, root: Any) -> bool:
    return isinstance(value, str | int) and any(
        type(option) is type(value) and option == value for option in options
    )


def _plain_pattern(value: Any, pattern: str, schema: Any, root: Any) -> bool:
    return not isinstance(value, str) or _follows(pattern, value)


def _bound(kinds: tuple[type, ...], holds: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def check(value: Any, limit: Any, schema: Any, root: Any) -> bool:
        return not isinstance(value, kinds) or isinstance(value, bool) or holds(value, limit)

    return check


def _distinct_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and len(set(values)) == len(values)


_PLAIN: dict[str, Callable[..., bool]] = {
    "type": _plain_type,
    "properties": _plain_properties,
    "additionalProperties": _plain_additional,
    "items": _plain_items,
    "enum": _plain_enum,
    "pattern": _plain_pattern,
    "required": _bound((dict,), lambda value, names: all(name in value for name in names)),
    "minimum": _bound((int, float), lambda value, limit: value >= limit),
    "maximum": _bound((int, float), lambda value, limit: value <= limit),
    "minLength": _bound((str,), lambda value, limit: len(value) >= limit),
    "maxLength": _bound((str,), lambda value, limit: len(value) <= limit),
    "minItems": _bound((list,), lambda value, limit: len(value) >= limit),
    "uniqueItems": _bound((list,), lambda value, wanted: not wanted or _distinct_texts(value)),
    "maxItems": _bound((list,), lambda value, limit: len(value) <= limit),
}


class _TooMuchWork(Exception):
    pass


def _validator(schema: Mapping[str, Any]) -> Any:
    """A validator whose keywords count their steps and whose patterns are tame."""
    from jsonschema import Draft202012Validator, validators

    steps = iter(range(MAX_STEPS))
    depth = 0

    def counted(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def keyword(validator: Any, limit: Any, value: Any, schema: Any) -> Iterator[Any]:
            nonlocal depth
            if next(steps, None) is None or depth == MAX_DEPTH:
                raise _TooMuchWork
            depth += 1
            try:
                yield from check(validator, limit, value, schema) or ()
            finally:
                depth -= 1

        return keyword

    dialect = validators.validator_for(schema, default=Draft202012Validator)
    checks = {**dialect.VALIDATORS, "pattern": _pattern}
    keywords = {name: counted(check) for name, check in checks.items()}
    return validators.extend(dialect, keywords)(schema)


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not _follows(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _follows(pattern: str, text: str) -> bool:
    """Whether the text matches; a pattern that is not applied forbids nothing."""
    compiled = _compiled(pattern)
    return compiled is None or len(text) > MAX_PATTERN_TEXT or bool(compiled.search(text))


@lru_cache(maxsize=200)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for a pattern that is wild, or in a dialect that Python does not read."""
    try:
        return re.compile(pattern) if is_tame(pattern) else None
    except re.error:
        return None


def is_tame(pattern: str) -> bool:
    """Whether matching takes at most quadratic time: no repeated group, no back reference, and
    at most one repetition of variable length."""
    if re.search(r"\)[*+?{]|\\[1-9]|\(\?", pattern):
        return False
    return len(re.findall(r"[*+?]|\{\d*,\d*\}", pattern)) <= 1


def _unsafe_names(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Why the library, which matches names with every pattern itself, might not come back."""
    patterns = [
        pattern for part in _objects(schema) for pattern in _object(part.get("patternProperties"))
    ]
    for pattern in patterns:
        if _compiled(pattern) is None:
            return f"patternProperties has {pattern!r}, which cannot be applied safely"
    if patterns and any(len(name) > MAX_PATTERN_TEXT for part in _objects(value) for name in part):
        return f"a property name has more than {MAX_PATTERN_TEXT} characters"
    return None


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in a value, itself included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one
        waiting += _inner(one)


def _message(error: Any) -> str:
    if error.validator == "type":
        kinds = error.validator_value
        names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
        return f"must be {' or '.join(names)}, is {_kind(error.instance)}"
    if error.validator == "required":
        return str(error.message).replace("is a required property", "is required")
    if error.validator == "maxItems":
        return f"has more than {error.validator_value} items"
    if error.validator == "minLength" and error.validator_value == 1:
        return "must not be empty"
    text = str(error.message)
    return text if len(text) <= 300 else text[:300] + " ..."


def _kind(value: Any) -> str:
    return next(name for name, matches in _TYPES.items() if matches(value))


def _foreign_part(schema: Any, inner: bool) -> str | None:
    """What would lead outside the schema, give a part a dialect of its own, or never end."""
    if isinstance(schema, list):
        return next(filter(None, (_foreign_part(part, True) for part in schema)), None)
    if not isinstance(schema, dict):
        return None
    for key in ("$ref", "$dynamicRef", "$recursiveRef", "$id", "$schema"):
        target = schema.get(key)
        allowed = not inner if key in ("$id", "$schema") else str(target).startswith("#")
        if isinstance(target, str) and not allowed:
            return f"{key} {target!r} leads outside the schema"
    return next(filter(None, (_foreign_part(part, True) for part in schema.values())), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _library_fault(schema: dict[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator, SchemaError, validators

    dialect = validators.validator_for(schema, default=Draft202012Validator)
    try:
        dialect.check_schema(schema)
    except SchemaError as error:
        where = "".join(f"[{key!r}]" for key in error.absolute_path)
        return f"not a JSON Schema: {where + ' ' if where else ''}{_message(error)}"
    return None
