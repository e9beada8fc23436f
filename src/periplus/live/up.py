"""Runs `periplus up`: checks that everything can start, then crawls, indexes and serves in one process tree.

The supervisor, this process, has three children. *crawl* fetches pages, with workers of its own. *builder* makes them
searchable, with parser processes of its own. *site* serves the search site.
"""

from __future__ import annotations

import logging
import math
import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from periplus.crawl.run import Request, Result, nothing_fetched, require_contact
from periplus.errors import NoCollection, PeriplusError, UsageError
from periplus.live import log
from periplus.live.start_orders import StartOrders
from periplus.live.status import Status, StatusReader
from periplus.live.supervisor import ChildSpec, ChildState, Supervisor
from periplus.site.access.credentials import console_notice
from periplus.store.catalog.open_catalog import open_catalog, require_sound
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations, read_meta
from periplus.url import Canonicalizer, parse

logger = logging.getLogger("periplus.live")

SEGMENT_SECONDS = 3.0  # age at which a segment is sealed: a page waits for that before it can be indexed
_STATUS_SECONDS = 1.0
_ROTATE_SECONDS = 60.0
_EXPLAIN_SECONDS = 20.0  # without a page
_NO_CONTACT = "Run `periplus init`, or set identity.contact in periplus.toml; private addresses need --allow-private."
_NICE = {"crawl": 5, "builder": 5, "site": 0}  # searches come first


@dataclass(frozen=True, slots=True)
class UpRequest:
    """What `periplus up` has to do."""

    crawl: Request
    listener: socket.socket


@dataclass(frozen=True, slots=True)
class Callbacks:
    """How the caller shows what happens."""

    status: Callable[[Status], None] = lambda _: None
    message: Callable[[str], None] = lambda _: None
    started: Callable[[], None] = lambda: None  # everything was checked, and the processes start now


def live_settings(request: Request) -> Request:
    """The request of a crawl whose pages are to be searchable soon: segments are sealed early."""
    store = request.settings.store
    store = store.model_copy(update={"segment_seconds": min(store.segment_seconds, SEGMENT_SECONDS)})
    settings = request.settings.model_copy(update={"store": store})
    return replace(request, settings=settings, recrawl=replace(request.recrawl, continuous=True))


def prepare(request: Request) -> Collection:
    """Check that the crawl can start, and create the collection; raises the same errors as `periplus crawl`."""
    settings = request.settings
    canonicalizer = Canonicalizer.of(settings.addresses)
    for url in (*request.seeds, *request.sitemaps, *request.entries, *settings.scope.seeds):
        parse(url, canonicalizer)
    require_contact(settings, _NO_CONTACT)
    has_seeds = bool(request.seeds or request.sitemaps or settings.scope.seeds)
    collection = create_collection(request.home) if has_seeds else _existing_collection(request.home)
    with collection.locked():
        require_sound(collection)
        with closing(open_catalog(collection, create=has_seeds)) as catalog:
            if not has_seeds and not catalog.seeds():
                raise _no_seed()
    return collection


def _existing_collection(home: Path) -> Collection:
    """Without a seed there must be a collection: a command that cannot start creates no files."""
    try:
        return open_collection(home)
    except NoCollection:
        raise _no_seed() from None


def _no_seed() -> UsageError:
    return UsageError("nothing to crawl", "no seed was given, now or before", "Name a URL: periplus up URL")


def up(request: UpRequest, callbacks: Callbacks, address: str) -> dict[str, Any]:
    """Crawl, index and serve until a signal; returns a summary."""
    started = time.time()
    crawl = live_settings(request.crawl)
    collection = prepare(crawl)
    log.start_log(collection.log)
    callbacks.started()
    if notice := console_notice(crawl.settings, request.listener):
        callbacks.message(notice)
    logger.info("up: %s", address)
    callbacks = Callbacks(callbacks.status, _logged(callbacks.message))
    supervisor = Supervisor(_children(request, crawl, started), callbacks.message)
    reader = _Reader(collection, address, supervisor, callbacks)
    supervisor.on_tick = reader.tick
    supervisor.run()
    return reader.summary(time.time() - started)


def _children(request: UpRequest, crawl: Request, started: float) -> list[ChildSpec]:
    """The children in the order in which they are stopped."""
    works: dict[str, Callable[[], Any]] = {
        "crawl": partial(_crawl, crawl),
        "builder": partial(_build, crawl, started),
        "site": partial(_serve, crawl, request.listener),
    }
    return [ChildSpec(name, work, _NICE[name], name != "builder") for name, work in works.items()]


def _logged(show: Callable[[str], None]) -> Callable[[str], None]:
    def message(text: str) -> None:
        logger.info("%s", text)
        with suppress(OSError):  # the terminal may be gone
            show(text)

    return message


# -- the work of the children; each imports its libraries when it runs ------------------------------------------------


def _crawl(request: Request) -> dict[str, Any]:
    from periplus.crawl.run import crawl  # noqa: PLC0415

    result: Result = crawl(request)
    return {"ending": str(result.ending), **result.summary}


def _build(request: Request, started: float) -> dict[str, Any]:
    stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())  # the import takes a second
    from periplus.live.builder import BuilderOptions, run_builder  # noqa: PLC0415

    return run_builder(BuilderOptions(request.home, request.settings, started), stopped)


def _serve(request: Request, listener: socket.socket) -> None:
    from periplus.live.site import SiteOptions, run_site  # noqa: PLC0415

    run_site(SiteOptions(request.home, request.settings, listener))


# -- what the user sees -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """Shows the status once a second, and rotates the log."""

    collection: Collection
    address: str
    supervisor: Supervisor
    callbacks: Callbacks
    last: Status | None = None
    _reader: StatusReader | None = None
    _shown: float = 0.0
    _rotated: float = 0.0
    _orders: StartOrders = field(init=False)
    _explain_at: float = field(default_factory=lambda: time.monotonic() + _EXPLAIN_SECONDS)

    def __post_init__(self) -> None:
        self._orders = StartOrders(self.collection)

    def tick(self) -> None:
        now = time.monotonic()
        if now - self._shown >= _STATUS_SECONDS:
            self._shown = now
            if self._orders.is_start_wanted() and self.supervisor.start_again("crawl"):
                self._orders.is_wanted = False
            self._read()
            if self.last is not None:
                with suppress(OSError):  # the terminal may be gone
                    self.callbacks.status(self.last)
                self._explain_if_nothing_comes(self.last, now)
        if now - self._rotated >= _ROTATE_SECONDS:
            self._rotated = now
            log.rotate(self.collection.log)

    def _explain_if_nothing_comes(self, status: Status, now: float) -> None:
        """Say once why no page has come, as `periplus crawl` does at its end."""
        if status.pages or now < self._explain_at or self.supervisor.signals:
            return
        self._explain_at = math.inf
        with suppress(PeriplusError), closing(open_catalog(self.collection)) as catalog:
            if (problem := nothing_fetched(catalog, catalog.seeds(), {})) is not None:
                self.callbacks.message(f"no page has been fetched yet: {problem.why}")

    def _read(self) -> None:
        self._reader = self._reader or StatusReader(self.collection, self.address)
        children = self.supervisor.children
        down = tuple(name for name, child in children.items() if child.state is ChildState.RESTARTING)
        is_finished = children["crawl"].state is ChildState.FINISHED
        self.last = self._reader.read(down, is_crawl_finished=is_finished) or self.last

    def summary(self, seconds: float) -> dict[str, Any]:
        """The object that `up --json` prints."""
        self._read()
        children, last = self.supervisor.children, self.last
        ended = children["builder"].last
        index = ended.result if ended is not None and ended.is_finished else {}
        figures = {name: getattr(last, name, 0) for name in ("pages", "queued", "searchable", "waiting")}
        figures["freshness_p95"] = getattr(last, "freshness_p95", 0.0)
        if ended is not None and not index:  # the builder has failed; its last row may be older than the index
            figures["searchable"] = _documents(self.collection)
        if index:  # the builder has made more pages searchable since its last row
            figures |= {"searchable": index["documents"], "waiting": index["waiting"]}
            figures["freshness_p95"] = index["freshness_p95"]
        restarts = {name: child.restarts for name, child in children.items()}
        return {"seconds": round(seconds, 1), **figures, "address": self.address, "restarts": restarts}


def _documents(collection: Collection) -> int:
    """The pages of the live index; 0 without one that can be read."""
    with suppress(PeriplusError):
        live = Generations(collection.index, INDEX_KIND).live()
        return int(read_meta(live, INDEX_KIND).get("documents", 0)) if live is not None else 0
    return 0
