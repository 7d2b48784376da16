"""``GET /characters/`` and ``/characters/{name}.zip``: the zips of one folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from personae_server.errors import HttpError


class Characters:
    """Lists and serves ``*.zip`` of ``folder``, as it is at the time of each request."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def routes(self) -> list[Route]:
        return [
            Route("/characters/", self.index),
            Route("/characters/{name}.zip", self.one),
        ]

    async def index(self, request: Request) -> Response:
        """``[{"name", "url" (relative to this page), "bytes"}]``, sorted by name."""
        entries = await anyio.to_thread.run_sync(self._entries)
        return JSONResponse(entries, headers={"Cache-Control": "no-cache"})

    async def one(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = self.folder / f"{name}.zip"
        status = await anyio.to_thread.run_sync(self._status, path)
        if status is None:
            raise HttpError(404, "character_unknown", f"This server has no character {name!r}.")
        etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        headers = {"Cache-Control": "no-cache", "ETag": etag}
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return FileResponse(
            path,
            headers=headers,
            media_type="application/zip",
            filename=path.name,
            stat_result=status,
        )

    def _entries(self) -> list[dict[str, Any]]:
        found = sorted(self.folder.glob("*.zip"))
        statuses = [(path, self._status(path)) for path in found]
        return [
            {"name": path.stem, "url": quote(path.name), "bytes": status.st_size}
            for path, status in statuses
            if status is not None
        ]

    def _status(self, path: Path) -> os.stat_result | None:
        """None for what is not offered, by its own name or by that of what it links to."""
        try:
            real = path.resolve()
            offered = all(self._is_offered(each) for each in (path, real))
            return path.stat() if offered and real.is_file() else None
        except (OSError, ValueError, RuntimeError):  # the last for links in a circle
            return None

    def _is_offered(self, path: Path) -> bool:
        visible = path.suffix == ".zip" and not path.name.startswith(".")
        return visible and path.parent == self.folder
