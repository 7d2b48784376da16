"""What crosses between Python and JavaScript is said the same wherever it is said.

``web/types/python.d.ts``, which JavaScript is checked against, says what Python does; the two
libraries and the tables of docs/embedding.md name the same options, methods, events and codes.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from personae.errors import PersonaeError
from personae.player.character_player import CharacterPlayer
from personae.protocol import protocol
from personae.settings import Settings
from personae.turn.events import EVENTS

from tests.player.support import World, agent, package, playing

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
DECLARED = (WEB / "types" / "python.d.ts").read_text("utf-8")
LIBRARY = (WEB / "character-player.js").read_text("utf-8")
DOCUMENT = (ROOT / "docs" / "embedding.md").read_text("utf-8")
EMBED = ast.parse((WEB / "personae" / "browser" / "embed.py").read_text("utf-8"))

OF_THE_APP = {"resubmit", "continue_", "rename_conversation", "export_default_data"} | {
    *("undo", "bring_back"),
    *("snapshot", "restore", "agent_log", "configure", "settings", "events", "package"),
    *("warnings", "entries", "conversation_id", "character_id", "read_only", "answering", "turn"),
}
"""What Python's player has for the app beside what embedders of either language have."""


HEARD_BY_EMBEDDERS = {f"{kind}Error" for kind in ("Package", "Model", "Agent", "Storage", "Usage")}
OTHERS_HEAR = {"tool_arguments_invalid", "bad_backup", "cannot_undo"} | {
    *("unknown_character", "file_missing", "file_damaged", "files_busy")
}
"""Codes that only a model meets, or the app with its library."""


def body(kind: str, name: str) -> str:
    """What stands between the braces of a declaration."""
    found = re.search(rf"{kind} {name} \{{\n(.*?)^\}}", DECLARED, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def members(interface: str) -> set[str]:
    """The names that an interface declares."""
    return set(re.findall(r"^  (?:readonly )?(\w+)[?(:]", body("interface", interface), re.M))


def texts(union: str) -> set[str]:
    """The texts that a type is made of."""
    found = re.search(rf"type {union} =(.*?);", DECLARED, re.DOTALL)
    assert found
    return set(re.findall(r'"(\w+)"', found[1]))


def constant(name: str) -> Any:
    """A module constant of the embedders' face, which CPython cannot import."""
    (value,) = (
        node.value
        for node in EMBED.body
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == [name]
    )
    return eval(ast.unparse(value))


def table(heading: str) -> str:
    """The first column of a table in docs/embedding.md."""
    section = DOCUMENT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert rows, heading
    return " ".join(rows)


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


@dataclass(frozen=True)
class Method:
    """A public method of the JavaScript library."""

    parameters: tuple[str, ...]
    at_once: bool
    python: str | None
    """What it calls of Python's player; None: it works on the page's side."""


def methods() -> dict[str, Method]:
    found = {}
    for match in re.finditer(r"^  (async )?(\w+)\((.*?)\) \{\n(.*?)^  \}", LIBRARY, re.M | re.S):
        is_async, name, given, inner = match.groups()
        if name == "constructor":
            continue
        call = re.search(r'this\.#(call|now)\("(\w+)"', inner)
        later = bool(is_async) or (call is not None and call[1] == "call")
        names = re.findall(r"\w+", re.sub(r"= *[^,]*$", "", given))
        found[name] = Method(tuple(names), not later, call[2] if call else None)
    return found


METHODS = methods()


def public(cls: type) -> set[str]:
    return {name for name in vars(cls) if not name.startswith("_")}


def used_of_host() -> Iterator[str]:
    for path in (WEB / "personae").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "personae_host":
                yield node.attr


def test_what_python_asks_of_its_host_is_declared() -> None:
    used = set(used_of_host())
    assert {"openStorage", "tryLock"} <= used <= members("Host")


@pytest.mark.parametrize(
    ("union", "name"), [("Call", "CALLS"), ("CallNow", "CALLS_NOW")], ids=["later", "at once"]
)
def test_what_embedders_may_call_is_declared(union: str, name: str) -> None:
    called = {m.python for m in METHODS.values() if m.python and m.at_once == (union == "CallNow")}
    assert texts(union) == set(constant(name)) == called


def test_options_are_the_same_everywhere() -> None:
    documented = set(re.findall(r"`(\w+)`", table("Options")))
    keywords = constant("_OPTIONS")
    assert documented == members("Options") == {"package", "storage", *keywords}
    assert {name: snake(name) for name in keywords} == keywords
    # A key is kept with the origin it is for.
    known = {field.name for field in fields(Settings)} - {"credentials"} | {"api_key"}
    assert set(keywords.values()) == known
    assert {"package", "storage"} <= set(inspect.signature(CharacterPlayer).parameters)


def test_methods_are_documented_with_their_parameters() -> None:
    documented = dict(re.findall(r"`(\w+)\((.*?)\)`", table("Methods")))
    named = {name: tuple(re.findall(r"\w+", given)) for name, given in documented.items()}
    listening = {"on": ("event", "fn")}
    assert named == {**{name: method.parameters for name, method in METHODS.items()}, **listening}


def test_what_answers_at_once_is_documented() -> None:
    sentence = re.search(r"return promises; (.*?)\s+answer at once", DOCUMENT, re.DOTALL)
    assert sentence
    at_once = {name for name, method in METHODS.items() if method.at_once}
    assert set(re.findall(r"`(\w+)\(\)`", sentence[1])) == at_once - {"on"}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_its_twin_in_python(name: str) -> None:
    method = METHODS[name]
    twin = getattr(CharacterPlayer, snake(name))
    assert method.python in (None, snake(name))
    assert inspect.iscoroutinefunction(twin) is not method.at_once
    positional = [
        p for p in inspect.signature(twin).parameters.values() if p.kind != p.KEYWORD_ONLY
    ]
    given = [p for p in method.parameters if p != "signal"]
    assert len(positional) == len(given) + 1  # and self
    for ours, theirs in zip(positional[1:], given, strict=True):
        assert ours.name == snake(theirs) or ours.name.endswith(f"_{snake(theirs)}")


def test_python_has_nothing_else_in_public_but_what_the_app_uses() -> None:
    shared = {snake(name) for name in METHODS} | {"ready"}
    of_instances = {"settings", "events"}
    assert public(CharacterPlayer) | of_instances == shared | OF_THE_APP
    assert re.search(r"^    this\.ready = ", LIBRARY, re.MULTILINE)


def test_events_are_the_same_everywhere() -> None:
    declared = set(protocol()["events"])
    documented = set(re.findall(r"`(\w+)`", table("Events")))
    subscribed = re.search(r"Subscribes to (.*?);", LIBRARY)
    assert subscribed
    assert set(EVENTS) - {"change"} == declared == documented == members("Emissions")
    assert set(re.findall(r"\w+", subscribed[1])) - {"or"} == declared


def test_what_an_event_carries_is_typed_as_it_is_declared() -> None:
    objects = {"message": body("interface", "Reply"), "error": body("interface", "Failure")}
    emissions = body("interface", "Emissions")
    for event, carried in protocol()["events"].items():
        if carried == "string":
            assert f"  {event}: string;" in emissions
        else:
            (inline,) = re.findall(rf"^  {event}: (.*);$", emissions, re.MULTILINE)
            assert set(re.findall(r"(\w+)\??:", objects.get(event, inline))) == set(carried)


async def test_events_carry_what_is_declared() -> None:
    heard: dict[str, Any] = {}
    await talk_of_everything(heard)
    assert set(heard) == set(protocol()["events"])
    for event, carried in protocol()["events"].items():
        payload = heard[event]
        if isinstance(payload, PersonaeError):
            payload = {name: getattr(payload, name) for name in ("code", "message", "detail")}
        if carried == "string":
            assert type(payload) is str
            continue
        needed = {name for name, kind in carried.items() if not kind.endswith("?")}
        assert needed <= payload.keys() <= carried.keys()
        for name, value in payload.items():
            kinds = {"string": str, "boolean": bool, "object": dict, "array": list}
            assert type(value) is kinds[carried[name].rstrip("?")], f"{event}.{name}"


async def talk_of_everything(heard: dict[str, Any]) -> None:
    """A turn whose tool says something and another that fails; the last payload of each event."""

    def act(name: str, args: Any, store: Any, studio: Any, context: Any) -> str:
        studio.notice("log", "l")
        studio.notice("toast", "t")
        return "done"

    def fail(event: Any, store: Any, studio: Any, context: Any) -> None:
        raise ValueError("on purpose")

    world = World({"a": {"onToolCall": act}, "b": {"onBeforeResponse": fail}})
    character = package(agent("a", "act"), agent("b", hooks=frozenset({"beforeResponse"})))
    async with playing(world, character) as player:
        for event in protocol()["events"]:
            player.on(event, partial(heard.__setitem__, event))
        world.transport.calls(("act", {}))
        world.transport.says("Well.")
        await player.send("Do")


def raised() -> set[str]:
    """The codes that the player raises for embedders; the app's own views are left out."""
    codes = set()
    for path in (WEB / "personae").rglob("*.py"):
        if "ui" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in HEARD_BY_EMBEDDERS:
                codes |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant)}
    return codes - OTHERS_HEAR


def test_codes_are_documented() -> None:
    """Those of the library, of its Python side and of the player; a prefix stands for many."""
    section = DOCUMENT.partition("\n## Errors\n")[2]
    documented = set(re.findall(r"`([a-z_]+)`", table("Errors")))
    prefixes = tuple(code for code in documented if code.endswith("_"))
    assert set(re.findall(r"`([a-z_]+)`…", section)) == set(prefixes)
    own = set(re.findall(r'code: "(\w+)"', LIBRARY))
    own |= set(re.findall(r'"code": "(\w+)"', ast.unparse(EMBED).replace("'", '"')))
    codes = own | raised()
    assert {code for code in codes if not code.startswith(prefixes)} == documented - set(prefixes)
    core = "".join(path.read_text("utf-8") for path in (WEB / "personae").rglob("*.py"))
    assert all(re.search(rf'"{prefix}\w+"', core) for prefix in prefixes)
