"""Tools' schemas as requests carry them, and in their plainest form."""

from __future__ import annotations

from typing import Any

import pytest
from personae.llm.request.tool_schemas import MOST_PARTS, parts, plain_schema, sendable_schema

EMPTY = {"type": "object", "properties": {}}
TEXT = {"type": "string"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "object"}, EMPTY),
        (of(a=TEXT), of(a=TEXT)),
        (of(a={"type": "object"}), of(a=EMPTY)),
        (of(a={"type": ["object", "null"]}), of(a={"type": ["object", "null"], "properties": {}})),
        (
            of(a={"type": "array", "items": {"type": "object"}}),
            of(a={"type": "array", "items": EMPTY}),
        ),
        (of(a={"anyOf": [{"type": "object"}, TEXT]}), of(a={"anyOf": [EMPTY, TEXT]})),
        (
            {**of(), "additionalProperties": {"type": "object"}},
            {**of(), "additionalProperties": EMPTY},
        ),
        (of(a={"type": "string", "enum": []}), of(a=TEXT)),
        (of(enum={"type": "string"}), of(enum=TEXT)),
        (of(type={"type": "object"}), of(type=EMPTY)),
        (
            {**of(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "object"}}},
            of(a=EMPTY),
        ),
        (
            {
                **of(a={"$ref": "#/definitions/A", "description": "x"}),
                "definitions": {"A": of(b={"$ref": "#/definitions/B"}), "B": TEXT},
            },
            of(a={**of(b=TEXT), "description": "x"}),
        ),
        (of(a={"$ref": "#"}), of(a=of(a=EMPTY))),
        (
            {
                **of(a={"$ref": "#/$defs/A"}),
                "$defs": {"A": of(next={"$ref": "#/$defs/A"})},
            },
            of(a=of(next=EMPTY)),
        ),
        (of(a={"$ref": "#/nowhere"}), of(a={})),
        (of(a=TEXT, b={"$ref": "#/properties/a"}), of(a=TEXT, b=TEXT)),
        (of(**{"$ref": TEXT}), of(**{"$ref": TEXT})),
    ],
)
def test_what_all_providers_take(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    assert sendable_schema(schema) == sent
    assert sendable_schema(sent) == sent


def test_references_that_multiply_are_left_as_they_are() -> None:
    twice = {
        f"A{n}": of(l={"$ref": f"#/$defs/A{n + 1}"}, r={"$ref": f"#/$defs/A{n + 1}"})
        for n in range(30)
    }
    schema = {**of(a={"$ref": "#/$defs/A0"}), "$defs": {**twice, "A30": TEXT}}
    assert sendable_schema(schema)["properties"]["a"] == {"$ref": "#/$defs/A0"}
    assert sum(1 for _ in parts(sendable_schema(schema))) < MOST_PARTS


@pytest.mark.parametrize(
    ("schema", "plain"),
    [
        (of(a={**TEXT, "format": "uri", "pattern": "x"}), of(a=TEXT)),
        ({**of(), "$schema": "x", "additionalProperties": False}, of()),
        (of(a={"type": ["string", "null"]}), of(a={"type": "string", "nullable": True})),
        (of(a={"type": ["string", "number"]}), of(a={})),
        (of(a={"const": "x"}), of(a={"enum": ["x"]})),
        (of(a={**TEXT, "enum": ["", "x"]}), of(a=TEXT)),
        (of(a={"type": "integer", "enum": [1, 2]}), of(a={"type": "integer"})),
        (of(a={"oneOf": [TEXT, {"not": TEXT}]}), of(a={"anyOf": [TEXT, {}]})),
        (of(format=TEXT, pattern=TEXT), of(format=TEXT, pattern=TEXT)),
    ],
)
def test_the_plainest_form(schema: dict[str, Any], plain: dict[str, Any]) -> None:
    assert plain_schema(schema) == plain
