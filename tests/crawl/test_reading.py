"""Does a page become the same row, whether it is read from the web or from the archive?"""

from __future__ import annotations

from periplus.crawl.reading import PageReader
from periplus.model import Decision, Fetch, Link, Page, Reason, Response, Verdict
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer, url_id

HTML = b"<title>Port</title><p>Ships <a href='/quay'>quay</a> <a href='http://b.test/x'>x</a> <a href='/quay#2'>q</a>"


def page_at(url: str) -> tuple[Response, Fetch]:
    headers = {"content-type": "text/html"}
    fetch = Fetch(url, 1.0, 200, Decision(Verdict.FETCHED, Reason.OK), "text/html", len(HTML))
    return Response(url, 1.0, 200, headers=headers, body=HTML), fetch


def test_a_row_names_the_page_its_host_and_the_end_of_every_link() -> None:
    reader = PageReader(PageParser(Canonicalizer(), links_per_page=100))
    response, fetch = page_at("http://a.test:8080/")
    page = reader.parse(response)
    row = reader.row(fetch, page)
    assert (row.url_id, row.host, page.title) == (url_id("http://a.test:8080/"), "a.test", "Port")
    assert [(target.url_id, target.host) for target in row.targets] == [
        (url_id("http://a.test:8080/quay"), "a.test"),
        (url_id("http://b.test/x"), "b.test"),
    ]


def test_reading_twice_gives_the_same_row() -> None:
    reader = PageReader(PageParser(Canonicalizer(), links_per_page=100))
    response, fetch = page_at("http://a.test/")
    first = reader.row(fetch, reader.parse(response))
    assert reader.row(fetch, reader.parse(response)) == first


def test_what_it_remembers_of_link_targets_is_bounded() -> None:
    reader = PageReader(PageParser(Canonicalizer(), links_per_page=100))
    _, fetch = page_at("http://a.test/")
    for page in range(120):
        links = [Link(f"http://a.test/{page}/{number}", "", False) for number in range(1000)]
        assert len(reader.row(fetch, Page(links=tuple(links))).targets) == 1000
    assert len(reader._targets) <= 51_000
