"""The overview counts URLs, pages and files of a collection."""

from __future__ import annotations

from pathlib import Path

from crawl.crawling import catalog_of, run_crawl
from periplus.crawl.assignment import Budget
from periplus.inspector.runs import overview
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, mesh


def test_it_adds_up_to_what_was_crawled(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/gone", "/secret", "/end", "http://b.test/", "/c.zip"]), "/end": Page(size=5000)}
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /secret")]) as web:
        figures = run_crawl(web, tmp_path, "http://a.test/").summary
    with catalog_of(tmp_path) as catalog:
        found = overview(open_collection(tmp_path), catalog)
    assert found["home"] == str(tmp_path)
    assert found["urls"] == {
        "known": 4,
        "queued": 0,
        "done": 2,
        "refused": 1,
        "failed": 1,
        "fetched": 2,
        "bytes": figures["bytes"],
    }
    assert found["refused_links"] == {"scope_host": 1, "extension": 1}
    (warc,) = (tmp_path / "archive").iterdir()
    assert found["archive"] == {"files": 1, "bytes": warc.stat().st_size}
    segments = list((tmp_path / "segments").iterdir())
    assert found["segments"] == {
        "files": len(segments),
        "bytes": sum(path.stat().st_size for path in segments),
        "pages": 2,
        "links": 5,
        "unsealed_archive_bytes": 0,
    }
    assert found["seeds"] == ["http://a.test/"]
    assert found["last_run"]["outcome"] == "done"
    assert found["last_run"]["summary"] == figures
    assert found["last_run"]["started"] < found["last_run"]["ended"]


def test_the_last_of_several_runs_is_shown(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 9)]) as web:
        for pages in (2, 3):
            run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=pages))
    with catalog_of(tmp_path) as catalog:
        found = overview(open_collection(tmp_path), catalog)
    assert (found["last_run"]["run_id"], found["last_run"]["outcome"]) == (2, "budget")
    assert (found["urls"]["fetched"], found["last_run"]["summary"]["fetched"]) == (5, 3)
    assert found["urls"]["queued"] == found["urls"]["known"] - 5
