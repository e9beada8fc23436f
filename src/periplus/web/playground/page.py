"""The pages of the ranking playground: the results in the order of other weights, as HTML and as JSON."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.config import Ranking
from periplus.errors import UsageError
from periplus.model import Explanation, FeatureTable
from periplus.search.scoring.rerank import rerank, weights_of
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.web.engine_port import Engine
from periplus.web.owner import Owner
from periplus.web.parameters import SearchParameters, read
from periplus.web.playground.needs import TOP, Needs, Ordering, needs
from periplus.web.playground.table import as_json, rows
from periplus.web.playground.weights import FIELD, changed, encode, groups, read_weights
from periplus.web.search_queue import SearchQueue

MOST_ROWS = 200  # results that are ordered
_SHOWN = 50  # results that the page shows before the reader asks for all
_NOT_FOUND = "This page is not among the results of the query."


class _Asked(NamedTuple):
    """One request: its search, its weights, and the results with their features."""

    parameters: SearchParameters
    weights: Ranking
    usual: Ranking
    table: FeatureTable

    @property
    def base(self) -> str:
        """The address of this search in the playground, with the weights of the site."""
        return self.parameters.link(path="/playground")

    @property
    def ordering(self) -> Ordering:
        """The results and their weights."""
        return Ordering(self.table, self.weights, self.usual, self.base)

    @property
    def text(self) -> str:
        """The weights that differ, as in a link."""
        return encode(self.weights, self.usual)

    @property
    def link(self) -> str:
        """The address of this page."""
        return f"{self.base}&w={self.text}" if self.text else self.base


class Playground:
    """The handlers of `/playground` and `/api/playground`."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, owner: Owner) -> None:
        self._engine, self._pages, self._queue, self._owner = engine, pages, queue, owner

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/playground", self.show), Route("/api/playground", self.data)]

    async def show(self, request: Request) -> Response:
        """The sliders and the results; a form without scripts is redirected to its short address."""
        query = request.query_params
        if not query.get("q", "").strip():
            return self._pages.response("playground_start.html")
        asked = await self._asked(request)
        if any(name.startswith(FIELD) for name in query):
            return RedirectResponse(asked.link, 303)
        found = rows(asked.table, asked.weights)
        shown = len(found) if query.get("all") else _SHOWN
        needed = await self._needs(request, asked, query["need"]) if query.get("need") else None
        return self._pages.response(
            "playground.html",
            query=asked.parameters.query,
            parameters=asked.parameters,
            base=asked.base,
            link=asked.link,
            weights=asked.text,
            count=len(changed(asked.weights, asked.usual)),
            groups=groups(asked.weights, asked.usual),
            rows=found,
            shown=shown,
            needs=needed,
            need_of=lambda url: f"{asked.link}&{urlencode({'need': url}, errors='replace')}#needs",
            generation=self._engine.generation,
            saved=bool(query.get("saved")),
            judging=self._owner.judging(request, asked.parameters.search_text, asked.link),
        )

    async def data(self, request: Request) -> Response:
        """The same as JSON, with the features of every result."""
        asked = await self._asked(request)
        found = as_json(asked.table, asked.weights, self._engine.generation)
        headers = {"content-type": JSON, "cache-control": "private, no-cache"}
        return Response(orjson.dumps({"query": asked.parameters.query} | found), headers=headers)

    async def _asked(self, request: Request) -> _Asked:
        parameters = read(request.query_params)
        if not parameters.query:
            raise UsageError("the query is empty", hint="Add it: /playground?q=words.")
        table = await self._queue.feature_table(request, parameters, MOST_ROWS)
        usual = weights_of(table)
        return _Asked(parameters, read_weights(request.query_params, usual), usual, table)

    async def _needs(self, request: Request, asked: _Asked, url: str) -> Needs:
        """What the page with this URL needs to be among the first three."""

        def compute() -> Needs:
            placed = rerank(asked.table, asked.weights)
            rank = next((rank for rank, one in enumerate(placed, 1) if one.row.url == url), 0)
            if not rank:
                raise HTTPException(404, _NOT_FOUND)
            explained = (
                (None, None)
                if rank <= TOP
                else (self._explained(asked, url), self._explained(asked, placed[TOP - 1].row.url))
            )
            return needs(asked.ordering, placed, rank, explained)

        return await self._queue.work(request, compute)

    def _explained(self, asked: _Asked, url: str) -> Explanation | None:
        parameters = asked.parameters
        return self._engine.explanation(parameters.search_text, url, mode=parameters.mode, verbatim=parameters.exact)
