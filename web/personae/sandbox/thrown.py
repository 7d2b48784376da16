"""What a worker tells of a value that an agent threw, and how people and models are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from personae.protocol import limit

_VALUE = re.compile(r"""(['"]).*\1|[-+]?[\d.]+""", re.DOTALL)
"""A message that is nothing but a quoted value or a number says nothing without its type."""
_NO_HELP = ("Error", "Exception")


@dataclass(frozen=True, slots=True)
class Thrown:
    message: str
    type: str | None
    """The class of an error or exception; else what the language calls such a value."""
    file: str | None
    line: int | None
    """Of the agent's own file: where it happened there, or what was called from there."""
    stack: str | None

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Thrown:
        """From the fields of ``error`` or ``failed``, which are a stranger's."""
        return cls(
            message=clean(fields["message"]),
            type=_short(fields.get("name")),
            file=_short(fields.get("file")),
            line=fields.get("line"),
            stack=None if fields.get("stack") is None else clean(fields["stack"]),
        )

    def for_model(self) -> str:
        """The message, with its type in front where the message says nothing without it."""
        named = self._is_named() and self.type not in _NO_HELP
        return (
            f"{self.type}: {self.message}"
            if named and _VALUE.fullmatch(self.message)
            else self.message
        )

    def placed(self) -> str:
        """Type, message and place, for people."""
        text = f"{self.type}: {self.message}" if self._is_named() else self.message
        if self.file is None or self.message.startswith(f"{self.file}:"):
            return text
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{text} ({place})"

    def facts(self) -> dict[str, Any]:
        """For ``AgentError.detail``."""
        facts = asdict(self)
        del facts["message"]
        return facts

    def _is_named(self) -> bool:
        """Whether the type is a class of errors that the message does not begin with."""
        return bool(self.type and self.type[0].isupper()) and not self.message.startswith(
            str(self.type)
        )


def clean(text: str) -> str:
    """Well-formed Unicode of a bounded length, whatever a worker sent."""
    return text[: limit("noticeCharacters")].encode("utf-8", "replace").decode("utf-8")


def _short(text: str | None) -> str | None:
    return None if text is None else clean(text[: limit("nameCharacters")])
