"""What a field of a request may hold: small kinds that check a value and say what they take.

``clean`` gives back what may be forwarded; ``rows`` describes the kind for docs/hosting.md, one
line a field. Invariants: an object's unknown field is refused by its path, never passed on or
left out silently; null is the absence of a field; nothing is changed on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from personae_server.errors import HttpError

Rows = Iterator[tuple[str, str]]
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2})", re.IGNORECASE)
"""How a URL begins that does not stay where it is."""


class Kind:
    """Anything at all; the others narrow it."""

    @property
    def accepts(self) -> str:
        """For a sentence: "n has to be ..."."""
        return "anything"

    def takes(self, value: Any) -> bool:
        """Whether the value is of this kind's sort, as far as one look shows."""
        return True

    def clean(self, value: Any, path: str) -> Any:
        """``value`` as it is forwarded. Raises HttpError: field_invalid, field_not_forwarded."""
        if not self.takes(value):
            raise invalid(path, self.accepts)
        return value

    def rows(self, path: str) -> Rows:
        yield path, self.accepts


class Flag(Kind):
    @property
    def accepts(self) -> str:
        return "true or false"

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Number(Kind):
    least: float
    most: float
    whole: bool = False

    @property
    def accepts(self) -> str:
        low = "" if self.least == float("-inf") else f" from {self.least:,}"
        return f"a {'whole ' * self.whole}number{low}{' to' if low else ' up to'} {self.most:,}"

    def takes(self, value: Any) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or (self.whole and value != value // 1):
            return False
        return bool(self.least <= value <= self.most)


@dataclass(frozen=True, slots=True)
class Text(Kind):
    most: int = 0
    """Characters; 0 leaves the bound to the whole request's size."""

    @property
    def accepts(self) -> str:
        return f"text of at most {self.most} characters" if self.most else "text"

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and (not self.most or len(value) <= self.most)


class DataUrl(Kind):
    """The content itself: an address would be fetched from where the model service stands."""

    @property
    def accepts(self) -> str:
        return "a `data:` URL"

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value[:5].lower() == "data:"


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    words: tuple[str, ...]

    @property
    def accepts(self) -> str:
        return " or ".join(f"`{word}`" for word in self.words)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words


class Schema(Kind):
    """A JSON Schema that stands alone: what reads it must not fetch another document."""

    @property
    def accepts(self) -> str:
        return "a JSON Schema; its `$ref`s and `$id`s stay inside it"

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and not any(map(_leads_out, _objects(value)))


@dataclass(frozen=True, slots=True)
class ListOf(Kind):
    each: Kind
    most: int

    @property
    def accepts(self) -> str:
        return f"a list of at most {self.most:,}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, list) and len(value) <= self.most

    def clean(self, value: Any, path: str) -> Any:
        Kind.clean(self, value, path)
        return [self.each.clean(item, f"{path}[{at}]") for at, item in enumerate(value)]

    def rows(self, path: str) -> Rows:
        inner = list(self.each.rows(f"{path}[]"))
        if len(inner) == 1:
            yield path, f"{self.accepts}, each {inner[0][1]}"
        else:
            yield path, self.accepts
            yield from inner


@dataclass(frozen=True, slots=True)
class MapOf(Kind):
    each: Kind
    most: int

    @property
    def accepts(self) -> str:
        return f"an object of at most {self.most:,} values, each {self.each.accepts}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict) and len(value) <= self.most

    def clean(self, value: Any, path: str) -> Any:
        Kind.clean(self, value, path)
        return {name: self.each.clean(item, f"{path}.{name}") for name, item in value.items()}


@dataclass(frozen=True, slots=True)
class Shape(Kind):
    """An object with these fields and no others."""

    fields: Mapping[str, Kind]

    @property
    def accepts(self) -> str:
        return "an object"

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    def clean(self, value: Any, path: str) -> Any:
        Kind.clean(self, value, path)
        at = f"{path}." if path else ""
        kept: dict[str, Any] = {}
        for name, item in value.items():
            kind = self.fields.get(name)
            if item is None:
                kept |= {name: None} if kind else {}
                continue
            if kind is None:
                raise not_forwarded(f"{at}{name}")
            kept[name] = kind.clean(item, f"{at}{name}")
        return kept

    def rows(self, path: str) -> Rows:
        at = f"{path}." if path else ""
        for name, kind in self.fields.items():
            yield from kind.rows(f"{at}{name}")


@dataclass(frozen=True, slots=True)
class Tagged(Kind):
    """An object whose ``type`` says which shape it has."""

    shapes: Mapping[str, Shape]

    @property
    def accepts(self) -> str:
        return f"an object whose `type` is {Choice(tuple(self.shapes)).accepts}"

    def takes(self, value: Any) -> bool:
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in self.shapes

    def clean(self, value: Any, path: str) -> Any:
        Kind.clean(self, value, path)
        shape = self.shapes[value["type"]]
        rest = {name: item for name, item in value.items() if name != "type"}
        return {"type": value["type"]} | shape.clean(rest, path)

    def rows(self, path: str) -> Rows:
        yield path, self.accepts
        for shape in self.shapes.values():
            yield from shape.rows(path)


@dataclass(frozen=True, slots=True)
class Either(Kind):
    """The first kind that takes the value; the kinds differ in their values' JSON type."""

    kinds: tuple[Kind, ...]

    @property
    def accepts(self) -> str:
        return ", or ".join(kind.accepts for kind in self.kinds)

    def takes(self, value: Any) -> bool:
        return any(kind.takes(value) for kind in self.kinds)

    def clean(self, value: Any, path: str) -> Any:
        Kind.clean(self, value, path)
        return next(kind for kind in self.kinds if kind.takes(value)).clean(value, path)

    def rows(self, path: str) -> Rows:
        yield path, self.accepts
        for kind in self.kinds:
            for at, accepts in kind.rows(path):
                if at != path:
                    yield at, accepts


@dataclass(frozen=True, slots=True)
class Sized(Kind):
    """A kind whose values' JSON has a bound."""

    kind: Kind
    most: int
    """Bytes."""

    @property
    def accepts(self) -> str:
        return f"{self.kind.accepts}; at most {self.most // 1024} KiB of JSON"

    def takes(self, value: Any) -> bool:
        return self.kind.takes(value)

    def clean(self, value: Any, path: str) -> Any:
        cleaned = self.kind.clean(value, path)
        if len(encoded(cleaned)) > self.most:
            raise invalid(path, self.accepts)
        return cleaned

    def rows(self, path: str) -> Rows:
        first, *inner = self.kind.rows(path)
        yield first[0], self.accepts
        yield from inner


def encoded(value: Any) -> bytes:
    """JSON text. Raises HttpError (request_invalid) where there is none."""
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        message = "The request is nested too deeply, or holds a number that is none in JSON."
        raise HttpError(400, "request_invalid", message) from error


def invalid(path: str, accepts: str) -> HttpError:
    return HttpError(400, "field_invalid", f"{_named(path)} has to be {accepts}.")


def not_forwarded(path: str) -> HttpError:
    message = f"This host does not forward {_named(path)}: leave it out, or ask its operator."
    return HttpError(400, "field_not_forwarded", message)


def _named(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:200]}…"


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in ``value``, itself included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _leads_out(part: Mapping[str, Any]) -> bool:
    """A reference to another document, or a place under another address: what is read relative to
    that would be fetched from there, ``#/x`` as well."""
    names = (part.get(name) for name in ("$ref", "$dynamicRef", "$recursiveRef"))
    places = (part.get(name) for name in ("$id", "id"))
    return any(isinstance(name, str) and not name.startswith("#") for name in names) or any(
        isinstance(place, str) and _ADDRESS.match(place) for place in places
    )
