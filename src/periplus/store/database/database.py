"""The port of a database that runs named statements; the catalog is written against it.

`sqlite_database` is the version for one machine, `postgres` the one for a fleet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

from periplus.store.block_list import BlockList

Answer = TypeVar("Answer")


class SqlFiles(NamedTuple):
    """Where the SQL of one kind of database is; the package has its migrations in a folder `migrations`."""

    package: str
    statements: tuple[str, ...]  # names of the files


CATALOG_FILES = SqlFiles("periplus.store.catalog", ("catalog.sql", "forget.sql", "prune.sql", "listings.sql"))


class Outcome(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of changed rows."""
        ...


class Database(Protocol):
    """A connection to a database that runs named statements and raises our own errors."""

    @property
    def place(self) -> str:
        """Where the database is, for messages; without a password."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...

    # -- statements -----------------------------------------------------------------------------------------------

    def transaction(self, undo: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Run the block as one durable transaction; *undo* clears cached state after a rollback."""
        ...

    def trial(self) -> AbstractContextManager[None]:
        """Run the block in a transaction, and undo all its changes."""
        ...

    def retry(self, work: Callable[[], Answer]) -> Answer:
        """Run a function that runs one transaction; again when the transaction was lost through no fault of its own."""
        ...

    def fence(self, worker: int, token: int, on_commit: Callable[[], None]) -> None:
        """Refuse every later transaction with `LeaseLost` when the worker has another token by then.

        *on_commit* is called after each transaction that was made.
        """
        ...

    def guard(self, check: Callable[[], None]) -> None:
        """Call *check* at the end of every later transaction; an error that it raises undoes the transaction."""
        ...

    def run(self, name: str, *values: Any) -> Outcome:
        """Run one statement."""
        ...

    def many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run one statement for every row; returns the number of changed rows."""
        ...

    def ids(self, find: str, add: str, rows: Mapping[str, tuple[Any, ...]]) -> dict[str, int]:
        """The ids of named rows, found by one statement or added with their other values by another one."""
        ...

    def row(self, name: str, *values: Any) -> Any:
        """The first row of the result, or None."""
        ...

    def rows(self, name: str, *values: Any) -> Iterator[Any]:
        """Stream the rows of the result."""
        ...

    def record(self, name: str, *values: Any) -> dict[str, Any] | None:
        """The first row of the result as a dictionary, or None."""
        ...

    def records(self, name: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Stream the rows of the result as dictionaries."""
        ...

    # -- the whole database ---------------------------------------------------------------------------------------

    def check(self) -> list[str]:
        """The problems that an integrity check of the engine finds."""
        ...

    def block_list(self) -> BlockList:
        """The URLs and hosts of the collection that must not come back."""
        ...

    def set_block_list(self, blocked: BlockList) -> None:
        """Replace the block list, durably."""
        ...

    # -- for `periplus forget` ------------------------------------------------------------------------------------

    def define_forgotten(self, blocked: BlockList) -> None:
        """Let statements call `forgotten`, `forgotten_host`, `forgotten_origin` and `scrubbed` of a block list."""
        ...

    def erase_deleted(self) -> bool:
        """Overwrite everything that was deleted; False: another process reads old rows."""
        ...

    def text_columns(self) -> list[tuple[str, str]]:
        """Table and name of every column with text."""
        ...

    def count_where(self, table: str, condition: str) -> int:
        """The number of rows of a table that meet a condition."""
        ...
