"""What an error says to the person in front of the page: what happened, and what to do. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from personae.errors import AgentError, ModelError, PackageError, PersonaeError, StorageError

Action = Literal["settings", "retry", "none"]


@dataclass(frozen=True, slots=True)
class Advice:
    """``title`` what happened, ``remedy`` what to do, ``action`` the button that does it."""

    title: str
    remedy: str = ""
    action: Action = "none"
    detail: str = ""


_BY_STATUS: dict[int, tuple[str, Action]] = {
    400: ("The provider did not accept the request. Another model may help.", "settings"),
    401: ("The key was refused. Check it in the settings.", "settings"),
    402: ("The account has no credit left. Top it up with your provider.", "settings"),
    403: ("The key may not use this model. Choose another one in the settings.", "settings"),
    404: ("Check the base URL and the model name in the settings.", "settings"),
    413: (
        "The conversation is too long for this model. Choose one with a larger context.",
        "settings",
    ),
    429: ("The provider limits how much you may send. Wait a little, then try again.", "retry"),
}


def advise(error: BaseException) -> Advice:
    """Advice for any error; unknown ones are shown as they are, with a way on."""
    if isinstance(error, ModelError):
        return _model(error)
    if isinstance(error, AgentError):
        return Advice(error.message, "The character goes on. The agents panel says more.")
    if isinstance(error, PackageError):
        return Advice(error.message, "", "none")
    if isinstance(error, StorageError):
        return Advice(
            error.message,
            "The conversation goes on in memory. Export it before you close this tab.",
            "retry",
        )
    if isinstance(error, PersonaeError):
        return Advice(error.message)
    return Advice(
        "Something in the app went wrong.",
        "What was confirmed is saved. Try again, or reload the page.",
        "retry",
        f"{type(error).__name__}: {error}",
    )


def _model(error: ModelError) -> Advice:
    status: Any = error.detail.get("status")
    remedy, action = _BY_STATUS.get(status, ("", "retry"))
    if status is None:
        remedy, action = "Check the network and the base URL, then try again.", "retry"
    elif isinstance(status, int) and status >= 500:
        remedy, action = "The provider has a problem. Wait a little, then try again.", "retry"
    if remedy and remedy.split(".")[0] in error.message:
        remedy = ""
    return Advice(error.message, remedy, action)


def problem_lines(error: PackageError) -> list[tuple[str, str]]:
    """(place, reason) of every problem in a package error."""
    lines: list[tuple[str, str]] = []
    for problem in error.detail.get("problems", []):
        fact = _fields(problem)
        place = str(fact.get("file") or "")
        if fact.get("line") is not None:
            place += f", line {fact['line']}"
            if fact.get("column") is not None:
                place += f", column {fact['column']}"
        lines.append((place, str(fact.get("message") or "")))
    return lines


def _fields(problem: Any) -> dict[str, Any]:
    if isinstance(problem, dict):
        return problem
    return {name: getattr(problem, name, None) for name in ("file", "line", "column", "message")}
