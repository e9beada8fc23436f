"""A release with a newer schema migrates the database while nodes of the release before crawl."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from fleet.local_fleet import LocalFleet, wait_until
from periplus.store.database.postgres import migrate
from periplus.store.database.postgres.database import PostgresDatabase
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.slow


def test_nodes_of_the_release_before_end_with_a_clear_line_and_write_nothing_more(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrate._migrations()
    newer = known[-1][0] + 1
    with TestWeb(many_hosts(20, 50)) as web, closing(LocalFleet(tmp_path, postgres, web)) as fleet:
        fleet.seed("http://h0001.test/")
        fleet.start("a", until_done=False)
        wait_until(lambda: fleet.counters()["fetched"] > 20)
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "_migrations", lambda: [*known, (newer, "ALTER TABLE nodes ADD COLUMN place TEXT")])
            PostgresDatabase(postgres).close()
            fetched = fleet.rows("SELECT count(*) FROM fetches")
        assert fleet.wait("a", timeout=90) == {"a": 1}
        assert f"has schema {newer}: this release supports schemas up to {newer - 1}" in fleet.log("a")
        assert "Traceback" not in fleet.log("a")
        assert fleet.rows("SELECT count(*) FROM fetches") == fetched, "its lease was taken with the migration"
