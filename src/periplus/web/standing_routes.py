"""The feeds of standing queries, and the page on which the owner saves and removes them.

A site on a public address serves feeds only. The address of a feed has an id that cannot be guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.search.engine import SearchEngine
from periplus.site.pages import Pages
from periplus.standing.registry import Item, StandingQuery
from periplus.standing.saved_queries import SavedQueries
from periplus.web.display import day, moment, visible, web_link
from periplus.web.owner import Owner
from periplus.web.owner_routes import written
from periplus.web.parameters import SearchParameters
from periplus.web.results.exports import RSS_HEADERS, xml_text
from periplus.web.site_files import site_address

_NO_FEED = "There is no such feed. Its query may have been removed."
_METHODS = ["GET", "POST"]  # a GET request is refused with a sentence


class Standing(NamedTuple):
    """The standing queries of a site, and the engine that a new one is checked with."""

    queries: SavedQueries
    live: Callable[[], AbstractContextManager[SearchEngine]]


class StandingRoutes:
    """The handlers of `/standing`."""

    def __init__(self, standing: Standing, owner: Owner, pages: Pages, public_address: str) -> None:
        self._queries, self._live = standing
        self._owner, self._pages, self._public_address = owner, pages, public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/standing/{name}.rss", self.feed),
            Route("/standing", self.overview),
            Route("/standing/add", self.add, methods=_METHODS),
            Route("/standing/remove", self.remove, methods=_METHODS),
        ]

    async def feed(self, request: Request) -> Response:
        """What a standing query has found, as an RSS feed."""
        found = await asyncio.to_thread(self._queries.feed, request.path_params["name"])
        if found is None:
            raise HTTPException(404, _NO_FEED)
        base = xml_text(site_address(request, self._public_address))
        return self._pages.response(
            "standing_feed.xml",
            headers=RSS_HEADERS,
            query=xml_text(found.query.query),
            base=base,
            link=SearchParameters(found.query.query).link(),
            address=feed_address(found.query),
            items=[_feed_item(found.query, item) for item in found.items],
        )

    async def overview(self, request: Request) -> Response:
        """The standing queries, for the owner."""
        self._owner.require(request)
        queries = await asyncio.to_thread(self._queries.all)
        return self._pages.response(
            "standing.html",
            headers={"cache-control": "no-store"},
            token=self._owner.token(request),
            queries=[_row(query) for query in reversed(queries)],
        )

    async def add(self, request: Request) -> Response:
        """Saves the query of the form, and shows all standing queries."""
        form = await self._owner.form(request)
        await written(lambda: self._add(form.get("query", "")))
        return RedirectResponse("/standing", 303)

    async def remove(self, request: Request) -> Response:
        """Removes a standing query, and shows the others."""
        form = await self._owner.form(request)
        await written(lambda: self._queries.remove(form.get("id", "")))
        return RedirectResponse("/standing", 303)

    def _add(self, query: str) -> None:
        with self._live() as engine:
            self._queries.add(engine, query)


class _FeedItem(NamedTuple):
    """A page in a feed."""

    guid: str
    change: str
    title: str
    link: str  # empty when the URL is not http or https
    snippet: str
    date: str  # when it was found


class _Row(NamedTuple):
    """A standing query on the page of the owner."""

    id: str
    text: str
    link: str  # its results
    feed: str
    items: int
    created: tuple[str, str]  # for readers and for programs
    webhook: str
    failure: str  # of the webhook


def feed_address(query: StandingQuery) -> str:
    """The path of the feed."""
    return f"/standing/{query.id}.rss"


def _feed_item(query: StandingQuery, item: Item) -> _FeedItem:
    title, url, snippet = (xml_text(text) for text in (item.title, item.url, item.snippet))
    date = format_datetime(datetime.fromtimestamp(item.found_at, UTC), usegmt=True)
    return _FeedItem(
        f"{query.id}-{item.number}", item.change, title.strip() or url, web_link(url), snippet or url, date
    )


def _row(query: StandingQuery) -> _Row:
    return _Row(
        id=query.id,
        text=visible(query.query),
        link=SearchParameters(query.query).link(),
        feed=feed_address(query),
        items=query.items,
        created=(day(query.created), moment(query.created)),
        webhook=visible(query.webhook),
        failure=visible(query.failure),
    )
