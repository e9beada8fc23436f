"""Which addresses does the search site answer?"""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import CachedPage, Results
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.web import api, cached, results
from periplus.web.display import cached_link, clock, day, moment, raw_link, visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.parameters import read, read_url
from periplus.web.search_queue import SearchQueue

_NOT_TOKEN = re.compile(r"[^A-Za-z0-9_-]+")
_ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /cached\nDisallow: /api/\n"
_NO_COPY = "No copy of that page is in the archive."


class SearchSite:
    """The handlers, each a question of a reader."""

    def __init__(self, engine: Engine, pages: Pages, desk: SearchQueue, public_address: str = "") -> None:
        self._engine, self._pages, self._desk = engine, pages, desk
        self._public_address = public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/", self.home),
            Route("/search", self.search),
            Route("/api/search", self.search_for_programs),
            Route("/cached", self.cached_page),
            Route("/cached/raw", self.cached_bytes),
            Route("/opensearch.xml", self.description),
            Route("/robots.txt", self.robots),
            Route("/healthz", self.health),
        ]

    async def home(self, request: Request) -> Response:
        """An empty box."""
        del request
        return self._pages.response("home.html", documents=self._engine.documents)

    async def search(self, request: Request) -> Response:
        """Results for people."""
        asked = read(request.query_params)
        if not asked.query:
            return RedirectResponse("/", 303)
        found = await self._desk.search(request, asked, explain=True)
        return self._pages.response(
            "search.html",
            headers=_timing(found),
            query=asked.query,
            asked=asked,
            found=found,
            entries=results.entries(asked, found.hits),
            count=results.count(found),
            understood=results.understood(found),
            paging=results.paging(asked, found),
            ways_out=results.ways_out(asked),
            documents=self._engine.documents,
        )

    async def search_for_programs(self, request: Request) -> Response:
        """Results for programs."""
        asked = read(request.query_params)
        if not asked.query:
            raise UsageError("the query is empty", hint="Write it after /api/search?q=.")
        found = await self._desk.search(request, asked, explain=asked.explain)
        headers = {"cache-control": "private, no-cache", "content-type": JSON, **_timing(found)}
        return Response(api.encoded(found), headers=headers)

    async def cached_page(self, request: Request) -> Response:
        """The frame around an archived page, and when it was fetched."""
        url = read_url(request.query_params)
        page = await self._archived(request, url)
        headers = {"content-security-policy": cached.frame_policy(request), "x-robots-tag": "noindex, nofollow"}
        return self._pages.response(
            "cached.html",
            headers=headers,
            url=visible(page.url),
            live=web_link(page.url),
            frame=raw_link(url) if cached.media_type(page) else "",
            mime=page.mime,
            day=day(page.fetched_at),
            clock=clock(page.fetched_at),
            moment=moment(page.fetched_at),
        )

    async def cached_bytes(self, request: Request) -> Response:
        """An archived page, for the frame."""
        url = read_url(request.query_params)
        if not cached.is_framed(request):
            return RedirectResponse(cached_link(url), 303)
        page = await self._archived(request, url)
        media_type = cached.media_type(page)
        if not media_type:
            raise HTTPException(415, "The copy is not text, so it is not shown here.", cached.RAW_HEADERS)
        body = await self._desk.work(request, lambda: cached.inert(page))
        return Response(body, headers=cached.RAW_HEADERS | {"content-type": media_type})

    async def _archived(self, request: Request, url: str) -> CachedPage:
        page = await self._desk.cached(request, url)
        if page is None:
            raise HTTPException(404, _NO_COPY)
        return page

    async def description(self, request: Request) -> Response:
        """The OpenSearch description, with which a browser adds this engine to its own."""
        base = self._public_address or str(request.base_url).rstrip("/")
        # A client can forge the Host header: a shared cache would hand the forged address to others.
        kept = "public, max-age=3600" if self._public_address else "no-store"
        headers = {"content-type": "application/opensearchdescription+xml", "cache-control": kept}
        return self._pages.response("opensearch.xml", headers=headers, base=base)

    async def robots(self, request: Request) -> Response:
        """Other people's crawlers should not search, nor copy our copies."""
        del request
        return Response(_ROBOTS, headers={"content-type": "text/plain", "cache-control": "public, max-age=86400"})

    async def health(self, request: Request) -> Response:
        """Whether questions are answered, for whoever watches the site."""
        del request
        state = {"status": "ok", "generation": self._engine.generation, "documents": self._engine.documents}
        return Response(api.as_json(state), headers={"content-type": JSON, "cache-control": "no-store"})


def _timing(found: Results) -> dict[str, str]:
    """How long each step took, where the browser's own tools show it."""
    steps = {"total": found.seconds, **found.steps}
    entries = (f"{_NOT_TOKEN.sub('_', name)};dur={1000 * seconds:.3f}" for name, seconds in steps.items())
    return {"server-timing": ", ".join(entries)}
