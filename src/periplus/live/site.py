"""Serves the search site from the first second: the starting page, then the site over the first index."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from asyncio import Queue, Task
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from periplus.config import Settings, load
from periplus.errors import PeriplusError
from periplus.live.collection_site import console_of, site_of
from periplus.live.standing_checks import StandingChecks
from periplus.search.reload import ReloadingEngine
from periplus.site.listener import address_of, is_loopback
from periplus.site.server import run
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.web.branding import load_branding
from periplus.web.crawl_line import CrawlReader
from periplus.web.starting import starting_app

logger = logging.getLogger("periplus.live")

_LOOK_SECONDS = 0.5  # for the first generation
_REPORT_SECONDS = 5.0  # between two reports of the same generation
_Wrap = Callable[[ASGIApp], ASGIApp]


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What the server needs to know."""

    home: Path
    settings: Settings
    listener: socket.socket


def run_site(options: SiteOptions) -> None:
    """Serve until SIGTERM."""
    is_public = not is_loopback(options.listener)
    run(partial(_make_site, options, is_public=is_public), options.listener)


def _make_site(options: SiteOptions, *, is_public: bool) -> ASGIApp:
    collection = open_collection(options.home)
    crawl = CrawlReader(collection)
    secret = token_bytes()  # sessions of the console outlive the change from one site to the other
    console = console_of(options.home, secret, None, lambda: None, is_public=is_public)
    starting = starting_app(options.settings, load_branding(options.settings, options.home), crawl, console)
    opened: list[ReloadingEngine] = []

    def open_site() -> ASGIApp | None:
        """The search site, once there is an index."""
        if Generations(collection.index, INDEX_KIND).live() is None:
            return None
        engine = ReloadingEngine(collection, load(options.home).settings)
        opened.append(engine)
        StandingChecks(collection, options.settings, engine).start()
        return site_of(options.home, secret, engine, is_public=is_public, crawl=crawl)

    report = SiteReport(collection, address_of(options.listener), lambda: opened[0].generation if opened else 0)
    return LiveSite(starting, open_site, report)


class SiteReport:
    """Publishes the row of the server."""

    def __init__(self, collection: Collection, address: str, generation: Callable[[], int]) -> None:
        self._collection, self._address, self._generation = collection, address, generation
        self._started, self._reported, self._last = time.time(), 0.0, -1
        self.requests = 0

    def publish_if_due(self) -> None:
        """Publish the row when there is a new generation, or the last report is some seconds ago."""
        generation, now = self._generation(), time.time()
        if generation == self._last and now - self._reported < _REPORT_SECONDS:
            return
        figures = {"address": self._address, "generation": generation, "requests": self.requests}
        row = WorkerRow(
            self._collection.node, Role.SERVE, 0, os.getpid(), self._started, now, "running", 0, dict(figures)
        )
        self._write(lambda rows: rows.publish(row))
        self._last, self._reported = generation, now

    def remove(self) -> None:
        """Remove the row at the end."""
        self._write(lambda rows: rows.remove(self._collection.node, Role.SERVE, 0))

    def _write(self, write: Callable[[LiveState], None]) -> None:
        try:
            rows = open_catalog(self._collection, LiveState)
            try:
                write(rows)
            finally:
                rows.close()
        except PeriplusError as error:
            logger.warning("%s", error)


class LiveSite:
    """ASGI application that begins as one site and goes on as another."""

    def __init__(self, starting: ASGIApp, open_site: Callable[[], ASGIApp | None], report: SiteReport) -> None:
        self._site, self._open_site, self._report = starting, open_site, report
        self._lifespan: _Lifespan | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the whole life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            self._report.requests += 1
            await self._site(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        tasks = [asyncio.create_task(self._switch()), asyncio.create_task(self._publish())]
        await send({"type": "lifespan.startup.complete"})
        await receive()  # lifespan.shutdown
        for task in tasks:
            task.cancel()
        if self._lifespan is not None:
            await self._lifespan.stop()
        await asyncio.to_thread(self._report.remove)
        await send({"type": "lifespan.shutdown.complete"})

    async def _switch(self) -> None:
        """Wait for the first index, then serve the search site."""
        while True:
            try:
                site = await asyncio.to_thread(self._open_site)
            except PeriplusError as error:
                logger.warning("the index cannot be opened: %s", error)
                site = None
            if site is not None:
                self._lifespan = _Lifespan(site)
                await self._lifespan.start()
                self._site = site
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _publish(self) -> None:
        while True:
            await asyncio.to_thread(self._report.publish_if_due)
            await asyncio.sleep(1.0)


class _Lifespan:
    """Starts and stops an application that was built while the server was running."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._received: Queue[Message] = Queue()
        self._sent: Queue[Message] = Queue()
        self._task: Task[None] | None = None

    async def start(self) -> None:
        scope: dict[str, Any] = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        run = self._app(scope, self._received.get, self._sent.put)
        self._task = asyncio.create_task(run)  # type: ignore[arg-type]  # an ASGI application is a coroutine function
        await self._received.put({"type": "lifespan.startup"})
        await self._sent.get()

    async def stop(self) -> None:
        await self._received.put({"type": "lifespan.shutdown"})
        await self._sent.get()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task
