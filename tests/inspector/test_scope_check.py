"""Another scope is tried on the queue before it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from periplus.config import Scope
from periplus.frontier.scope import ScopeRules
from periplus.inspector import scope_check
from periplus.inspector.scope_check import check_scope
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.sqlite_database import SqliteDatabase
from store.records import WRITTEN, batch_of, queued


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    urls = [f"https://h{host}.example/{page}.html" for host in range(8) for page in range(10)]
    urls += [f"https://h0.example/deep/{page}" for page in range(5)]
    with closing(Catalog(SqliteDatabase(tmp_path / "crawl.db", create=True))) as catalog:
        catalog.commit(batch_of(*map(queued, urls)), WRITTEN, catalog.begin_run({}), {})
        yield catalog


def test_a_short_queue_is_checked_completely(catalog: Catalog) -> None:
    found = check_scope(catalog, ScopeRules(Scope(hosts=["h[0-3][.]example"], paths=["[.]html$"])))
    assert found["queued"] == 85
    assert (found["refused_hosts"], found["refused_by_host"]) == (4, 40)
    assert (found["checked"], found["is_complete"]) == (45, True)
    assert found["refused"] == {"scope_path": 5}
    assert found["samples"]["scope_path"] == [f"https://h0.example/deep/{page}" for page in range(5)]


def test_the_largest_refused_hosts_are_named(catalog: Catalog) -> None:
    found = check_scope(catalog, ScopeRules(Scope(hosts=["h7[.]example"])))
    assert found["largest_refused_hosts"][0] == {"host": "h0.example", "queued": 15}
    assert len(found["largest_refused_hosts"]) == 5


def test_of_a_long_queue_some_urls_of_many_hosts_are_checked(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_check, "CHECKED_URLS", 16)
    found = check_scope(catalog, ScopeRules(Scope(hosts=[".*"], paths=["nothing"])))
    assert (found["checked"], found["is_complete"]) == (16, False)
    assert found["refused"] == {"scope_path": 16}
    assert found["in_scope_by_host"] == 85


def test_a_scope_that_admits_everything_refuses_nothing(catalog: Catalog) -> None:
    found = check_scope(catalog, ScopeRules(Scope(hosts=[".*"])))
    assert (found["refused_by_host"], found["refused"]) == (0, {})
