"""Where a package keeps its content files: the defaults, renamed by ``fileMappings``.

Everything that reads a content file asks this resolver (reference: fileMappings). Its paths are
clean, relative to the folder of config.json, and never leave the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from personae.package.archive.paths import UnsafeName, clean_path
from personae.package.json_text import locate, place
from personae.package.report import Report

ContentKey = Literal["Instructions", "System Prompt", "Description", "Introduction"]
CONTENT_KEYS: tuple[ContentKey, ...] = get_args(ContentKey)
CONTEXT_KEY = "ContextDirectory"

DEFAULTS: Mapping[str, str] = {
    "Instructions": "instructions.txt",
    "System Prompt": "system-prompt.txt",
    "Description": "description.txt",
    "Introduction": "intro.txt",
    CONTEXT_KEY: "context",
}


@dataclass(frozen=True, slots=True)
class Resolver:
    mapped: Mapping[str, str]
    """Only the keys that the package renames."""

    def path(self, key: str) -> str:
        return self.mapped.get(key, DEFAULTS[key])

    @property
    def context_folder(self) -> str:
        return self.path(CONTEXT_KEY)


def build_resolver(mappings: Mapping[str, Any], text: str, report: Report) -> Resolver:
    """``mappings`` is config.json's object (keys to text), ``text`` config.json itself.

    A path that leaves the package is an error, an unknown key a warning; null means the default.
    """
    mapped: dict[str, str] = {}
    for key, value in mappings.items():
        line, column = place(text, locate(text, ("fileMappings", key)))
        if key not in DEFAULTS:
            known = ", ".join(DEFAULTS)
            report.warning(
                "config.json", f"fileMappings has no key {key!r}; it has {known}", line, column
            )
            continue
        if not isinstance(value, str):
            continue
        try:
            mapped[key] = clean_path(value)
        except UnsafeName as reason:
            report.error("config.json", f"fileMappings[{key!r}]: {reason}", line, column)
    return Resolver(mapped)
