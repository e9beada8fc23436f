"""The tabs Images and Videos.

Nothing of another site is loaded, unless `serve.load_images` is set: then the browser fetches the images from their own
sites, without cookies and without a Referer header. The policy of that one page allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from periplus.config import Serving
from periplus.model import FacetCounts, MediaHit, MediaResults
from periplus.site.headers import VOICE, content_policy
from periplus.site.pages import Pages
from periplus.web.display import visible
from periplus.web.engine_port import Engine
from periplus.web.parameters import MEDIA_SIZE, SearchParameters
from periplus.web.results import filters
from periplus.web.results.entries import last_page, paging
from periplus.web.results.partial import marked, partial_notice, storing_headers
from periplus.web.results.tab_row import KINDS, Count, count_tabs, tabs
from periplus.web.search_queue import SearchQueue, missing_shards
from periplus.web.tabs.cards import cards

_TEMPLATES = {"images": "images.html", "videos": "videos.html"}


@dataclass(frozen=True, slots=True)
class MediaFound:
    """One page of images or videos, and what its HTML page shows besides."""

    results: MediaResults
    page: int
    size: int
    counts: dict[str, Count]
    facets: FacetCounts
    suggestion: str = ""  # another spelling, when nothing was found

    @property
    def total(self) -> int:
        """The number of images or videos."""
        return self.results.total

    @property
    def total_is_exact(self) -> bool:
        """False: `total` is a lower bound."""
        return self.results.total_is_exact

    @property
    def hits(self) -> Sequence[MediaHit]:
        """The images or videos of this page."""
        return self.results.hits


class MediaTabs:
    """Answers requests for the tabs Images and Videos."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, settings: Serving) -> None:
        self._engine, self._pages, self._queue = engine, pages, queue
        self._loads_images = settings.load_images
        schemes = "https:" if settings.public_address.startswith("https:") else "https: http:"
        self._headers = {
            "content-security-policy": content_policy(img_src=f"'self' data: {schemes}"),
            "cross-origin-embedder-policy": "credentialless",
        }

    async def answer(self, request: Request, parameters: SearchParameters) -> Response:
        """The page of the tab."""
        size = parameters.size if "size" in request.query_params else max(parameters.size, MEDIA_SIZE)
        found = await self._queue.work(request, lambda: self._find(parameters, size))
        found = replace(found, results=marked(found.results, missing_shards(request)))
        loads_images = self._loads_images and parameters.tab == "images"
        return self._pages.response(
            _TEMPLATES[parameters.tab],
            headers=VOICE | (self._headers if loads_images else {}) | storing_headers(found.results),
            query=parameters.query,
            parameters=parameters,
            found=found,
            seconds=found.results.seconds,
            cards=cards(found.results.hits),
            suggestion=visible(found.suggestion),
            loads_images=loads_images,
            partial_notice=partial_notice(found.results),
            tabs=tabs(parameters, found.counts),
            menus=filters.plain_menus(parameters, found.facets),
            chips=filters.chips(parameters),
            paging=paging(parameters, found),
            last_page=last_page(found),
        )

    def _find(self, parameters: SearchParameters, size: int) -> MediaFound:
        """Runs in a thread."""
        engine, text, mode = self._engine, parameters.search_text, parameters.mode
        found = engine.media(text, KINDS[parameters.tab], page=parameters.page, size=size, mode=mode)
        counts = count_tabs(engine, parameters, Count(found.total, found.total_is_exact))
        if found.total:
            facets = engine.facets(text, mode=mode)
            return MediaFound(found, parameters.page, size, counts, facets)
        other = engine.search(text, size=1, mode=mode, verbatim=parameters.exact)
        spelled = parameters.without_filters(other.corrected or other.suggestion)
        return MediaFound(found, parameters.page, size, counts, FacetCounts(), spelled)
