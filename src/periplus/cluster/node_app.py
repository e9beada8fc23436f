"""The site of a shard node: answers the requests of brokers, the health check and the metrics."""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.cluster.node_shards import NodeShards, OpenShards, ShardNotServed
from periplus.cluster.protocol import BUSY, FACTS, MOST_REQUEST_BYTES, NO_SUCH_GENERATION, PREFIX, NodeFacts
from periplus.cluster.record_codec import WireError, encode
from periplus.cluster.remote_shards import METHODS, Method
from periplus.config import Serving
from periplus.errors import PeriplusError, UsageError
from periplus.site.access.request_source import is_loopback_name, requested_name
from periplus.site.client_address import ClientAddresses
from periplus.site.forms import read_body
from periplus.site.front import CLIENT
from periplus.site.listener import is_loopback
from periplus.site.metrics import Metrics
from periplus.web.metrics_route import MetricsPage

logger = logging.getLogger("periplus.cluster")

_THREADS = 4
_MOST_WAITING = 64  # requests; more are refused
_HEADERS = {"content-type": "application/octet-stream", "cache-control": "no-store"}


class ShardApi:
    """The handlers of the requests of brokers."""

    def __init__(self, shards: NodeShards, token: str, longest_wait: float, metrics: Metrics) -> None:
        """*token*: what a broker must send; empty: every program on this machine may ask.

        *longest_wait*: seconds in the queue; the broker has given up a request that waits longer.
        """
        self._shards, self._token, self._longest_wait, self._metrics = shards, token, longest_wait, metrics
        self._pool, self._waiting = ThreadPoolExecutor(_THREADS, "shards"), 0

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route(FACTS, self.facts),
            Route(f"{PREFIX}/{{generation}}/{{shard:int}}/{{method}}", self.ask, methods=["POST"]),
        ]

    async def facts(self, request: Request) -> Response:
        """What this node has; the generation that the broker searches stays open."""
        self._require_access(request)
        found = self._shards.facts(request.query_params.get("generation", ""))
        return Response(encode(NodeFacts, found), headers=_HEADERS)

    async def ask(self, request: Request) -> Response:
        """The answer of one shard."""
        started, name = time.perf_counter(), request.path_params["method"]
        method = METHODS.get(name)
        try:
            self._require_access(request)
            arguments = _known(method).decode_arguments(await read_body(request, MOST_REQUEST_BYTES))
            answer = Response(await self._computed(request, name, arguments), headers=_HEADERS)
        except WireError as error:
            answer = Response(f"The request cannot be read: {error}", 400)
        except HTTPException as error:
            answer = Response(error.detail, error.status_code)
        self._metrics.request(
            f"{PREFIX}/{name if method else 'other'}", answer.status_code, time.perf_counter() - started
        )
        return answer

    async def _computed(self, request: Request, name: str, arguments: tuple[Any, ...]) -> bytes:
        if self._waiting >= _MOST_WAITING:
            raise HTTPException(BUSY, "Too many requests are queued.")
        generation, shard = request.path_params["generation"], request.path_params["shard"]
        self._waiting += 1
        try:
            loop, latest = asyncio.get_running_loop(), time.monotonic() + self._longest_wait
            return await loop.run_in_executor(self._pool, self._answer, generation, shard, name, arguments, latest)
        finally:
            self._waiting -= 1

    def _answer(self, generation: str, shard: int, name: str, arguments: tuple[Any, ...], latest: float) -> bytes:
        """Runs in a thread."""
        if time.monotonic() > latest:
            raise HTTPException(BUSY, "The request waited too long in the queue.")
        try:
            with self._shards.opened(generation, shard) as found:
                return encode(METHODS[name].answer, getattr(found, name)(*arguments))
        except ShardNotServed:
            raise HTTPException(NO_SUCH_GENERATION, "This node has no such shard of this generation.") from None
        except UsageError as error:
            raise HTTPException(422, str(error)) from error
        except PeriplusError as error:
            logger.error("%s", error)  # noqa: TRY400  # no traceback
            raise HTTPException(500, error.sentence) from error
        except (LookupError, ValueError, OverflowError) as error:  # no broker of this release asks that
            logger.warning("a request for something that is not in the index: %s %r", name, error)
            raise HTTPException(400, "The request names something that is not in the index.") from error

    def _require_access(self, request: Request) -> None:
        """A broker sends the token. Without one, the node listens on loopback; a web page must not be able to ask."""
        if self._token:
            sent = request.headers.get("authorization", "")
            if not hmac.compare_digest(sent.encode(), f"Bearer {self._token}".encode()):
                raise HTTPException(401, "Send the token of serve.node_token.")
        elif not is_loopback_name(requested_name(request.scope)):
            raise HTTPException(403, "This node answers to a loopback name only, because it has no token.")


def _known(method: Method | None) -> Method:
    if method is None:
        raise HTTPException(404, "There is no such method.")
    return method


def require_token(settings: Serving, listener: socket.socket) -> None:
    """Raises `UsageError` when other machines reach a shard node that has no token."""
    if not is_loopback(listener) and not settings.node_token.get_secret_value():
        why = "who can ask a shard node can read the index"
        hint = "Set serve.node_token, the same on all shard nodes and brokers."
        raise UsageError("a shard node that other machines reach needs a token", why, hint)


def create_node_app(shards: NodeShards, settings: Serving) -> ASGIApp:
    """Builds the site of a shard node as an ASGI application."""
    metrics, clients = Metrics(), ClientAddresses(settings.trusted_proxies)
    metrics.gauge("periplus_index_generation", lambda: shards.live.number)
    metrics.gauge("periplus_index_documents", lambda: shards.live.documents)
    api = ShardApi(shards, settings.node_token.get_secret_value(), settings.node_timeout, metrics)

    async def health(request: Request) -> Response:
        del request
        return _health(shards.live)

    routes = [*api.routes(), Route("/healthz", health), *MetricsPage(metrics, is_open=settings.metrics).routes()]
    app = Starlette(routes=routes)

    async def with_client(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope[CLIENT] = clients.client(scope)
        await app(scope, receive, send)

    return with_client


def _health(live: OpenShards) -> Response:
    damage = [facts.damage for facts in (shard.facts() for shard in live.shards.values()) if facts.damage]
    state = {
        "status": "damaged" if damage else "ok",
        "generation": live.number,
        "shards": list(live.shards),
        "documents": live.documents,
    }
    return Response(orjson.dumps(state), 503 if damage else 200, {**_HEADERS, "content-type": "application/json"})
