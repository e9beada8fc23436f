"""periplus serve: serves the search site, some shards of its index, or the site over shards on other machines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from secrets import token_bytes
from socket import socket
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import typer
from starlette.types import ASGIApp

from periplus.cli.options import DEFAULT_HOME, DEFAULT_HOST, DEFAULT_PORT, Home, Host, Port
from periplus.cli.output import plural
from periplus.cluster.broker_engine import BrokerEngine
from periplus.cluster.node_app import create_node_app, require_token
from periplus.cluster.node_shards import NodeShards
from periplus.cluster.shard_source import LiveShardSource
from periplus.config import Settings, load
from periplus.errors import UsageError
from periplus.index.storage.shards import files_for_shards
from periplus.live.collection_site import bangs_of, site_of
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.site.access.credentials import console_notice
from periplus.site.access_log import AccessLog
from periplus.site.listener import address_of, is_loopback, listen
from periplus.site.server import run
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.fleet_files.follower import IndexFollower
from periplus.store.fleet_files.generation_cache import Selection, all_files
from periplus.web.branding import load_branding

app = typer.Typer(add_completion=False)

_STORAGE = (
    "Serve the index of this object store, s3://bucket/prefix or file:///folder; the folder of the collection is its "
    "cache. [default: fleet.storage]"
)
_SHARDS = "Serve only these shards of the index, such as 0-3 or 0,2, to brokers; there is no search site."
_NODES = (
    "Search the shards of these nodes: URLs of shard nodes, with commas between them. Nodes with the same shards are "
    "replicas."
)
_RANGE = re.compile(r"\s*([0-9]{1,4})\s*(?:-\s*([0-9]{1,4})\s*)?")
_SEPARATOR = re.compile(r"[,;\s]+")


class _Service(NamedTuple):
    """What is served."""

    make_app: Callable[..., ASGIApp]  # called with `is_public`
    line: str  # what the user reads, before the address


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    host: Host = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    workers: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="Number of server processes; a shard node has one.")
    ] = 1,
    storage: Annotated[str, typer.Option(metavar="URL", help=_STORAGE)] = "",
    shards: Annotated[str | None, typer.Option(metavar="NUMBERS", help=_SHARDS)] = None,
    nodes: Annotated[str | None, typer.Option(metavar="URLS", help=_NODES)] = None,
) -> None:
    """Serve the search site until Ctrl-C; a newly built index is loaded automatically."""
    if shards is not None:
        _refuse_beside_shards(nodes, workers)
    chosen = () if shards is None else read_shards(shards)
    urls = () if nodes is None else read_nodes(nodes)
    settings = _settings(home, storage)
    collection = create_collection(home) if settings.fleet.storage else open_collection(home)
    if settings.serve.access_log:
        AccessLog(settings.serve.access_log, with_queries=False)  # reports a file that cannot be written
    with ExitStack() as stack:
        if collection.storage:
            _follow(stack, collection, settings, partial(files_for_shards, chosen) if chosen or urls else all_files)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="periplus-metrics-"))) if workers > 1 else None
        service = (
            _shard_node(stack, collection, settings, chosen)
            if chosen
            else _site(stack, collection, settings, urls, folder)
        )
        listener = stack.enter_context(listen(host, port))
        if chosen:
            require_token(settings.serve, listener)
        _announce(service, listener, "" if chosen else console_notice(settings, listener))
        run(partial(service.make_app, is_public=not is_loopback(listener)), listener, workers)


def _refuse_beside_shards(nodes: str | None, workers: int) -> None:
    """Refuse options that a shard node does not have."""
    if nodes is not None:
        raise UsageError("--shards and --nodes cannot be combined", hint="Start a shard node and a broker separately.")
    if workers > 1:
        hint = "Start several nodes with the same shards on other ports: they are replicas."
        raise UsageError("--shards and --workers cannot be combined", "a shard node is one process", hint)


def read_shards(text: str) -> tuple[int, ...]:
    """The numbers in a text such as `0-3` or `0,2`, ascending."""
    found: set[int] = set()
    for part in text.split(","):
        numbers = _RANGE.fullmatch(part)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
        if last < first:
            hint = "Write numbers and ranges: 0-3 or 0,2."
            raise UsageError(f"--shards {text!r} is not a list of shard numbers", hint=hint)
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def read_nodes(text: str) -> tuple[str, ...]:
    """The URLs in a text, each once."""
    found = dict.fromkeys(part for part in _SEPARATOR.split(text) if part)
    for url in found:
        if not _is_node(url.rstrip("/")):
            raise UsageError(f"{url!r} is not the URL of a node", hint="Write it like http://10.0.0.31:8081.")
    if not found:
        raise UsageError("--nodes has no URL", hint="Write them like http://10.0.0.31:8081,http://10.0.0.32:8081.")
    return tuple(dict.fromkeys(url.rstrip("/") for url in found))


def _is_node(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_plain = not (parts.path or parts.query or parts.fragment or parts.username)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain and port != 0


def _settings(home: Path, storage: str) -> Settings:
    """The settings with an object store, if one is named."""
    if not storage:
        return load(home).settings
    settings = load(home, {"fleet.storage": storage}).settings  # reports a wrong URL by the name of the option
    os.environ["PERIPLUS_FLEET__STORAGE"] = storage  # opening the collection reads it, here and in server processes
    return settings


def _announce(service: _Service, listener: socket, notice: str) -> None:
    typer.echo(f"{service.line} at {address_of(listener)} (Ctrl-C to stop)", err=True)
    if notice:
        typer.echo(notice, err=True)


def _follow(stack: ExitStack, collection: Collection, settings: Settings, wanted: Selection) -> None:
    """Bring the index of the object store, and what comes after it; *wanted*: which of its files."""
    follower = stack.enter_context(closing(IndexFollower(collection, settings.fleet.cache_bytes, select=wanted)))
    follower.start(partial(typer.echo, err=True))


def _site(
    stack: ExitStack, collection: Collection, settings: Settings, urls: tuple[str, ...], metrics_folder: Path | None
) -> _Service:
    """The search site; *urls*: of shard nodes, if it is that of a broker."""
    home, secret = collection.home, token_bytes()
    load_branding(settings, home)  # reports an unusable logo now
    bangs_of(home, settings.serve)  # reports an unusable file now
    if metrics_folder is None:
        engine = stack.enter_context(closing(_engine(collection, settings, urls)))
        make_app, pages = partial(_site_over, engine, home, secret), engine.documents
    else:
        make_app = partial(_site_of_process, home, secret, urls, metrics_folder)
        pages = _documents(collection, settings, urls)
    of_nodes = f" of {plural(len(urls), 'node')}" if urls else ""
    return _Service(make_app, f"Serving {plural(pages, 'page')}{of_nodes}")


def _engine(collection: Collection, settings: Settings, urls: tuple[str, ...]) -> ReloadingEngine:
    return BrokerEngine(collection, settings, urls) if urls else ReloadingEngine(collection, settings)


def _documents(collection: Collection, settings: Settings, urls: tuple[str, ...]) -> int:
    """The number of pages; reports a missing index now."""
    opened = _engine(collection, settings, urls) if urls else SearchEngine.open(collection, settings)
    with closing(opened) as engine:
        return engine.documents


def _site_over(
    engine: ReloadingEngine, home: Path, secret: bytes, *, is_public: bool, metrics_folder: Path | None = None
) -> ASGIApp:
    cluster = engine.cluster if isinstance(engine, BrokerEngine) else None
    return site_of(home, secret, engine, is_public=is_public, metrics_folder=metrics_folder, cluster=cluster)


def _site_of_process(
    home: Path, secret: bytes, urls: tuple[str, ...], metrics_folder: Path, *, is_public: bool
) -> ASGIApp:
    """Builds the application of one server process."""
    engine = _engine(open_collection(home), load(home).settings, urls)
    return _site_over(engine, home, secret, is_public=is_public, metrics_folder=metrics_folder)


def _shard_node(stack: ExitStack, collection: Collection, settings: Settings, chosen: tuple[int, ...]) -> _Service:
    """The site of a shard node."""
    opened = stack.enter_context(closing(NodeShards(LiveShardSource(collection, chosen, settings.ranking))))
    line = f"Serving {plural(opened.live.documents, 'page')} in {plural(len(chosen), 'shard')} to brokers"
    return _Service(partial(_node_over, opened, settings), line)


def _node_over(shards: NodeShards, settings: Settings, *, is_public: bool) -> ASGIApp:
    del is_public  # the token, or the loopback address, protects it
    return create_node_app(shards, settings.serve)
