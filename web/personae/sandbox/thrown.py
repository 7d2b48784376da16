"""What a worker tells of a value that an agent threw, and how people and models are told."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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
    def read(cls, fields: Mapping[str, Any], files: Collection[str]) -> Thrown:
        """From a stranger's ``error`` or ``failed``; ``files``: the paths of the agent's files."""
        file = fields.get("file")
        is_known = file in files
        return cls(
            message=clean(fields["message"]),
            type=None if fields.get("name") is None else clean(fields["name"], "nameCharacters"),
            file=file if is_known else None,
            line=fields.get("line") if is_known else None,
            stack=None if fields.get("stack") is None else clean(fields["stack"]),
        )

    def words(self) -> str:
        """Type and message: what is the agent's own, for people."""
        return f"{self.type}: {self.message}" if self._is_named() else self.message

    def place(self) -> str:
        """``" (agents/a.js, line 3)"``; empty where it is not known or stands in the message."""
        if self.file is None or self.message.startswith(f"{self.file}:"):
            return ""
        return f" ({self.file})" if self.line is None else f" ({self.file}, line {self.line})"

    def for_model(self) -> str:
        """The message, with its type in front where it says nothing without it."""
        says_nothing = self.type not in _NO_HELP and _VALUE.fullmatch(self.message)
        return self.words() if says_nothing else self.message

    def located(self) -> str:
        """Words and place: what a model is told of a module that cannot be loaded."""
        return self.words() + self.place()

    def facts(self) -> dict[str, Any]:
        """For ``AgentError.detail``."""
        facts = asdict(self)
        del facts["message"]
        return {"thrown": self.words(), **facts}

    def _is_named(self) -> bool:
        """Whether the type is a class of errors that the message does not begin with."""
        return bool(self.type and self.type[0].isupper()) and not self.message.startswith(
            str(self.type)
        )


def clean(text: str, most: str = "noticeCharacters") -> str:
    """Well-formed Unicode of a bounded length, whatever a worker sent."""
    return text[: limit(most)].encode("utf-8", "replace").decode("utf-8")
