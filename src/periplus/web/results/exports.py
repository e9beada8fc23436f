"""Answers with results in the forms of other programs: RSS for feed readers, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import Hit, Results
from periplus.site.pages import Pages
from periplus.web.display import moment, visible, web_link
from periplus.web.parameters import SearchParameters, read
from periplus.web.results.partial import storing_headers
from periplus.web.results.tab_row import KINDS
from periplus.web.search_queue import SearchQueue
from periplus.web.site_files import site_address

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A spreadsheet computes a cell that begins with one of these signs. It may split rows at other separators than a comma.
_FORMULA = re.compile(r"""(^|[;,\t"]\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
_COLUMNS = ("position", "title", "url", "snippet", "host", "language", "type", "fetched", "score")
_HEADERS = {"cache-control": "private, no-cache", "x-robots-tag": "noindex"}
RSS_HEADERS = _HEADERS | {"content-type": "application/rss+xml; charset=utf-8"}
_CSV = _HEADERS | {
    "content-type": "text/csv; charset=utf-8; header=present",
    "content-disposition": 'attachment; filename="results.csv"',
}


class _Item(NamedTuple):
    """A result in the feed."""

    title: str
    link: str  # empty when the URL is not http or https
    url: str
    snippet: str
    date: str  # empty when unknown


class ExportRoutes:
    """The handlers of `/search.rss` and `/search.csv`."""

    def __init__(self, pages: Pages, queue: SearchQueue, public_address: str) -> None:
        self._pages, self._queue, self._public_address = pages, queue, public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/search.rss", self.rss), Route("/search.csv", self.table)]

    async def rss(self, request: Request) -> Response:
        """The results as an RSS feed."""
        parameters, found = await self._found(request)
        return self._pages.response(
            "feed.xml",
            headers=RSS_HEADERS | storing_headers(found),
            query=xml_text(parameters.query),
            base=xml_text(site_address(request, self._public_address)),
            parameters=parameters,
            found=found,
            items=[_item(hit, is_news=parameters.tab == "news") for hit in found.hits],
        )

    async def table(self, request: Request) -> Response:
        """The results as a table."""
        _, found = await self._found(request)
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(_COLUMNS)
        writer.writerows(_row((found.page - 1) * found.size + place, hit) for place, hit in enumerate(found.hits, 1))
        return Response(text.getvalue().encode("utf-8-sig", "replace"), headers=_CSV | storing_headers(found))

    async def _found(self, request: Request) -> tuple[SearchParameters, Results]:
        parameters = read(request.query_params)
        if not parameters.query:
            raise UsageError("the query is empty", hint="Add it: /search.rss?q=words.")
        if parameters.tab in KINDS:
            raise UsageError(f"{parameters.tab} have no RSS and no CSV", hint=f"JSON: {parameters.export('json')}.")
        return parameters, await self._queue.search(request, parameters, explain=False)


def _item(hit: Hit, *, is_news: bool) -> _Item:
    at = hit.date if is_news and hit.date is not None else hit.fetched_at
    date = format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True) if moment(at) else ""
    title, url, snippet = (xml_text(text) for text in (hit.title, hit.url, hit.snippet))
    return _Item(title.strip() or url, web_link(url), url, snippet, date)


def xml_text(text: str) -> str:
    """Text without the characters that XML cannot have, not even escaped."""
    return _NOT_XML.sub("", visible(text))


def _row(position: int, hit: Hit) -> list[str | int]:
    texts = (hit.title, hit.url, hit.snippet, hit.host, hit.language, hit.mime)
    return [position, *map(_cell, texts), moment(hit.fetched_at), f"{hit.score:.4f}"]


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe before the sign makes it text."""
    return _FORMULA.sub(r"\1'", visible(text).strip())
