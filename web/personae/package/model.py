"""What a loaded character package is: plain values, nothing read lazily.

Produced by ``load.py``; everything the player needs afterwards is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from personae.ports import Language

HookEvent = Literal[
    "conversationStart", "beforeResponse", "afterResponse", "afterToolCall", "afterUserEdit"
]
"""The one list of hook events: manifests, calls and the sandbox go by it."""


def hook_function(event: HookEvent) -> str:
    """The function that an agent exports for an event."""
    return f"on{event[0].upper()}{event[1:]}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a package. ``error`` keeps it from loading, ``warning`` does not."""

    severity: Literal["error", "warning"]
    file: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON Schema of type object."""


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """Without the leading ``@``."""
    handler: str
    """The exported function, verbatim."""


@dataclass(frozen=True, slots=True)
class Manifest:
    agent: str
    version: str | None = None
    description: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    commands: tuple[Command, ...] = ()
    preload: bool = False
    apis: frozenset[str] = frozenset()
    """Declared bridge namespaces, e.g. ``studio.history``."""
    libraries: tuple[str, ...] = ()
    hooks: tuple[HookEvent, ...] = ()
    debug: bool = False


@dataclass(frozen=True, slots=True)
class AgentLibrary:
    name: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """One agent instance to run: a file, its manifest, and the instance's identity."""

    agent_id: str
    """Registered id: the config entry's; keys the store, becomes ``context.agentId``."""
    path: str
    language: Language
    source: str
    manifest: Manifest
    """Tools already carry the instance's names (composed entries rename them)."""
    libraries: tuple[AgentLibrary, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    """``context.config``: the composed entry's object, else empty."""
    sub_agent: SubAgent | None = None


@dataclass(frozen=True, slots=True)
class SubAgent:
    """A sub-agent's validated front matter (overrides applied), body and grants."""

    meta: Mapping[str, Any]
    body: str
    shared: tuple[str, ...] = ()
    """Ids of top-level instances whose tools it may call."""
    private: tuple[AgentProgram, ...] = ()
    """Instances of its own, ids namespaced under the sub-agent's id."""


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    config: Mapping[str, Any]
    system_prompt: str
    """The template; empty when there is none."""
    instructions: str
    description: str
    intro: str
    context: Mapping[str, str]
    """Path relative to the context directory -> text; dot-files included."""
    agents: tuple[AgentProgram, ...]
    """In load order."""
    default_stores: Mapping[str, Any]
    """Agent id -> initial store, from ``{agentId}.agent.json``."""
    warnings: tuple[Problem, ...] = ()
    digest: str = ""
    """Hash of the contents; the same files give the same digest."""
