"""The result page, the explanation of one result, and the search for pages like a result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import FacetCounts, Results
from periplus.site.pages import Pages
from periplus.site.preferences import preferences
from periplus.web.display import visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.page.panel import named_site, site_link
from periplus.web.parameters import SIZE, SearchParameters, read, read_url
from periplus.web.results import entries, filters
from periplus.web.results.alternatives import Alternative, alternatives
from periplus.web.results.explanations import reasons
from periplus.web.results.tab_row import KINDS, Count, count_tabs, tabs
from periplus.web.search_queue import SearchQueue, search_tab
from periplus.web.server_timing import timing_headers

_NO_EXPLANATION = "This page is not among the results of the query."
_NO_PAGE = "This page is not in the index."
_LIKE_WORDS = 8  # words of a page in the search for pages like it


MediaAnswer = Callable[[Request, SearchParameters], Awaitable[Response]]


class _Found(NamedTuple):
    """What one request of the result page computes in a thread."""

    results: Results
    counts: FacetCounts
    alternatives: list[Alternative]
    tabs: dict[str, Count]


class ResultPage:
    """The handlers of the result page and of the links in its menus."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, media: MediaAnswer) -> None:
        """*media* answers requests for images and videos."""
        self._engine, self._pages, self._queue, self._media = engine, pages, queue, media

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/search", self.search), Route("/why", self.why), Route("/like", self.like)]

    async def search(self, request: Request) -> Response:
        """The result page."""
        parameters = read(request.query_params, preferences().size or SIZE)
        if not parameters.query:
            return RedirectResponse("/", 303)
        if parameters.tab in KINDS:
            return await self._media(request, parameters)
        found, counts, others, tab_counts = await self._queue.work(request, lambda: self._find(parameters))
        self._queue.count_steps(found)
        corrected = parameters.without_filters(found.corrected)
        shown = replace(parameters, query=corrected, exact=True) if corrected else parameters
        return self._pages.response(
            "search.html",
            headers=timing_headers(found),
            query=parameters.query,
            parameters=parameters,
            found=found,
            corrected=corrected,
            suggestion=parameters.without_filters(found.suggestion),
            entries=entries.entries(shown, found.hits, counts.hosts),
            count=entries.count(found),
            missing=entries.missing_everywhere(found),
            last_page=entries.last_page(found),
            understood=entries.understood(parameters, found),
            paging=entries.paging(parameters, found),
            tabs=tabs(shown, tab_counts),
            menus=self._menus(shown, counts, found.total),
            chips=filters.chips(parameters),
            alternatives=others,
            related=await self._related(request, shown, found),
            first_panel=site_link(named_site(found.hits, found.page)),
            documents=self._engine.documents,
        )

    async def _related(self, request: Request, parameters: SearchParameters, found: Results) -> list[tuple[str, str]]:
        """Link and text of related searches, on the first page of results."""
        if not found.hits or found.page > 1:
            return []
        urls = [hit.url for hit in found.hits]
        texts = await self._queue.work(request, lambda: self._engine.related(parameters.query, urls))
        return [(parameters.link(query=text, exact=False), visible(text)) for text in texts]

    def _menus(self, parameters: SearchParameters, counts: FacetCounts, total: int) -> list[filters.Menu]:
        """The menus of the filters; the counts are those of all pages, not of news."""
        if parameters.tab == "news":
            return filters.plain_menus(parameters, counts)
        return filters.menus(parameters, counts, total)

    def _find(self, parameters: SearchParameters) -> _Found:
        """Runs in a thread: the search, then the counts of its filters, or similar searches; and those of the tabs."""
        engine, is_news = self._engine, parameters.tab == "news"
        found = search_tab(engine, parameters, explain=True)  # which says whether the query names a site
        query = parameters.without_filters(found.corrected)
        searched = replace(parameters, query=query, exact=True) if query else parameters
        known = Count(found.total, found.total_is_exact)
        if not found.total:
            count = engine.count_news if is_news else engine.count
            similar = alternatives(parameters, found, lambda text, mode: count(text, mode=mode))
            return _Found(found, FacetCounts(), similar, count_tabs(engine, searched, known))
        text, hosts = found.corrected or parameters.search_text, [hit.host for hit in found.hits]
        counts = engine.facets(text, mode=parameters.mode, dates=filters.dates(), hosts=[] if is_news else hosts)
        return _Found(found, counts, [], count_tabs(engine, searched, known, counts))

    async def why(self, request: Request) -> Response:
        """The parts of the score of one result."""
        parameters, url = read(request.query_params), read_url(request.query_params)
        if not parameters.query:
            raise UsageError("the query is empty")
        found = await self._queue.work(
            request,
            lambda: self._engine.explanation(
                parameters.search_text, url, mode=parameters.mode, verbatim=parameters.exact
            ),
        )
        if found is None:
            raise HTTPException(404, _NO_EXPLANATION)
        return self._pages.response(
            "why.html",
            query=parameters.query,
            back=parameters.link(parameters.page),
            title=visible(found.title),
            link=web_link(found.url),
            url=visible(found.url),
            reasons=reasons(found),
            others=[(web_link(other), visible(other)) for other in found.same_content],
        )

    async def like(self, request: Request) -> Response:
        """Redirects to a search for pages with the words that say most about a page."""
        url = read_url(request.query_params)
        words = await self._queue.work(request, lambda: self._engine.page_words(url))
        if not words:
            raise HTTPException(404, _NO_PAGE)
        return RedirectResponse(SearchParameters(" ".join(words[:_LIKE_WORDS]), mode="or").link(), 303)
