"""The site answers before the first index is there, and goes on as the search site by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from live.running import until
from periplus.config import Settings
from periplus.live.site import LiveSite, SiteReport
from periplus.site.app import Beside
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.web.branding import Branding
from periplus.web.crawl_line import CrawlReader, CrawlState
from periplus.web.starting import starting_app
from web.serving import serving


def new_collection(home: Path) -> Collection:
    collection = create_collection(home)
    open_catalog(collection, create=True).close()
    return collection


class Later:
    """A site that is there after a while; it notes the life of its application."""

    def __init__(self) -> None:
        self.is_there = False
        self.life: list[str] = []

    def __call__(self) -> ASGIApp | None:
        return self._app if self.is_there else None

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for _ in range(2):
                message = await receive()
                self.life.append(message["type"])
                await send({"type": f"{message['type']}.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"found"})


def live_site(home: Path, later: Later, generation: Callable[[], int] = lambda: 0) -> LiveSite:
    collection = new_collection(home)
    starting = starting_app(Settings(), Branding(), lambda: CrawlState(is_crawling=True, pages=12), Beside())
    return LiveSite(starting, later, SiteReport(collection, "http://site.test/", generation))


def test_before_the_first_index_the_site_says_how_far_the_crawl_is(tmp_path: Path) -> None:
    with serving(live_site(tmp_path / "home", Later())) as site:
        page = site.get("/")
        assert page.status == 200
        assert "12 pages so far, crawling …" in page.text
        assert '<form class="box" role="search"' in page.text
        assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in page.text
        search = site.get("/search", q="old <harbour>")
        assert (search.status, search.headers["retry-after"]) == (503, "3")
        assert 'value="old &lt;harbour&gt;"' in search.text, (
            "the page repeats the query, and reloads until there are results"
        )
        health = site.get("/healthz")
        assert (health.status, health.json["status"]) == (503, "starting")
        api = site.get("/api/v1/search", q="harbour")
        assert (api.status, api.headers["retry-after"]) == (503, "3")
        assert api.json["error"].startswith("The index is being built")
        assert site.get("/static/style.css").status in {200, 404}
        assert site.get("/nothing").status == 404


def test_the_search_site_takes_over_by_itself(tmp_path: Path) -> None:
    later = Later()
    with serving(live_site(tmp_path / "home", later)) as site:
        assert site.get("/search", q="x").status == 503
        later.is_there = True
        until(lambda: site.get("/search", q="x").body == b"found", 30)
    assert later.life == ["lifespan.startup", "lifespan.shutdown"], "its metrics and its log are saved at the end"


def test_the_row_of_the_server_names_its_address_and_generation(tmp_path: Path) -> None:
    home, generation = tmp_path / "home", [0]
    with serving(live_site(home, Later(), lambda: generation[0])) as site:
        site.get("/")
        rows = LiveState(SqliteDatabase(home / "crawl.db", read_only=True))
        until(lambda: bool(rows.workers()), 30)
        generation[0] = 4
        until(lambda: rows.workers()[0].figures["generation"] == 4, 30)
        (row,) = rows.workers()
        assert (row.role, row.figures["address"]) == (Role.SERVE, "http://site.test/")
        assert row.figures["requests"] >= 1
    assert rows.workers() == [], "a clean end removes the row"
    rows.close()


def test_the_crawl_is_read_at_most_once_a_second(tmp_path: Path) -> None:
    collection = new_collection(tmp_path / "home")
    crawl = CrawlReader(collection)
    assert crawl() == CrawlState(is_crawling=False, pages=0)
    with collection.locked():
        assert crawl() == CrawlState(is_crawling=False, pages=0)
        time.sleep(1.05)
        assert crawl().is_crawling
