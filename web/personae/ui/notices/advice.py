"""What an error says to the person in front of the page: what happened, and what to do. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from personae.errors import AgentError, PackageError, PersonaeError
from personae.package.model import Problem
from personae.unicode import plain


@dataclass(frozen=True, slots=True)
class Advice:
    """``title`` what happened, ``remedy`` what to do."""

    title: str
    remedy: str = ""
    in_settings: bool = False
    """Whether the settings are where it is mended."""
    detail: str = ""


_SETTINGS_HELP = frozenset(
    {
        "model_unauthorized",
        "model_quota",
        "model_not_found",
        "model_bad_request",
        "model_context_length",
        "model_no_tools",
        "model_not_json",
        "model_bad_settings",
    }
)
"""Codes of errors that another key, address or model mends."""


def advise(error: BaseException) -> Advice:
    """Advice for any error; our own messages say what to do, others get a way on."""
    if isinstance(error, AgentError) and error.detail.get("thrown"):
        return _quoting(error, str(error.detail["thrown"]))
    if isinstance(error, PersonaeError):
        title, rest = headline(error.message)
        remedy = " ".join(map(_sentence, filter(None, (rest, _more(error)))))
        return Advice(title, remedy, error.code in _SETTINGS_HELP)
    return Advice(
        "Something in the app went wrong.",
        "What was confirmed is saved. Try again, or reload the page.",
        detail=f"{type(error).__name__}: {error}",
    )


def _quoting(error: AgentError, thrown: str) -> Advice:
    """An agent's own words stand apart from ours, in the details."""
    title = error.message.removesuffix(thrown).rstrip(": ")
    return Advice(f"{title}.", _more(error), detail=plain(thrown)[:_MOST_QUOTED])


_MOST_QUOTED = 2_000


def headline(message: str) -> tuple[str, str]:
    """A message as its first clause or sentence, and what follows."""
    match = _CLAUSE.match(message)
    if match is None or not match["rest"]:
        return message, ""
    return match["head"] + ("." if match["mark"] == "." else ""), match["rest"]


_CLAUSE = re.compile(r"(?P<head>.{12,120}?)(?P<mark>[.:])\s+(?P<rest>.*)\Z", re.DOTALL)


def _sentence(text: str) -> str:
    """With its full stop, which what an agent throws seldom has."""
    return text if text[-1] in ".!?…" else f"{text}."


def _more(error: PersonaeError) -> str:
    if isinstance(error, AgentError):
        return "The character goes on without it. The agents panel says more."
    return ""


def problem_lines(error: PackageError) -> list[tuple[str, str]]:
    """(place, reason) of every problem in a package error."""
    lines: list[tuple[str, str]] = []
    for fact in error.detail.get("problems", []):
        place = str(fact.get("file") or "")
        if fact.get("line") is not None:
            place += f", line {fact['line']}"
            if fact.get("column") is not None:
                place += f", column {fact['column']}"
        lines.append((place, str(fact.get("message") or "")))
    return lines


def problem_advice(error: PackageError) -> Advice:
    """A package that cannot be played, said beside the conversation that goes on."""
    lines = problem_lines(error)
    if not lines:
        title, rest = headline(error.message)
        return Advice(title, f"{rest} The conversation here goes on.".strip())
    detail = "\n".join(f"{place}: {reason}" if place else reason for place, reason in lines)
    return Advice(
        "This package cannot be played.",
        "Its author can mend that. The conversation here goes on.",
        detail=detail,
    )


def warning_advice(name: str, warnings: Sequence[Problem]) -> Advice:
    """What is odd about a package that can be played all the same; for its author."""
    lines = []
    for problem in warnings:
        line = "" if problem.line is None else f", line {problem.line}"
        lines.append(f"{problem.file}{line}: {problem.message}")
    count = "One thing" if len(lines) == 1 else f"{len(lines)} things"
    return Advice(
        f"{count} in the package of {name} may not work as meant.", detail="\n".join(lines)
    )
