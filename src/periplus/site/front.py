"""The outermost layer of a site: finds the client, applies the rate limit, counts and logs every request."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from periplus.site.access_log import AccessLog
from periplus.site.assets import PREFIX
from periplus.site.client_address import ClientAddresses
from periplus.site.error_pages import ErrorPages
from periplus.site.headers import SecurityHeaders
from periplus.site.metrics import Metrics
from periplus.site.rate_limit import RateLimit

CLIENT = "periplus.client"  # the key of the scope with the IP address of the client
_NOT_LIMITED = frozenset({"/healthz", "/metrics", "/robots.txt"})
_NO_RESPONSE = 499  # nginx's code: the client closed the connection


@dataclass(frozen=True, slots=True)
class FrontOptions:
    """What the outermost layer does."""

    clients: ClientAddresses = field(default_factory=lambda: ClientAddresses(()))
    limit: RateLimit | None = None
    log: AccessLog | None = None
    metrics: Metrics = field(default_factory=Metrics)

    def close(self) -> None:
        """Writes what is still in memory."""
        if self.log is not None:
            self.log.flush()
        self.metrics.save()


class Front:
    """ASGI middleware around a whole site."""

    def __init__(self, app: ASGIApp, errors: ErrorPages, options: FrontOptions, routes: Iterable[str]) -> None:
        """*routes*: the paths that the metrics name; the others are counted together."""
        self._app, self._errors, self._options = app, errors, options
        self._routes = frozenset(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, size = time.perf_counter(), _NO_RESPONSE, 0
        client = scope[CLIENT] = self._options.clients.client(scope)

        async def observed(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._limited(scope, client)(scope, receive, observed)
        finally:
            options = self._options
            options.metrics.request(self._route(scope["path"]), status, time.perf_counter() - started)
            if options.log is not None:
                options.log.add(scope, client, status, 0 if scope["method"] == "HEAD" else size)

    def _limited(self, scope: Scope, client: str) -> ASGIApp:
        """The application, or the answer to a client above the rate limit."""
        limit, path = self._options.limit, scope["path"]
        if limit is None or path in _NOT_LIMITED or path.startswith(PREFIX):
            return self._app
        wait = limit.wait(client)
        if not wait:
            return self._app
        self._options.metrics.add("periplus_http_refused_total", "rate")
        sentence = f"Too many requests. Try again in {wait} s."
        return SecurityHeaders(self._errors.answer(path, 429, sentence, {"retry-after": str(wait)}))

    def _route(self, path: str) -> str:
        if path in self._routes:
            return path
        return PREFIX.rstrip("/") if path.startswith(PREFIX) else "other"
