"""Serves the files that browsers and crawlers look for: OpenSearch description, icon and robots.txt."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.site.pages import Pages

_NOT_CRAWLED = ("/search", "/cached", "/page", "/panel", "/inspect", "/api/", "/suggest")
_ROBOTS = "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in _NOT_CRAWLED)])
_ONE_DAY = "public, max-age=86400"


class SiteFiles:
    """The handlers of files with fixed names."""

    def __init__(self, pages: Pages, public_address: str, icon: str = "favicon.ico") -> None:
        """*icon*: the static file that is served at `/favicon.ico`."""
        self._pages, self._public_address, self._icon = pages, public_address, icon

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/opensearch.xml", self.opensearch),
            Route("/favicon.ico", self.icon),
            Route("/robots.txt", self.robots),
        ]

    async def opensearch(self, request: Request) -> Response:
        """The OpenSearch description, from which a browser adds this search engine."""
        # A client can forge the Host header, and a shared cache would serve the forged URL to others.
        caching = "public, max-age=3600" if self._public_address else "no-store"
        headers = {"content-type": "application/opensearchdescription+xml", "cache-control": caching}
        return self._pages.response("opensearch.xml", headers=headers, base=site_address(request, self._public_address))

    async def icon(self, request: Request) -> Response:
        """The icon for browsers that do not read the page."""
        del request
        return self._pages.assets.response(self._icon, _ONE_DAY)

    async def robots(self, request: Request) -> Response:
        """Keeps crawlers away from searches and cached pages."""
        del request
        return Response(_ROBOTS, headers={"content-type": "text/plain", "cache-control": _ONE_DAY})


def site_address(request: Request, public_address: str) -> str:
    """The address of the site without the last slash: the public one, or that of the Host header."""
    return public_address or str(request.base_url).rstrip("/")
