"""What is forgotten on a fleet is gone from its database and from the files of the node, and does not come back."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from crawl.crawling import typed
from forget.forgetting import HOST, HOST_PHRASE, PHRASE, SECRET, build, crawl_again, places_of, sites
from testweb import TestWeb

pytestmark = pytest.mark.slow


def tables_with(url: str, *texts: str) -> set[str]:
    """The tables of a database in which one of the texts occurs, in any case."""
    found: set[str] = set()
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'periplus'").fetchall()
        for (name,) in names:
            for (row,) in connection.execute(f"SELECT lower(t::text) FROM periplus.{name} AS t".encode()):
                found.update({name} if any(text.lower() in row for text in texts) else ())
    return found


@pytest.mark.parametrize(("name", "phrase"), [(SECRET, PHRASE), (HOST, HOST_PHRASE)], ids=["url", "host"])
def test_nothing_of_what_is_forgotten_is_left(tmp_path: Path, postgres: str, name: str, phrase: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "periplus.toml").write_text(f'[fleet]\ndatabase = "{postgres}"\n')
    with TestWeb(sites()) as web:
        build(web, home)
        assert not (home / "crawl.db").exists()
        assert {"urls", "fetches", "workers", "commands"} <= tables_with(postgres, name)
        forgotten = typed("forget", name, "--yes", "--json", "--home", home)
        assert forgotten.code == 0, forgotten
        assert tables_with(postgres, name) == set()
        assert places_of(home, name, phrase) == []
        assert typed("verify", "--forgotten", "--home", home).code == 0
        assert typed("verify", "--home", home).code == 0
        requests = len(web.log.entries())
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("UPDATE periplus.urls SET due = 0")  # everything is recrawled
        crawl_again(web, home)
        asked = {entry.url for entry in web.log.entries()[requests:]}
    assert asked
    assert not {url for url in asked if name in url}
    assert tables_with(postgres, name) == set()
