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
from periplus.site.headers import VOICE
from periplus.site.pages import Pages
from periplus.site.preferences import preferences
from periplus.web.bangs import Bangs
from periplus.web.boxes.box import Question
from periplus.web.boxes.boxes import NOT_STORED, Boxes
from periplus.web.display import visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.owner import Owner
from periplus.web.page.panel import named_site, site_link
from periplus.web.parameters import SIZE, SearchParameters, read, read_url
from periplus.web.results import entries, filters
from periplus.web.results.alternatives import Alternative, alternatives
from periplus.web.results.explanations import reasons
from periplus.web.results.partial import marked, partial_notice, storing_headers
from periplus.web.results.site_choices import site_notice
from periplus.web.results.tab_row import KINDS, Count, count_tabs, tabs
from periplus.web.search_queue import SearchQueue, missing_shards, search_tab
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


class ResultExtras(NamedTuple):
    """What the result page offers besides results."""

    boxes: Boxes
    bangs: Bangs
    owner: Owner
    media: MediaAnswer  # answers requests for images and videos


class ResultPage:
    """The handlers of the result page and of the links in its menus."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, extras: ResultExtras) -> None:
        self._engine, self._pages, self._queue = engine, pages, queue
        self._boxes, self._bangs, self._owner, self._media = extras

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/search", self.search),
            Route("/box", self.box),
            Route("/why", self.why),
            Route("/like", self.like),
        ]

    async def search(self, request: Request) -> Response:
        """The result page."""
        parameters = read(request.query_params, preferences().size or SIZE, preferences().sites)
        if not parameters.query:
            return RedirectResponse("/", 303)
        if target := self._bangs.target(parameters.query):
            return RedirectResponse(target, 303, self._bangs.headers)
        if parameters.tab in KINDS:
            return await self._media(request, parameters)
        async with self._boxes.beside(_box_question(request, parameters)) as answer:
            found, counts, others, tab_counts = await self._queue.work(request, lambda: self._find(parameters))
        corrected = parameters.without_filters(found.corrected)
        shown = replace(parameters, query=corrected, exact=True) if corrected else parameters
        related = await self._related(request, shown, found)
        found = marked(found, missing_shards(request))
        self._queue.count_steps(found)
        return self._pages.response(
            "search.html",
            headers={**timing_headers(found), **VOICE, **answer.headers, **storing_headers(found)},
            query=parameters.query,
            parameters=parameters,
            found=found,
            hints=[*found.hints, *filter(None, [self._bangs.hint(parameters.query)])],
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
            excluded=parameters.without_blocked(found.excluded),
            site_notice=site_notice(parameters),
            partial_notice=partial_notice(found),
            alternatives=others,
            related=related,
            first_panel=site_link(named_site(found.hits, found.page)),
            documents=self._engine.documents,
            judging=self._owner.judging(request, parameters.search_text, parameters.link(parameters.page)),
            found_box=answer.box,
            late_box=f"/box?{request.url.query}" if answer.is_late else "",
        )

    async def box(self, request: Request) -> Response:
        """The box of a result page alone, for a page that was sent before its box was ready; 204: none."""
        question = _box_question(request, read(request.query_params))
        found = (await self._boxes.find(question)).box if question else None
        if found is None:
            return Response(status_code=204, headers=NOT_STORED)
        return self._pages.response(found.template, headers=NOT_STORED, box=found.values)

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
        parameters, url = read(request.query_params, SIZE, preferences().sites), read_url(request.query_params)
        if not parameters.query:
            raise UsageError("the query is empty")
        found = await self._queue.work(
            request,
            lambda: self._engine.explanation(
                parameters.search_text,
                url,
                mode=parameters.mode,
                verbatim=parameters.exact,
                site_boosts=parameters.site_boosts,
            ),
        )
        if found is None:
            raise HTTPException(404, _NO_EXPLANATION)
        return self._pages.response(
            "why.html",
            query=parameters.query,
            back=parameters.link(parameters.page),
            try_link=parameters.link(path="/playground"),
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


def _box_question(request: Request, parameters: SearchParameters) -> Question | None:
    """What a box may answer: the first page of a search without filters, unless the reader hides boxes."""
    chosen = preferences()
    if parameters.page > 1 or parameters.filters or parameters.tab or not chosen.boxes:
        return None
    units = request.query_params.get("units")
    return Question(parameters.query, imperial=units == "imperial" or (chosen.imperial and units != "metric"))
