"""What is told of an exception that an agent raised: type, message, place and stack."""

from __future__ import annotations

import linecache
import traceback
from types import TracebackType
from typing import Any

from .values import Refused

_OURS = __name__.rpartition(".")[0].replace(".", "/")
_MOST_FRAMES = 20


def remember(path: str, source: str) -> None:
    """Lets stacks quote the agent's lines: its file is in no file system."""
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)


def described(error: BaseException, path: str) -> dict[str, Any]:
    """``path``: of the agent's file. See Thrown in ``protocol.ts``; ``kind`` beside it."""
    kind = "memory" if isinstance(error, MemoryError) else "threw"
    kind = "value" if isinstance(error, Refused) else kind
    name = "ValueError" if isinstance(error, Refused) else type(error).__name__
    found: dict[str, Any] = {"kind": kind, "name": name, "file": path, "line": None, "stack": None}
    try:
        found["message"] = _message(error, path)
        found["line"] = _line(error, path)
        found["stack"] = _stack(error)
    except Exception:
        found.setdefault("message", "an error that cannot be shown")
    return found


def _message(error: BaseException, path: str) -> str:
    if isinstance(error, SyntaxError) and error.filename == path:
        return str(error.msg)
    return str(error) or type(error).__name__


def _line(error: BaseException, path: str) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path
    ]
    return lines[-1] if lines else None


def _stack(error: BaseException) -> str:
    """The traceback from the agent's first frame on; long ones without their middle."""
    summary = traceback.TracebackException(
        type(error), error, _without_ours(error.__traceback__), compact=True
    )
    if len(summary.stack) > _MOST_FRAMES:
        half = _MOST_FRAMES // 2
        summary.stack[half:-half] = []
    return "".join(summary.format()).rstrip()


def _without_ours(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and _OURS in frames.tb_frame.f_code.co_filename:
        frames = frames.tb_next
    return frames
