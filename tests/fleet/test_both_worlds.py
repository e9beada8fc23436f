"""One web, crawled, ranked and indexed on one machine and on a fleet: the same pages, ranks and results."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from crawl.crawling import settings_for
from periplus.crawl.run import Request
from periplus.pipeline import build, open_engine
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from periplus.store.objects.open_store import open_store
from periplus.store.ranks import open_ranks
from periplus.url import url_id
from testweb import TestWeb, many_hosts, prose

pytestmark = pytest.mark.slow

HOSTS, PAGES, QUERIES = 60, 8, 200
SEED = "http://h0001.test/"


class World:
    """A collection in which the web was crawled, ranked and indexed."""

    def __init__(self, web: TestWeb, home: Path) -> None:
        # Every match is scored: of equally good pages, the order of the crawl decides which become candidates.
        settings = settings_for(web, scope__hosts=[r".*\.test"], ranking__candidates=HOSTS * PAGES)
        self._request = Request(home, settings, [SEED])
        self.built = build(self._request)
        self.collection = open_collection(home)

    def pages(self) -> dict[str, tuple[int, str]]:
        """State and reason of every known URL."""
        with closing(open_catalog(self.collection)) as catalog:
            rows = {url: catalog.url(url) for url in catalog.known_urls()}
        return {url: (row["state"], row["reason"]) for url, row in rows.items() if row is not None}

    def ranks(self, urls: list[str]) -> np.ndarray:
        table = open_ranks(self.collection.ranks)
        assert table is not None
        return table.of(np.array([url_id(url) for url in urls], "S16"))

    def results(self, queries: list[str]) -> list[list[str]]:
        engine = open_engine(self._request)
        try:
            return [[hit.url for hit in engine.search(query).hits] for query in queries]
        finally:
            engine.close()


def queries() -> list[str]:
    choice = random.Random(4)
    words = sorted({word for number in range(50) for word in prose.text(f"q{number}").lower().split()})
    return [" ".join(choice.sample(words, choice.choice((1, 1, 2, 3)))) for _ in range(QUERIES)]


def test_a_fleet_finds_what_one_machine_finds(tmp_path: Path, postgres: str, bucket: str) -> None:
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    (fleet / "periplus.toml").write_text(f'[fleet]\ndatabase = "{postgres}"\nstorage = "{bucket}/collection"\n')
    with TestWeb(many_hosts(HOSTS, PAGES)) as web:
        one, other = World(web, tmp_path / "one"), World(web, fleet)
    assert not (fleet / "crawl.db").exists()
    assert not [*(fleet / "archive").glob("*.warc.gz")], "uploaded"
    store = open_store(other.collection.storage)
    stored = {folder for folder in ("archive", "segments", "ranks", "index") if [*store.list(folder)]}
    assert len(stored) == 4, stored
    assert one.pages() == other.pages()
    assert len(one.pages()) >= HOSTS * PAGES
    urls = sorted(one.pages())
    mine, theirs = one.ranks(urls), other.ranks(urls)
    assert np.abs(mine - theirs).sum() <= 1e-6
    assert [urls[n] for n in np.argsort(-mine, kind="stable")[:1000]] == [
        urls[n] for n in np.argsort(-theirs, kind="stable")[:1000]
    ]
    asked = queries()
    found = one.results(asked)
    assert sum(map(bool, found)) > QUERIES / 2, "most queries find something"
    assert found == other.results(asked)
