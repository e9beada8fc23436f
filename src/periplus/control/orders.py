"""Stand-in until the branch `orders` is merged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from periplus.config import Settings
from periplus.store.collection import Collection
from periplus.store.live_state import Action, LiveState


def _give(collection: Collection, action: Action, arguments: dict[str, Any], node: str, origin: str) -> int:
    with closing(LiveState(collection.catalog)) as live:
        return live.command(action, arguments, node=node, origin=origin)


def pause(collection: Collection, node: str = "", origin: str = "cli") -> int:
    return _give(collection, Action.PAUSE, {}, node, origin)


def resume(collection: Collection, node: str = "", origin: str = "cli") -> int:
    return _give(collection, Action.RESUME, {}, node, origin)


def drain(collection: Collection, node: str = "", origin: str = "cli") -> int:
    return _give(collection, Action.DRAIN, {}, node, origin)


def stop(collection: Collection, node: str = "", origin: str = "cli") -> int:
    return _give(collection, Action.STOP, {}, node, origin)


def add_seeds(
    collection: Collection, settings: Settings, urls: Sequence[str], sitemaps: Sequence[str] = (), origin: str = "cli"
) -> list[Any]:
    _give(collection, Action.ADD_SEEDS, {"urls": list(urls), "sitemaps": list(sitemaps)}, "", origin)
    return []


def remove_seed(collection: Collection, url: str, origin: str = "cli") -> None:
    _give(collection, Action.REMOVE_SEED, {"url": url}, "", origin)


def block(collection: Collection, host: str, origin: str = "cli") -> int:
    _give(collection, Action.BLOCK, {"host": host}, "", origin)
    return 0


def unblock(collection: Collection, host: str, origin: str = "cli") -> int:
    _give(collection, Action.UNBLOCK, {"host": host}, "", origin)
    return 0


def unlearn(collection: Collection, host: str, pattern: str, origin: str = "cli") -> int:
    _give(collection, Action.UNLEARN, {"host": host, "pattern": pattern}, "", origin)
    return 0


def retry(collection: Collection, url_or_host: str, origin: str = "cli") -> int:
    _give(collection, Action.RETRY, {"host": url_or_host}, "", origin)
    return 0
