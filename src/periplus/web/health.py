"""The health check of the search site."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.site.error_pages import JSON
from periplus.web.api import as_json
from periplus.web.engine_port import Engine


class HealthCheck:
    """The handler of `/healthz`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/healthz", self.health)]

    async def health(self, request: Request) -> Response:
        """Tells monitoring tools the state of the index; the log names a damaged file."""
        del request
        engine, is_damaged = self._engine, self._engine.is_damaged
        status = "damaged" if is_damaged else "ok"
        state = {"status": status, "generation": engine.generation, "documents": engine.documents}
        headers = {"content-type": JSON, "cache-control": "no-store"}
        return Response(as_json(state), 503 if is_damaged else 200, headers)
