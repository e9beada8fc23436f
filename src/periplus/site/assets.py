"""Serves the static files: style sheet, script and images.

The files are read once at start. Each file has two URLs. The URL with a content hash is cached for a year; the plain
URL, for clients that cannot know the hash, is cached for an hour.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PREFIX = "/static/"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_ONE_YEAR = "public, max-age=31536000, immutable"
_ONE_HOUR = "public, max-age=3600"


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    headers: dict[str, str]


class Assets:
    """The static files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._addresses: dict[str, str] = {}
        self._files: dict[str, _File] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix in _TYPES:
                self.add(path.name, path.read_bytes())

    def add(self, name: str, body: bytes, own_headers: Mapping[str, str] | None = None) -> None:
        """Adds a file that is not in the folder, such as one that was generated."""
        stem, suffix = PurePath(name).stem, PurePath(name).suffix
        digest = hashlib.sha256(body).hexdigest()[:16]
        hashed = f"{stem}.{digest}{suffix}"
        headers = {"content-type": _TYPES[suffix], "etag": f'"{digest}"', **(own_headers or {})}
        self._addresses[name] = PREFIX + hashed
        self._files[hashed] = _File(body, headers | {"cache-control": _ONE_YEAR})
        self._files[name] = _File(body, headers | {"cache-control": _ONE_HOUR})

    def __contains__(self, name: str) -> bool:
        """Whether there is a file with this name, without a hash."""
        return name in self._addresses

    def media_type(self, name: str) -> str:
        """The Content-Type of a file."""
        return self._files[name].headers["content-type"]

    def address(self, name: str) -> str:
        """The URL path with the content hash, for links in pages."""
        return self._addresses[name]

    def route(self) -> Route:
        """The route of all static files."""
        return Route(PREFIX + "{name:path}", self._answer)

    def response(self, name: str, caching: str) -> Response:
        """A file that is served at another URL."""
        file = self._files[name]
        return Response(file.body, headers=file.headers | {"cache-control": caching})

    async def _answer(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        if request.headers.get("if-none-match") == file.headers["etag"]:
            return Response(status_code=304, headers=file.headers)
        return Response(file.body, headers=file.headers)
