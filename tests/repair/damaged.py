"""A collection with every kind of file, and what must survive any damage to it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from crawl.crawling import reach, run_crawl, segment_rows, typed
from periplus.store.archive.archive_scan import Intact, scan
from testweb import Page, Site, TestWeb, hostile, mesh

SEEDS = ("http://a.test/", "http://b.test/")


def sites() -> list[Site]:
    """Pages, a redirect, an error, a page that fails once, a sitemap, and links that stay unvisited."""
    listing = "<urlset><url><loc>http://a.test/listed</loc></url></urlset>"
    pages = {
        "/": Page("Home", links=["/gone", "/moved", "/late", "/sitemap.xml", "http://elsewhere.test/"]),
        "/gone": Page(status=404),
        "/moved": Page(redirect="/end"),
        "/end": Page("End", links=["/deep"]),
        "/deep": Page("Deep"),
        "/late": Page(handler=hostile.in_turn(Page(status=500, body="not now"), Page("Late"))),
        "/sitemap.xml": Page(body=listing, content_type="application/xml"),
        "/listed": Page("Listed", links=["/copy"]),
        "/copy": Page("Listed", links=["/copy"]),
    }
    return [Site("a.test", pages), mesh("b.test", 30)]


def build(web: TestWeb, home: Path) -> None:
    """Crawl, rank and index, with several archive files and segments."""
    for seed in SEEDS:
        run_crawl(web, home, seed, store__archive_bytes=10_000, store__commit_pages=4)
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    assert len(list((home / "archive").iterdir())) >= 3
    assert len(list((home / "segments").iterdir())) >= 4


Version = tuple[str, str, int]  # URL, archive file and offset


def versions(home: Path) -> set[Version]:
    """The page versions in the segments."""
    return {(row["url"], row["archive"], row["offset"]) for row in segment_rows(home, "pages")}


def urls(home: Path) -> set[str]:
    """The URLs of the pages in the segments."""
    return {url for url, _, _ in versions(home)}


def archived(home: Path) -> set[Version]:
    """The page versions whose archive records are intact."""
    records = [
        part.record
        for path in sorted((home / "archive").glob("*.warc.gz"))
        for part in scan(path)
        if isinstance(part, Intact) and part.record is not None
    ]
    return {
        (record.response.url, record.position.name, record.position.offset)
        for record in records
        if record.response.status == 200 and not record.revisits and not record.response.url.endswith(".xml")
    }


def sql(home: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    database = sqlite3.connect(home / "crawl.db")
    try:
        with database:
            return database.execute(statement, values).fetchall()
    finally:
        database.close()


def frontier(home: Path) -> dict[str, tuple[object, ...]]:
    """Every known URL with its state and depth."""
    return {str(url): tuple(rest) for url, *rest in sql(home, "SELECT url, state, depth FROM urls")}


def crawl_again(web: TestWeb, home: Path) -> None:
    assert typed("crawl", *SEEDS, "--home", home, *reach(web)).code == 0
