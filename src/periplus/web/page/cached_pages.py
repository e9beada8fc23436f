"""The routes of a cached page: its text, the page as archived, its versions, and the difference between two of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.inspector.page_records import PageText, PageVersion
from periplus.model import CachedPage
from periplus.site.pages import Pages
from periplus.web.display import cached_link, clock, day, moment, page_link, raw_link, visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.page import sandbox
from periplus.web.page.differences import difference
from periplus.web.page.languages import language_tag
from periplus.web.page.library_port import Library
from periplus.web.page.reader import reader_page
from periplus.web.page.version_time import read_version_time, version_time
from periplus.web.parameters import QUERY_LENGTH, read_url
from periplus.web.search_queue import SearchQueue

_NO_COPY = "No cached copy of this page."
_UNLISTED = {"x-robots-tag": "noindex, nofollow"}
_VERSIONS_SHOWN = 100


class _Address(NamedTuple):
    """Which page is shown, and for which search."""

    url: str
    query: str
    at: str  # the time of the version as in the URL; empty: the version in the index

    @property
    def time(self) -> float | None:
        return read_version_time(self.at)


def _address(request: Request) -> _Address:
    parameters = request.query_params
    query = parameters.get("q", "").strip()[:QUERY_LENGTH]
    return _Address(read_url(parameters), query, parameters.get("at", "").strip())


class CachedPages:
    """The handlers of the cached page."""

    def __init__(self, engine: Engine, library: Library, pages: Pages, queue: SearchQueue) -> None:
        self._engine, self._library, self._pages, self._queue = engine, library, pages, queue

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/cached", self.text),
            Route("/cached/archived", self.archived),
            Route("/cached/raw", self.raw),
            Route("/cached/versions", self.versions),
            Route("/cached/changes", self.changes),
        ]

    async def text(self, request: Request) -> Response:
        """The reader view: the main text with the words of the query marked."""
        address = _address(request)
        time = address.time
        page = await self._text(request, address.url, address.query, time)
        reader = await self._queue.work(request, lambda: reader_page(page))
        dates = [(label, at) for label, at in (("Published", page.published), ("Changed", page.modified)) if at]
        return self._pages.response(
            "cached_text.html",
            headers=_UNLISTED,
            **self._heading(address, page.url, page.fetched_at, page.mime),
            tab="text",
            reader=reader,
            mime=visible(page.mime),
            language=language_tag(page.language),
            dates=[(label, day(at), moment(at)) for label, at in dates if day(at)],
        )

    async def archived(self, request: Request) -> Response:
        """The page around the frame with the archived page."""
        address = _address(request)
        page = await self._body(request, address.url, address.time)
        headers = {"content-security-policy": sandbox.frame_policy(request)} | _UNLISTED
        return self._pages.response(
            "cached_frame.html",
            headers=headers,
            **self._heading(address, page.url, page.fetched_at, page.mime),
            tab="archived",
            frame=raw_link(address.url, address.at) if sandbox.media_type(page.mime) else "",
            mime=visible(page.mime),
        )

    async def raw(self, request: Request) -> Response:
        """The archived page itself, for the frame."""
        address = _address(request)
        if not sandbox.is_framed(request):
            return RedirectResponse(page_link("/cached/archived", address.url, at=address.at), 303)
        page = await self._body(request, address.url, address.time)
        media_type = sandbox.media_type(page.mime)
        if not media_type:
            raise HTTPException(415, "Only text can be shown here.", sandbox.RAW_HEADERS)
        body = await self._queue.work(request, lambda: sandbox.sanitized(page))
        return Response(body, headers=sandbox.RAW_HEADERS | {"content-type": media_type})

    async def versions(self, request: Request) -> Response:
        """The list of archived versions, newest first."""
        address = _address(request)
        page = await self._text(request, address.url)
        found = await self._queue.work(request, lambda: self._library.versions(address.url))
        rows = [_version_row(address, found, number) for number in range(len(found))][::-1]
        return self._pages.response(
            "cached_versions.html",
            headers=_UNLISTED,
            **self._heading(address, page.url, page.fetched_at, page.mime),
            tab="versions",
            rows=rows[:_VERSIONS_SHOWN],
            count=len(rows),
        )

    async def changes(self, request: Request) -> Response:
        """The difference between two versions."""
        address = _address(request)
        times = [read_version_time(request.query_params.get(name, "").strip()) for name in ("from", "to")]
        before = await self._text(request, address.url, at=times[0])
        after = await self._text(request, address.url, at=times[1])
        found = await self._queue.work(request, lambda: difference(_lines(before), _lines(after)))
        return self._pages.response(
            "cached_changes.html",
            headers=_UNLISTED,
            **self._heading(address, after.url, after.fetched_at, after.mime),
            tab="versions",
            found=found,
            old=(f"{day(before.fetched_at)}, {clock(before.fetched_at)}", moment(before.fetched_at)),
            new=(f"{day(after.fetched_at)}, {clock(after.fetched_at)}", moment(after.fetched_at)),
            is_cut=found.is_cut or before.view.is_cut or after.view.is_cut,
        )

    async def _text(self, request: Request, url: str, query: str = "", at: float | None = None) -> PageText:
        page = await self._queue.work(request, lambda: self._library.text(url, query, at))
        if page is None:
            raise HTTPException(404, _NO_COPY)
        return page

    async def _body(self, request: Request, url: str, at: float | None) -> CachedPage:
        if at is None:
            page = await self._queue.work(request, lambda: self._engine.cached(url))
        else:
            page = await self._queue.work(request, lambda: self._library.version(url, at))
        if page is None:
            raise HTTPException(404, _NO_COPY)
        return page

    def _heading(self, address: _Address, url: str, fetched_at: float, mime: str) -> dict[str, Any]:
        """What every page about a cached copy shows above it."""
        query, at = address.query, address.at
        tabs = [("text", "Text", cached_link(address.url, query, at))]
        if sandbox.media_type(mime):
            tabs.append(("archived", "As archived", page_link("/cached/archived", address.url, q=query, at=at)))
        tabs.append(("versions", "Versions", page_link("/cached/versions", address.url, q=query)))
        tabs.append(("about", "About", page_link("/page", address.url, q=query)))
        return {
            "query": query,
            "url": visible(url),
            "live": web_link(url),
            "tabs": tabs,
            "is_old": bool(at),
            "newest": cached_link(address.url, query),
            "day": day(fetched_at),
            "clock": clock(fetched_at),
            "moment": moment(fetched_at),
        }


class _VersionRow(NamedTuple):
    """One line of the list of versions."""

    day: str
    clock: str
    moment: str
    link: str
    changes: str  # link to the difference from the version before; empty for the first one
    unchanged: int  # later visits with the same content
    last: str
    size: int


def _version_row(address: _Address, versions: tuple[PageVersion, ...], number: int) -> _VersionRow:
    version = versions[number]
    at = version_time(version.at)
    before = version_time(versions[number - 1].at) if number else ""
    changes = page_link("/cached/changes", address.url, **{"from": before, "to": at}, q=address.query) if number else ""
    return _VersionRow(
        day(version.at),
        clock(version.at),
        moment(version.at),
        cached_link(address.url, address.query, at),
        changes,
        version.visits - 1,
        day(version.last),
        version.size,
    )


def _lines(page: PageText) -> list[str]:
    """The paragraphs of a page; code is compared line by line."""
    lines = (line for block in page.view.blocks for line in block.text.split("\n"))
    return [line.replace("\t", " ").strip() for line in lines if line.strip()]
