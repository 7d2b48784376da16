"""What a worker gets beside its language's runtime, because its agent's source names it.

Invariant: the names here are those of ``extras`` in the built ``sandbox.json``. A name in a comment
counts: what is there too much costs a start, what is missing costs a call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from personae.package.model import AgentProgram

_SCRIPTS = {
    "url": r"\bURL(?:SearchParams)?\b",
    "encoding": r"\bText(?:En|De)coder\b",
    "base64": r"\b(?:atob|btoa)\b",
    "clone": r"\bstructuredClone\b",
    "crypto": r"\bcrypto\b",
}
_OF_LANGUAGE: Mapping[str, Mapping[str, str]] = {
    "javascript": _SCRIPTS,
    "typescript": _SCRIPTS,
    "python": {"timezones": r"\b(?:zoneinfo|tzdata)\b"},
    "lua": {},
}


def wanted_extras(program: AgentProgram) -> tuple[str, ...]:
    """Names of extras; what an agent library names counts like the agent's own."""
    sources = [program.source, *(library.source for library in program.libraries)]
    return tuple(
        name
        for name, pattern in _OF_LANGUAGE[program.language].items()
        if any(re.search(pattern, source) for source in sources)
    )
