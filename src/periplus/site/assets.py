"""Serves the static files: style sheet, script and images.

The files are read and compressed once at start. Each file has two URLs. The URL with a content hash is cached for a
year; the plain URL, for clients that cannot know the hash, is cached for an hour.
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

from periplus.site.content_encoding import chosen_encoding, variants

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
    variants: dict[str, bytes]  # the content by encoding
    digest: str
    headers: dict[str, str]

    def response(self, encoding: str) -> Response:
        """The file in this encoding, or without encoding where compression is useless."""
        used = encoding if encoding in self.variants else ""
        headers = self.headers | {"etag": f'"{self.digest}-{used}"' if used else f'"{self.digest}"'}
        return Response(self.variants[used], headers=headers | ({"content-encoding": used} if used else {}))


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
        headers = {"content-type": _TYPES[suffix], "vary": "accept-encoding", **(own_headers or {})}
        encoded = variants(body)
        self._addresses[name] = PREFIX + hashed
        self._files[hashed] = _File(encoded, digest, headers | {"cache-control": _ONE_YEAR})
        self._files[name] = _File(encoded, digest, headers | {"cache-control": _ONE_HOUR})

    @property
    def digests(self) -> list[str]:
        """The digest of every file."""
        return [file.digest for file in self._files.values()]

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
        found = self._files[name].response("")
        found.headers["cache-control"] = caching
        return found

    async def _answer(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        return file.response(chosen_encoding(request.headers.get("accept-encoding", "").encode("latin-1")))
