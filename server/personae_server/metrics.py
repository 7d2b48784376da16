"""What Prometheus is told. Labels come from short fixed lists, never from what clients send."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.types import Scope

SHARED = "PROMETHEUS_MULTIPROC_DIR"

REQUESTS = Counter("personae_requests", "Requests answered", ["route", "method", "status"])
SECONDS = Histogram(
    "personae_request_seconds",
    "Seconds from a request to the end of its answer",
    ["route"],
    buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600),
)
UNDER_WAY = Gauge(
    "personae_requests_under_way", "Requests being answered", ["route"],
    multiprocess_mode="livesum",
)  # fmt: skip
SENT = Counter("personae_sent_bytes", "Bytes of answers sent", ["route"])
ERRORS = Counter("personae_errors", "Refusals and failures by code", ["route", "code"])
CACHE = Counter("personae_cache", "Package cache: hit, miss, stored, failed", ["outcome"])
RATE_LIMITED = Counter("personae_rate_limited", "Requests over a limit", ["purpose"])
TOKENS = Counter("personae_relay_tokens", "Model tokens", ["kind"])

_ROUTES = ("/proxy", "/read", "/v1/chat/completions", "/v1/models", "/healthz", "/config.json")


def route_of(scope: Scope) -> str:
    """A request's route as a label."""
    path = path_of(scope)
    if path in _ROUTES:
        return path
    return "/characters/" if path.startswith("/characters/") else "static"


def path_of(scope: Scope) -> str:
    """The path below the mount point, with a leading slash."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def serve_metrics(host: str, port: int) -> WSGIServer:
    """Answers on ``/metrics`` from a thread, for all worker processes together."""
    registry = REGISTRY
    if SHARED in os.environ:
        registry = CollectorRegistry()
        registry.register(_LivingProcesses(None))  # type: ignore[no-untyped-call]
    server, _ = start_http_server(port, host, registry)
    return server


class _LivingProcesses(MultiProcessCollector):
    """Forgets the gauges of workers that ended, before every collection."""

    def collect(self) -> Iterable[Metric]:
        for path in Path(os.environ[SHARED]).glob("gauge_live*.db"):
            pid = int(path.stem.rpartition("_")[2])
            if not Path(f"/proc/{pid}").exists():
                mark_process_dead(pid)  # type: ignore[no-untyped-call]
        found: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return found
