"""Removes what was forgotten from the caches of the site, the logs and the judgements of the owner."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

from periplus.config import Settings
from periplus.errors import NoIndex
from periplus.search.engine import SearchEngine
from periplus.store.block_list import BlockList
from periplus.store.collection import Collection
from periplus.store.database.sql_files import read_statements
from periplus.store.durable import reporting_full_disk, write_file

_WORD = re.compile(r"\w+")
_PATIENCE = 10.0  # seconds to wait for a site that is writing the file


def clear_caches(collection: Collection, settings: Settings, blocked: BlockList) -> None:
    """Remove all stored results, and the queries that name what was forgotten or have words that no page has now."""
    results = read_statements("periplus.search.cache", "result_cache.sql")
    _change(collection.result_cache, lambda database: database.execute(results["remove_all"]))
    if collection.query_log.exists():
        engine = _engine(collection, settings)
        with closing(engine) if engine is not None else nullcontext():
            _change(collection.query_log, lambda database: _remove_queries(database, blocked, engine))


def _engine(collection: Collection, settings: Settings) -> SearchEngine | None:
    try:
        return SearchEngine.open(collection, settings)
    except NoIndex:
        return None


def _remove_queries(database: sqlite3.Connection, blocked: BlockList, engine: SearchEngine | None) -> None:
    statements = read_statements("periplus.search.suggest", "query_log.sql")
    queries = [query for (query,) in database.execute(statements["queries"])]
    gone = [query for query in queries if blocked.scrubbed(query) != query or not _finds_all_words(query, engine)]
    database.executemany(statements["remove"], ((query,) for query in gone))


def _finds_all_words(query: str, engine: SearchEngine | None) -> bool:
    """Whether the index still has every word of a query: a word that is gone may be of a forgotten page."""
    if engine is None:
        return False
    lexicon = engine.lexicon
    return all(lexicon.number(word) is not None or engine.count(word) for word in _WORD.findall(query))


def _change(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Change a database of the cache so that no deleted row is left in its file; a file that resists is deleted."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON").fetchone()
            change(database)
            database.execute("VACUUM")
            (is_busy, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        is_busy = True
    if is_busy:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def forget_logs(collection: Collection, blocked: BlockList) -> None:
    """Remove forgotten URLs and hosts from the lines of the log."""
    for path in collection.home.glob(f"{collection.log.name}*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        scrubbed = "".join(map(blocked.scrubbed, text.splitlines(keepends=True)))
        if scrubbed != text:
            with reporting_full_disk(collection.home):
                write_file(path, scrubbed.encode())


def forget_judgements(collection: Collection, blocked: BlockList, *, dry_run: bool = False) -> int:
    """Remove the judgements about forgotten pages; returns their number."""
    path = collection.judgements / "qrels.txt"
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return 0
    kept = [line for line in lines if blocked.scrubbed(line) == line]
    if len(kept) < len(lines) and not dry_run:
        with reporting_full_disk(collection.home):
            write_file(path, "".join(kept).encode())
    return len(lines) - len(kept)
