"""Calls every method on a catalog in SQLite and on one in PostgreSQL, and compares the answers."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Protocol, TypeVar

import pytest

from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.database import Database


class Closable(Protocol):
    def close(self) -> None: ...


Role = TypeVar("Role", bound=Closable)

_WITHOUT_ORDER = {
    "forgotten_urls",
    "hosts",
    "imported_out_of_scope",
    "known_urls",
    "patterns",
    "queued_hosts",
    "redirects",
    "same_content",
    "vanished",
    "waiting_hosts",
}


class Twins:
    """Two catalogs, which must give the same answers to the same questions at the same times."""

    def __init__(self, collections: list[Collection], monkeypatch: pytest.MonkeyPatch) -> None:
        self._collections, self._now = collections, 1_700_000_000.0
        self._answered: set[tuple[type, str]] = set()
        self._called: set[tuple[type, str]] = set()
        monkeypatch.setattr(time, "time", lambda: self._now)

    @contextmanager
    def opened(self, role: Callable[[Database], Any], *, read_only: bool = False) -> Iterator[Any]:
        """Open both as a role; a call of a method is a call of both."""
        with ExitStack() as stack:
            yield Pair(
                self,
                [
                    stack.enter_context(closing(open_catalog(one, role, create=not read_only, read_only=read_only)))
                    for one in self._collections
                ],
            )

    def call(self, roles: list[Any], name: str, *values: Any, **options: Any) -> Any:
        """Call a method of both."""
        self._now += 1.0
        first, second = (_answer(getattr(role, name)(*values, **options)) for role in roles)
        if name == "seen_keys":  # chunks may be cut differently
            first, second = _keys(first), _keys(second)
        elif name in _WITHOUT_ORDER:
            first, second = sorted(first, key=repr), sorted(second, key=repr)
        assert first == second, name
        kind = type(roles[0])
        self._called.add((kind, name))
        if first:
            self._answered.add((kind, name))
        return first

    def missing(self, role: type, *, may_be_empty: tuple[str, ...] = ()) -> list[str]:
        """The public methods of a role that were not called, or had nothing to answer whenever they were."""
        names = [name for name in vars(role) if not name.startswith("_") and name != "close"]
        called = {name for kind, name in self._called if issubclass(kind, role)}
        answered = {name for kind, name in self._answered if issubclass(kind, role)}
        return [name for name in names if name not in (called if name in may_be_empty else answered)]


class Pair:
    """The same role of both catalogs."""

    def __init__(self, twins: Twins, roles: list[Any]) -> None:
        self._twins, self._roles = twins, roles

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *values, **options: self._twins.call(self._roles, name, *values, **options)


def _answer(found: Any) -> Any:
    return list(found) if isinstance(found, Iterator) else found


def _keys(chunks: list[tuple[array[int], array[int] | None]]) -> list[tuple[int, int | None]]:
    """Every key with its share."""
    found: list[tuple[int, int | None]] = []
    for keys, shares in chunks:
        found += zip(keys.tolist(), [None] * len(keys) if shares is None else shares.tolist(), strict=True)
    return sorted(found, key=repr)
