"""A program reads the results as a feed, as a table or as JSON."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode

import pytest

from periplus.config import Serving
from web.engines import CRAWLED, HARBOUR, FakeEngine
from web.serving import Site, searching
from web.test_hostile import NAUGHTY, PAYLOADS, poisoned

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=40 * [HARBOUR])


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def channel(site: Site, path: str = "/search.rss?q=harbour") -> ET.Element:
    answer = site.get(path)
    assert answer.headers["content-type"] == "application/rss+xml; charset=utf-8"
    found = ET.fromstring(answer.body).find("channel")
    assert found is not None
    return found


def rows(site: Site, **query: str | int) -> list[dict[str, str]]:
    answer = site.get(f"/search.csv?{urlencode(query)}")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    return list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"), newline="")))


# --- links ---


def test_the_result_page_links_to_its_other_forms(site: Site) -> None:
    page = site.get("/search?q=harbour&mode=or&size=5&page=2").page
    forms = {str(link.attrs["type"]): str(link.attrs["href"]) for link in page.select("head link[rel=alternate]")}
    assert forms == {
        "application/rss+xml": "/search.rss?q=harbour&mode=or&size=5",
        "text/csv": "/search.csv?q=harbour&mode=or&size=5&page=2",
        "application/json": "/api/search?q=harbour&mode=or&size=5&page=2",
    }
    assert [str(link.attrs["href"]) for link in page.select("main .exports a")] == list(forms.values())
    assert all(site.get(address).status == 200 for address in forms.values())


def test_without_results_there_is_nothing_to_export(site: Site, engine: FakeEngine) -> None:
    engine.hits = []
    assert not site.get("/search?q=nothing").page.select(".exports, link[rel=alternate]")


@pytest.mark.parametrize("form", ["rss", "csv"])
def test_an_export_takes_the_parameters_of_the_search(site: Site, engine: FakeEngine, form: str) -> None:
    site.get(f"/search.{form}?q=harbour&mode=or&size=5&page=2&exact=1")
    asked = {"query": "harbour", "page": 2, "size": 5, "explain": False, "mode": "or", "verbatim": True}
    assert engine.asked == [asked]
    assert site.get(f"/search.{form}").status == 400
    assert site.get(f"/search.{form}?q=x&page=two").status == 400


@pytest.mark.parametrize("form", ["rss", "csv"])
def test_exports_are_not_for_other_crawlers(site: Site, form: str) -> None:
    assert site.get(f"/search.{form}?q=x").headers["x-robots-tag"] == "noindex"


# --- RSS ---


def test_the_feed_has_the_results_with_their_dates(site: Site) -> None:
    found = channel(site)
    assert found.findtext("title") == "harbour \u2013 Periplus"
    assert found.findtext("link") == f"{site.base}/search?q=harbour"
    link = found.find(f"{ATOM}link")
    assert link is not None
    assert link.attrib["href"] == f"{site.base}/search.rss?q=harbour"
    assert (found.findtext(f"{OPENSEARCH}totalResults"), found.findtext(f"{OPENSEARCH}startIndex")) == ("40", "1")
    item = found.findall("item")[0]
    assert (item.findtext("title"), item.findtext("link")) == (HARBOUR.title, HARBOUR.url)
    assert item.findtext("description") == HARBOUR.snippet
    assert parsedate_to_datetime(item.findtext("pubDate") or "").timestamp() == CRAWLED


def test_the_feed_names_the_public_address(engine: FakeEngine) -> None:
    with searching(engine, Serving(public_address="https://search.example")) as site:
        answer = site.get("/search.rss?q=harbour", {"Host": "evil.example"})
    assert "evil.example" not in answer.text
    assert "<link>https://search.example/search?q=harbour</link>" in answer.text


def test_the_feed_is_valid_whatever_a_page_holds(site: Site, engine: FakeEngine) -> None:
    nasty = ["]]>", "a\x00b\x0bc", "\ud800", "\ufffe\uffff", "&amp;<![CDATA[", "<?xml?>", *PAYLOADS, *NAUGHTY]
    for start in range(0, len(nasty), 100):
        engine.hits = [poisoned(text) for text in nasty[start : start + 100]]
        assert len(channel(site, "/search.rss?q=x&size=100").findall("item")) == len(engine.hits)
    for text in nasty:
        engine.hits = [HARBOUR]
        answer = site.get("/search.rss", q=text.encode("utf-8", "surrogatepass"))
        if text.strip() and answer.status == 200:
            ET.fromstring(answer.body)


def test_only_addresses_of_the_web_become_links(site: Site, engine: FakeEngine) -> None:
    engine.hits = [replace(HARBOUR, url="javascript:alert(1)", fetched_at=0.0)]
    item = channel(site).findall("item")[0]
    assert item.find("link") is None
    assert item.find("pubDate") is None


# --- CSV ---


def test_the_table_has_one_row_per_result(site: Site) -> None:
    found = rows(site, q="harbour", page=2, size=15)
    assert [row["position"] for row in found] == [str(number) for number in range(16, 31)]
    assert found[0] == {
        "position": "16",
        "title": HARBOUR.title,
        "url": HARBOUR.url,
        "snippet": HARBOUR.snippet,
        "host": HARBOUR.host,
        "language": "en",
        "type": "text/html",
        "fetched": "2026-03-04T05:05:00Z",
        "score": "3.2500",
    }


def test_the_table_is_a_file_that_spreadsheets_read(site: Site) -> None:
    answer = site.get("/search.csv?q=harbour")
    assert answer.headers["content-disposition"] == 'attachment; filename="results.csv"'
    assert answer.body.startswith("\ufeff".encode()), "Excel reads UTF-8 only with a byte order mark"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", " =", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_cell_of_the_table_is_a_formula(site: Site, engine: FakeEngine, sign: str) -> None:
    text = f"{sign}cmd|' /C calc'!A0"
    engine.hits = [poisoned(text)]
    for name, cell in rows(site, q="x")[0].items():
        assert cell[0] not in "=+-@\t\r \uff1d\uff0b\uff0d\uff20", name


@pytest.mark.parametrize("separator", [";", "; ", '";', "\t", ',"'])
def test_no_cell_is_a_formula_where_another_separator_splits_the_row(
    site: Site, engine: FakeEngine, separator: str
) -> None:
    engine.hits = [poisoned(f"a{separator}=1+1")]
    body = site.get("/search.csv?q=x").text
    for part in body.replace('"', "").replace("\t", ";").replace(",", ";").split(";"):
        assert not part.lstrip().startswith("=")


def test_every_hostile_text_stays_in_its_cell(site: Site, engine: FakeEngine) -> None:
    engine.hits = [poisoned(text) for text in PAYLOADS[:100]]
    assert len(rows(site, q="x", size=100)) == 100
