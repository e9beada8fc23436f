"""The owner saves a query as a feed, and everybody who has its address reads the feed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from periplus.config import Serving
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.search.reload import ReloadingEngine
from periplus.standing.registry import Item, NewQuery, Registry, one_at_a_time
from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import Collection, create_collection
from periplus.web.owner import OwnerFiles
from periplus.web.standing_routes import Standing
from search.library import Doc, index, settings, shelve
from web.engines import FakeEngine
from web.owning import SECRET, send, token_of
from web.serving import Answer, Site, searching
from web.test_hostile import NAUGHTY, PAYLOADS

FOUND_AT = 1_790_000_000.0
ATOM = "{http://www.w3.org/2005/Atom}"


@contextmanager
def standing_site(collection: Collection, *, public: bool = False, serving: Serving | None = None) -> Iterator[Site]:
    """A site over a real index, if the collection has one."""
    files = OwnerFiles(OwnJudgements(collection), collection.home, lambda: None, SECRET)
    if not collection.index.exists():
        standing = Standing(SavedQueries(collection), None)  # type: ignore[arg-type]  # nothing is saved
        with searching(FakeEngine(), serving, owner=files, is_public=public, standing=standing) as site:
            yield site
        return
    engine = ReloadingEngine(collection, settings())
    try:
        standing = Standing(SavedQueries(collection), engine.live)
        with searching(engine, serving, owner=files, is_public=public, standing=standing) as site:
            yield site
    finally:
        engine.close()


@pytest.fixture(scope="module")
def harbours(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    found = shelve(tmp_path_factory.mktemp("harbours"), [Doc("http://a.test/", "Ostia", "the harbour of Rome")])
    index(found)
    return found


@pytest.fixture(scope="module")
def site(harbours: Collection) -> Iterator[Site]:
    with standing_site(harbours) as served:
        yield served


def save(site: Site, query: str, **headers: str) -> Answer:
    return send(site, "/standing/add", {"token": token_of(site), "query": query}, headers)


def saved_feed(home: Path, query: str, *items: tuple[str, str, str]) -> tuple[Collection, str]:
    """A collection with a query that has found these pages: URL, title and snippet of each."""
    collection = create_collection(home)
    with one_at_a_time(collection), Registry(collection) as registry:
        saved = registry.add(NewQuery(query, "", "g"), 1.0, [])
        found = [Item(0, "new", url, title, snippet, 1.0, FOUND_AT) for url, title, snippet in items]
        with registry.transaction():
            registry.record_check(saved, [], found, 10_000)
    return collection, saved.id


def channel(site: Site, name: str) -> ET.Element:
    answer = site.get(f"/standing/{name}.rss")
    assert answer.headers["content-type"] == "application/rss+xml; charset=utf-8"
    found = ET.fromstring(answer.body).find("channel")
    assert found is not None
    return found


def text(element: ET.Element, name: str) -> str:
    found = element.findtext(name)
    assert found is not None, name
    return found


# --- the page of the owner ---


def test_the_owner_saves_a_query_from_its_results_and_removes_it(site: Site, harbours: Collection) -> None:
    page = site.get("/search?q=harbour++of&lang=en").page
    assert page.select(".save-feed button")[0].text == "Save as feed"
    fields = {str(one.attrs["name"]): str(one.attrs["value"]) for one in page.select(".save-feed input")}
    answer = send(site, "/standing/add", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/standing")
    (query,) = SavedQueries(harbours).all()
    assert query.query == "lang:en (harbour of)"
    (row,) = site.get("/standing").page.select(".standing li")
    feed = str(row.select("a")[1].attrs["href"])
    assert feed == f"/standing/{query.id}.rss"
    assert site.get(feed).status == 200
    assert site.get(str(row.select("a")[0].attrs["href"])).status == 200
    answer = send(site, "/standing/remove", {"token": token_of(site), "id": query.id})
    assert (answer.status, answer.headers["location"]) == (303, "/standing")
    assert site.get(feed).status == 404
    assert not site.get("/standing").page.select(".standing")


def test_a_query_that_finds_nothing_yet_can_be_saved(site: Site) -> None:
    assert site.get("/search?q=zeppelin").page.select(".save-feed button")[0].text == "Save as feed"


def test_a_query_without_words_is_refused_with_a_sentence(site: Site) -> None:
    answer = save(site, "...")
    assert answer.status == 400
    assert "no word to search for" in answer.text


@pytest.mark.parametrize("path", ["/standing/add", "/standing/remove"])
@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}, {"X-Forwarded-For": "192.0.2.1"}],
    ids=["another site", "another name", "a proxy"],
)
def test_only_the_owner_saves_and_removes(site: Site, harbours: Collection, path: str, headers: dict[str, str]) -> None:
    fields = {"token": token_of(site), "query": "rome", "id": "x"}
    assert send(site, path, fields, headers).status == 403
    assert send(site, path, fields | {"token": "wrong"}).status == 403
    assert site.get(f"{path}?{urlencode(fields)}", {"Sec-Fetch-Site": "same-origin"}).status == 403
    assert SavedQueries(harbours).all() == []


def test_a_public_site_serves_feeds_and_nothing_else(harbours: Collection, tmp_path: Path) -> None:
    collection, name = saved_feed(tmp_path, "harbour", ("http://a.test/", "A", "b"))
    for public, serving in ((True, None), (False, Serving(public_address="https://search.example"))):
        with standing_site(collection, public=public, serving=serving) as site:
            assert site.get(f"/standing/{name}.rss").status == 200
            assert site.get("/standing").status == 403
            assert not site.get("/search?q=harbour").page.select(".save-feed")
            assert send(site, "/standing/add", {"token": "", "query": "x"}).status == 403


# --- the feed ---


def test_the_feed_is_rss_with_the_newest_item_first(tmp_path: Path) -> None:
    collection, name = saved_feed(
        tmp_path, "harbour", ("http://a.test/1", "One", "first"), ("http://a.test/2", "Two", "")
    )
    with standing_site(collection) as site:
        found = channel(site, name)
        assert text(found, "title") == "harbour \u2013 Periplus"
        assert text(found, "link") == f"{site.base}/search?q=harbour"
        link = found.find(f"{ATOM}link")
        assert link is not None
        assert link.attrib["href"] == f"{site.base}/standing/{name}.rss"
        two, one = found.findall("item")
    assert [text(item, "title") for item in (one, two)] == ["One", "Two"]
    assert text(one, "link") == "http://a.test/1"
    assert text(one, "description") == "first"
    assert (text(one, "guid"), text(two, "guid")) == (f"{name}-1", f"{name}-2")
    assert text(one, "category") == "new"
    assert parsedate_to_datetime(text(one, "pubDate")).timestamp() == FOUND_AT


def test_a_feed_uses_the_public_address_of_the_site(tmp_path: Path) -> None:
    collection, name = saved_feed(tmp_path, "harbour")
    with standing_site(collection, serving=Serving(public_address="https://search.example")) as site:
        assert text(channel(site, name), "link") == "https://search.example/search?q=harbour"


@pytest.mark.parametrize("name", ["", "x", "0" * 16, "%27%20OR%201", "..%2f..%2fcollection"])
def test_an_unknown_feed_is_not_found(tmp_path: Path, name: str) -> None:
    collection, _ = saved_feed(tmp_path, "harbour")
    with standing_site(collection) as site:
        assert site.get(f"/standing/{name}.rss").status == 404


def test_hostile_pages_cannot_leave_their_element(tmp_path: Path) -> None:
    hostile = [(f"http://a.test/{number}", title, title) for number, title in enumerate((*PAYLOADS, *NAUGHTY))]
    collection, name = saved_feed(tmp_path, PAYLOADS[0], *hostile, ("javascript:alert(1)", "<b>", "x"))
    with standing_site(collection) as site:
        found = channel(site, name)
    items = found.findall("item")
    assert len(items) == len(hostile) + 1
    assert items[0].find("link") is None, "a script is no link"
    for item in items:
        assert {child.tag for child in item} <= {"title", "link", "guid", "category", "description", "pubDate"}
        assert not any(len(child) for child in item)


def test_a_damaged_file_is_an_error_of_the_feed_only(harbours: Collection, tmp_path: Path) -> None:
    collection, name = saved_feed(tmp_path, "harbour")
    collection.standing_queries.write_bytes(b"garbage" * 1_000)
    for path in collection.standing_queries.parent.glob("queries.db-*"):
        path.unlink()
    with standing_site(collection) as site:
        assert site.get(f"/standing/{name}.rss").status == 503
        assert site.get("/search?q=harbour").status == 200
