"""The quick look agrees with jsonschema, and foreign schemas cannot hang or call out."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.json_schema import (
    Violation,
    certainly_valid,
    is_tame,
    own_schema,
    schema_fault,
    violations,
)

SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab", max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
KINDS = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    counts = st.integers(0, 3)
    leaf = st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS | st.lists(KINDS, min_size=1, max_size=2, unique=True),
            "minimum": st.integers(-2, 2),
            "maximum": st.integers(-2, 2),
            "minLength": counts,
            "maxLength": counts,
            "minItems": counts,
            "maxItems": counts,
            "uniqueItems": st.booleans(),
            "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "const": SCALARS,
            "description": st.just("text"),
            "pattern": st.sampled_from(["^a", "b+$", "a|b", "[ab]{2}"]),
        },
    )
    return st.recursive(
        leaf,
        lambda inner: st.fixed_dictionaries(
            {},
            optional={
                "type": KINDS,
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
                "additionalProperties": inner | st.booleans(),
                "items": inner,
            },
        ),
        max_leaves=6,
    )


@given(VALUES, schemas())
@settings(max_examples=300, deadline=None)
def test_certainly_valid_means_valid(value: Any, schema: dict[str, Any]):
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    if certainly_valid(value, schema, schema):
        assert valid
    assert (violations(value, schema) == []) == valid


@given(schemas() | VALUES)
@settings(max_examples=200, deadline=None)
def test_a_schema_without_fault_is_one_to_jsonschema(schema: Any):
    if schema_fault(schema) is None:
        jsonschema.Draft202012Validator.check_schema(schema)


def test_plain_work_never_imports_the_library():
    code = (
        "import sys\n"
        "from personae.package.json_schema import *\n"
        "schema = {'type': 'object', 'properties': {'n': {'type': 'integer', 'minimum': 1},"
        " 'kind': {'enum': ['a', 'b']}, 'list': {'type': 'array', 'items': {'type': 'string'}}},"
        " 'required': ['n'], 'additionalProperties': False}\n"
        "assert schema_fault(schema) is None\n"
        "assert violations({'n': 2, 'kind': 'a', 'list': ['x']}, schema) == []\n"
        "assert violations({'name': 'Ada', 'agents': ['a']}, own_schema('config')) == []\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_violations_have_paths_and_words():
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert violations({"a": ["x", 1]}, schema) == [
        Violation(("a", 1), "must be string, is integer")
    ]
    assert violations({"a": [1]}, schema)[0].where == "a[0]"
    assert violations({"n": True}, {"properties": {"n": {"type": "number"}}})[0].message == (
        "must be number, is boolean"
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ([], "an object"),
        ({"type": "string"}, "type is object"),
        ({"properties": {"a": {"type": "strin"}}}, "not a JSON Schema"),
        ({"properties": 1}, "not a JSON Schema"),
        ({"required": ["a", "a"]}, "not a JSON Schema"),
        ({"properties": {"a": {"$ref": "https://example.org/x"}}}, "outside the schema"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "outside the schema"),
        ({"patternProperties": {"^(a+)+$": {}}}, "applied safely"),
        (
            {"properties": {"a": {"$id": "https://example.org/", "$ref": "#/x"}}},
            "outside the schema",
        ),
    ],
)
def test_unusable_schemas(schema: Any, reason: str):
    assert reason in (schema_fault(schema) or "")


def test_ordinary_schemas_have_no_fault():
    assert schema_fault({}) is None
    assert (
        schema_fault(
            {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
        )
        is None
    )
    assert (
        schema_fault({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})
        is None
    )


def test_references_inside_the_schema_are_followed():
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert violations({"a": 1}, schema) == []
    assert violations({"a": "x"}, schema)[0].path == ("a",)
    assert "cannot be applied" in violations({}, {"$ref": "#/$defs/absent"})[0].message


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"oneOf": [{}]}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def test_ordinary_depth_is_fine():
    schema, value = nested(15), {}
    for _ in range(15):
        value = {"a": value}
    assert schema_fault(schema) is None
    assert violations(value, schema) == []


def test_hostile_schemas_end():
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 4} for n in range(30)}
    doubling = {"$defs": {**levels, "l30": {}}, "$ref": "#/$defs/l0"}
    endless = {"$ref": "#"}
    for hostile in (doubling, endless, {"allOf": [endless]}):
        assert not certainly_valid({}, hostile, hostile)
        assert "too much work" in violations({}, hostile)[0].message
    assert schema_fault(nested(300)) == "the schema is nested too deeply"


def test_patterns_are_applied_when_they_are_tame():
    patterns = {"day": r"^\d{4}-\d\d$", "wild": "^(a+)+$", "other": r"^\p{L}$"}
    schema = {"properties": {name: {"pattern": pattern} for name, pattern in patterns.items()}}
    assert schema_fault(schema) is None
    assert violations({"day": "2024-05"}, schema) == []
    assert violations({"day": "May"}, schema)[0].path == ("day",)
    assert violations({"wild": "a" * 60 + "b"}, schema) == []
    assert violations({"other": "?"}, schema) == []


@pytest.mark.parametrize("closed", ["additionalProperties", "unevaluatedProperties"])
def test_names_meet_tame_patterns_only(closed: str):
    def matching(pattern: str) -> dict[str, Any]:
        return {
            "properties": {
                "a": {"patternProperties": {pattern: {"type": "integer"}}, closed: False}
            }
        }

    assert violations({"a": {"n1": 1}}, matching("^n[0-9]+$")) == []
    assert violations({"a": {"n1": "x"}}, matching("^n[0-9]+$"))[0].path == ("a", "n1")
    assert violations({"a": {"x": 1}}, matching("^n[0-9]+$"))[0].path == ("a",)
    hostile = violations({"a": {"a" * 60 + "b": 1}}, matching("^(a+)+$"))
    assert "patternProperties has '^(a+)+$'" in hostile[0].message
    assert "property name" in violations({"a": {"a" * 20_000: 1}}, matching("a*b"))[0].message


@pytest.mark.parametrize("pattern", ["(a+)+", "a*a*b", r"(a)\1", "a?a?b", "(?=a)", "(a|b){2,}"])
def test_wild_patterns(pattern: str):
    assert not is_tame(pattern)


def test_config_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(own_schema("config"))
    jsonschema.Draft202012Validator.check_schema(own_schema("plain-parameters"))


def test_a_missing_library_is_asked_for_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(ModuleNotFoundError):
        violations({"name": 5}, {"properties": {"name": {"type": "string", "format": "x"}}})
