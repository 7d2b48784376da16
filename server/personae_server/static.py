"""The player's static files: types, caching and precompressed variants.

Invariants: a path with ``/assets/`` in it names its content, so it is cached for a year; all
else is revalidated by an ETag made from the content, never from a date (files of an installed
wheel all carry one date, whatever their version).
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from personae_server.headers import ASSETS, is_plain
from personae_server.metrics import path_of

# Spelled out: the system's table differs between machines and browsers insist on some of these.
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".lua": "text/plain; charset=utf-8",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
REFUSED = re.compile(r"q\s*=\s*0(\.0*)?")
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"


def media_type(name: str) -> str:
    return TYPES.get(Path(name).suffix.lower(), "application/octet-stream")


def accepted_encodings(header: str) -> set[str]:
    """The codings an Accept-Encoding header allows; one with ``q=0`` is refused."""
    accepted = set()
    for item in header.lower().split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        if name and not any(REFUSED.fullmatch(parameter) for parameter in parameters):
            accepted.add(name)
    return accepted


class PlayerFiles(StaticFiles):
    """Serves the bundle, in the smallest form the client takes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory)

    def get_path(self, scope: Scope) -> str:
        # A path that leads somewhere else than it says would get the wrong headers.
        if not is_plain(path_of(scope)):
            raise HTTPException(status_code=404)
        path = super().get_path(scope)
        return "index.html" if path == "." else path

    def file_response(
        self,
        full_path: Any,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        request = Headers(scope=scope)
        path = os.fspath(full_path)
        chosen, stat_result, coding = _variant(path, stat_result, request)
        headers = {
            "ETag": _etag(chosen, stat_result.st_ctime_ns),
            "Cache-Control": IMMUTABLE if ASSETS in path_of(scope) else REVALIDATED,
            "Vary": "Accept-Encoding",
        }
        if coding:
            headers["Content-Encoding"] = coding
        response = FileResponse(
            chosen, status_code, headers, media_type=media_type(path), stat_result=stat_result
        )
        if self.is_not_modified(response.headers, request):
            return NotModifiedResponse(response.headers)
        return response

    def is_not_modified(self, response_headers: Headers, request_headers: Headers) -> bool:
        return "if-none-match" in request_headers and super().is_not_modified(
            response_headers, request_headers
        )


def _variant(
    path: str, stat_result: os.stat_result, request: Headers
) -> tuple[str, os.stat_result, str | None]:
    """The precompressed file beside ``path`` that the client accepts, else ``path`` itself."""
    accepted = accepted_encodings(request.get("accept-encoding", ""))
    for coding, suffix in ENCODINGS:
        if coding in accepted:
            try:
                return path + suffix, Path(path + suffix).stat(), coding
            except OSError:
                continue
    return path, stat_result, None


@lru_cache(maxsize=4096)
def _etag(path: str, changed: int) -> str:
    with Path(path).open("rb") as file:
        return f'"{hashlib.file_digest(file, "sha256").hexdigest()[:32]}"'
