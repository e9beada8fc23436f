"""Keeps the standing queries of a collection in an SQLite file: queries, what they found, and which pages they know."""

from __future__ import annotations

import fcntl
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

from periplus.errors import CollectionError, UsageError
from periplus.store.collection import Collection
from periplus.store.database.database import SqlFiles
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.durable import reporting_full_disk
from periplus.url import url_key

_SQL = SqlFiles("periplus.standing", ("standing.sql",))
_MOST_QUERIES = 1_000
_ID_BYTES = 8  # 16 digits: nobody guesses the address of a feed


@dataclass(frozen=True, slots=True)
class StandingQuery:
    """A saved query and the state of its webhook."""

    number: int
    id: str  # in the address of the feed
    query: str
    created: float
    generation: str  # identifies the index of the last check
    checked_at: float
    webhook: str  # URL; empty: none
    delivered: int  # the number of the last item that the webhook has taken
    failures: int  # of the webhook, in a row
    failure: str  # why the last delivery failed
    next_attempt: float
    items: int  # that are kept
    waiting: int  # items that the webhook has not taken yet


class Item(NamedTuple):
    """A page that a standing query has found."""

    number: int
    change: str  # "new" or "changed"
    url: str
    title: str
    snippet: str
    fetched_at: float
    found_at: float


class PageVersion(NamedTuple):
    """A version of a page, for a comparison with the next one."""

    page: int  # hash of the URL
    fetched_at: float
    text: int  # hash of title and text


class NewQuery(NamedTuple):
    """A query to save."""

    query: str
    webhook: str
    generation: str  # of the index that its pages are from


def page_key(url: str) -> int:
    """The hash of a URL, as SQLite stores it."""
    return signed(url_key(url))


def signed(value: int) -> int:
    """A hash of 64 bits as SQLite stores it: with a sign."""
    return value - (1 << 63)


def has_standing_queries(collection: Collection) -> bool:
    """Whether a query was ever saved in this collection."""
    return collection.standing_queries.exists()


@contextmanager
def one_at_a_time(collection: Collection) -> Iterator[None]:
    """Waits until no other process adds, checks or delivers standing queries."""
    folder = collection.standing_queries.parent
    try:
        with reporting_full_disk(collection.home):
            folder.mkdir(mode=0o700, exist_ok=True)  # addresses of webhooks are often secrets
            lock = (folder / "check.lock").open("ab")
    except OSError as error:
        raise CollectionError(f"{folder} cannot be written", error.strerror or str(error)) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Registry:
    """The open file; one process at a time writes it."""

    def __init__(self, collection: Collection, *, read_only: bool = False) -> None:
        """*read_only*: for readers of feeds; the file must exist."""
        self._database = SqliteDatabase(
            collection.standing_queries, create=not read_only, read_only=read_only, files=_SQL
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._database.close()

    def queries(self) -> list[StandingQuery]:
        """All saved queries, oldest first."""
        return [StandingQuery(**record) for record in self._database.records("queries")]

    def find(self, name: str) -> StandingQuery | None:
        """The query with this id."""
        return next((query for query in self.queries() if secrets.compare_digest(query.id, name)), None)

    def add(self, new: NewQuery, now: float, known: Iterable[PageVersion]) -> StandingQuery:
        """Saves a query; *known*: the pages that match it already, which are not reported."""
        if len(self.queries()) >= _MOST_QUERIES:
            raise UsageError(
                f"there are {_MOST_QUERIES:,} standing queries already", hint="`periplus watch remove ID` removes one."
            )
        name = secrets.token_hex(_ID_BYTES)
        with self._database.transaction():
            values = (name, new.query, now, new.generation, now, new.webhook)
            number = self._database.run("add_query", *values).lastrowid
            self._database.many("put_version", ((number, *version) for version in known))
        added = self.find(name)
        assert added is not None
        return added

    def remove(self, query: StandingQuery) -> None:
        """Removes a query with all that it found."""
        with self._database.transaction():
            for statement in ("remove_items", "remove_versions", "remove_query"):
                self._database.run(statement, query.number)

    def forget(self, urls: Iterable[str]) -> int:
        """Removes all that is known about these pages, also from deleted parts of the file; returns the items."""
        known = list(urls)
        self._database.run("overwrite_deleted").fetchall()
        with self._database.transaction():
            items = self._database.many("forget_items", ((url,) for url in known))
            self._database.many("forget_versions", ((page_key(url),) for url in known))
        self._database.run("empty_log").fetchall()
        return items

    def newest_items(self, query: StandingQuery) -> list[Item]:
        """What a query has found, newest first."""
        return [Item(*row) for row in self._database.rows("newest_items", query.number)]

    def waiting_items(self, query: StandingQuery, most: int) -> list[Item]:
        """What the webhook of a query has not taken yet, oldest first."""
        return [Item(*row) for row in self._database.rows("waiting_items", query.number, query.delivered, most)]

    def known_version(self, query: StandingQuery, pages: Sequence[int]) -> PageVersion | None:
        """The newest version of a page that the query knows; *pages*: the hashes of all URLs of the page."""
        rows = [(page, self._database.row("version", query.number, page)) for page in pages]
        versions = [PageVersion(page, *row) for page, row in rows if row is not None]
        return max(versions, key=lambda version: version.fetched_at, default=None)

    def knows_text(self, query: StandingQuery, text: int) -> bool:
        """Whether a page with this text has matched the query."""
        return self._database.row("has_text", query.number, text) is not None

    def record_check(
        self, query: StandingQuery, versions: Iterable[PageVersion], items: Sequence[Item], kept: int
    ) -> None:
        """Saves what a check has found; *kept*: how many items a query keeps. Call it in `transaction`."""
        self._database.many("put_version", ((query.number, *version) for version in versions))
        self._database.many("add_item", ((query.number, *item[1:]) for item in items))
        self._database.run("keep_newest_items", query.number, kept)

    def set_checked(self, query: StandingQuery, generation: str, now: float) -> None:
        """Notes the index that a query was checked with. Call it in `transaction`."""
        self._database.run("set_checked", generation, now, query.number)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes of the block are saved, or none."""
        with self._database.transaction():
            yield

    def set_delivered(self, query: StandingQuery, last: int) -> None:
        """The webhook has taken all items up to number *last*."""
        with self._database.transaction():
            self._database.run("delivered", last, query.number)

    def set_failed(self, query: StandingQuery, why: str, next_attempt: float) -> None:
        """The webhook has not taken the items."""
        with self._database.transaction():
            self._database.run("not_delivered", why, next_attempt, query.number)
