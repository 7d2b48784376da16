"""The log on stderr, one line a record, and the access log.

Invariants: no query string, header or body is ever logged (queries name what people read, bodies
are their conversations), and the operator's key is cut out of every line, tracebacks included.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from personae_server import metrics

log = logging.getLogger("personae_server.access")
FACTS = ("method", "path", "status", "ms", "bytes", "client")


def set_up(form: str, secret: str) -> None:
    """Sends every logger's records to stderr as ``text`` or ``json`` lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(form, secret))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # These log whole URLs at INFO.
    for name in ("httpx", "httpcore", "trafilatura"):
        logging.getLogger(name).setLevel(logging.WARNING)


class LineFormatter(logging.Formatter):
    """One line a record: the time in UTC, the level, the message, the access log's facts."""

    def __init__(self, form: str, secret: str) -> None:
        super().__init__()
        self.form = form
        self.secret = secret

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: getattr(record, name) for name in FACTS if hasattr(record, name)},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = json.dumps(line) if self.form == "json" else _as_text(line)
        return text.replace(self.secret, "***") if self.secret else text


def _as_text(line: dict[str, object]) -> str:
    traceback = line.pop("traceback", None)
    facts = " ".join(str(line[name]) for name in FACTS if name in line)
    text = f"{line['time']} {line['level']} {line['message']} {facts}".rstrip()
    # Escaped, so that nothing in a path can forge a line.
    text = text.encode("unicode_escape").decode("ascii")
    return f"{text}\n{traceback}" if traceback else text


class AccessLog:
    """ASGI middleware: counts and logs every request once it has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        visit = _Visit(scope)

        async def counted(message: Message) -> None:
            visit.note(message)
            await send(message)

        with metrics.UNDER_WAY.labels(visit.route).track_inprogress():
            try:
                return await self.app(scope, receive, counted)
            finally:
                visit.report()


class _Visit:
    """One request while it is answered."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.route = metrics.route_of(scope)
        self.start = time.perf_counter()
        self.status = 499  # as nginx says it: the client left before an answer
        self.sent = 0

    def note(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.sent += len(message.get("body", b""))

    def report(self) -> None:
        seconds = time.perf_counter() - self.start
        method = self.scope["method"] if self.scope["method"] in _METHODS else "other"
        metrics.REQUESTS.labels(self.route, method, self.status).inc()
        metrics.SECONDS.labels(self.route).observe(seconds)
        metrics.SENT.labels(self.route).inc(self.sent)
        client = self.scope.get("client")
        facts = (self.scope["method"], self.scope["path"], self.status, round(seconds * 1000),
                 self.sent, client[0] if client else "-")  # fmt: skip
        log.info("request", extra=dict(zip(FACTS, facts, strict=True)))


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
