"""What the agents panel says about an agent. Pure."""

from __future__ import annotations

from typing import Any

from personae.ui import formats

_LANGUAGES = {
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "python": "Python",
    "lua": "Lua",
}


def log_text(line: dict[str, Any]) -> tuple[str, str]:
    """(headline, details) of one line of an agent's log."""
    if line["kind"] != "call":
        return str(line["text"]), ""
    took = f", {line['milliseconds']:.0f} ms" if "milliseconds" in line else ""
    facts = [("arguments", line.get("args")), ("result", line.get("result"))]
    shown = [f"{name}: {value}" for name, value in facts if value not in (None, "", [])]
    return f"{line.get('function', 'call')}{took}", "\n".join(shown)


def lines_gone(drawn: list[dict[str, Any]], log: list[dict[str, Any]]) -> int:
    """How many drawn lines, from the first, are not in the log any more: it grows at its end."""
    for gone in range(len(drawn)):
        if drawn[gone:] == log[: len(drawn) - gone]:
            return gone
    return len(drawn)


def agent_facts(agent: dict[str, Any]) -> list[tuple[str, str]]:
    """(term, value) pairs for what an agent declares; empty ones are left out."""
    facts = [
        ("Language", _LANGUAGES.get(str(agent.get("language")), str(agent.get("language") or ""))),
        ("Version", str(agent.get("version") or "")),
        ("Kind", "Sub-agent" if agent.get("subAgent") else ""),
        ("Tools", _tools(agent.get("tools"))),
        ("Commands", ", ".join(f"@{name}" for name in _name_list(agent.get("commands")))),
        ("May use", _names(agent.get("apis"))),
        ("Hooks", _names(agent.get("hooks"))),
        ("Libraries", _names(agent.get("libraries"))),
        ("Preload", "yes" if agent.get("preload") else ""),
        ("Model calls", _model_calls(agent.get("modelCalls") or {})),
    ]
    return [(term, value) for term, value in facts if value]


def _model_calls(account: dict[str, int]) -> str:
    """What they have come to since the conversation was opened; nothing when there were none."""
    spent, reserved, refused = (account.get(name, 0) for name in ("spent", "reserved", "refused"))
    if not (spent or reserved or refused):
        return ""
    parts = [f"{formats.count(spent)} tokens spent"]
    if reserved:
        parts.append(f"{formats.count(reserved)} held for calls under way")
    if refused:
        parts.append(f"{formats.plural(refused, 'call')} refused")
    return ", ".join(parts)


def _names(items: Any) -> str:
    return ", ".join(_name_list(items))


def _tools(items: Any) -> str:
    """Names; those that another agent registered first say so."""
    return ", ".join(
        str(item["name"]) + ("" if item.get("registered", True) else " (taken)")
        for item in items or []
    )


def _name_list(items: Any) -> list[str]:
    return [str(item["name"] if isinstance(item, dict) else item) for item in items or []]
