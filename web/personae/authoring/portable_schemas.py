"""Which providers refuse a tool's parameters as they are written.

The player sends them in a form that all take (``llm.request.tool_schemas``), and a still plainer
one to who refuses that; other players may not. A row of ``_RULES`` is one thing that is refused,
by whom, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from personae.llm.request.tool_schemas import is_object, parts
from personae.package.model import ToolDefinition

_FORMATS = {
    "string": ("date-time", "enum"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}
"""What Google knows of ``format``, by type."""
_ODD = frozenset(
    (
        *("patternProperties", "propertyNames", "not", "if", "then", "else", "contains", "allOf"),
        *("dependentSchemas", "dependentRequired", "unevaluatedProperties", "unevaluatedItems"),
        *("prefixItems", "$dynamicRef", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)
"""Keywords that Google does not know."""

Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Rule:
    refused_by: str
    found: Callable[[Part], str | None]
    """What in a part of the schema is refused."""
    instead: str


def _no_properties(part: Part) -> str | None:
    return "an object without properties" if is_object(part) and "properties" not in part else None


def _empty_enum(part: Part) -> str | None:
    return "an empty enum" if part.get("enum") == [] else None


def _empty_option(part: Part) -> str | None:
    options = part.get("enum")
    return 'an enum with ""' if isinstance(options, list) and "" in options else None


def _odd_option(part: Part) -> str | None:
    options = part.get("enum")
    odd = isinstance(options, list) and not all(isinstance(one, str) for one in options)
    return "an enum of other values than texts" if odd else None


def _reference(part: Part) -> str | None:
    target = part.get("$ref")
    return f"$ref {target!r}" if isinstance(target, str) else None


def _odd_format(part: Part) -> str | None:
    name, kind = part.get("format"), part.get("type")
    known = _FORMATS.get(kind, ()) if isinstance(kind, str) else ()
    return f"format {name!r}" if isinstance(name, str) and name not in known else None


def _several_types(part: Part) -> str | None:
    return "several types" if isinstance(part.get("type"), list) else None


def _odd_keyword(part: Part) -> str | None:
    odd = sorted(_ODD.intersection(part))
    return f"the keyword {odd[0]}" if odd else None


_RULES = (
    _Rule("OpenAI", _no_properties, 'add "properties": {}'),
    _Rule("Google Gemini, OpenAI and Anthropic", _empty_enum, "leave it out, or name its options"),
    _Rule("Google Gemini", _empty_option, "leave the parameter optional instead"),
    _Rule("Google Gemini", _odd_option, "use texts, or say in the description what is allowed"),
    _Rule("Google Gemini and Groq", _reference, "write the schema out where it is used"),
    _Rule("Google Gemini", _odd_format, "say it in the description"),
    _Rule("Google Gemini", _several_types, "choose one, and leave the parameter optional"),
    _Rule("Google Gemini", _odd_keyword, "say it in the description"),
)


def unportable(tool: ToolDefinition) -> Iterator[str]:
    """A warning for each thing that a provider refuses, the provider's name in it."""
    for rule in _RULES:
        found = (what for part in parts(tool.parameters) if (what := rule.found(part)))
        what = next(found, None)
        if what is not None:
            yield (
                f"tool {tool.name}: {rule.refused_by} refuse{_s(rule)} {what} in the parameters; "
                f"the player works around it, other players may not: {rule.instead}"
            )


def _s(rule: _Rule) -> str:
    return "" if " and " in rule.refused_by else "s"
