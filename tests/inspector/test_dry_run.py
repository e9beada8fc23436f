"""`crawl --dry-run` says what would be crawled, and touches nothing."""

from __future__ import annotations

from pathlib import Path

from crawl.crawling import run_crawl, settings_for, typed
from periplus.crawl.assignment import Budget
from periplus.inspector.dry_run import dry_run
from testweb import Page, Site, TestWeb, mesh


def test_a_dry_run_of_a_new_crawl_creates_no_folder_and_sends_no_request(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)]) as web:
        outcome = typed("crawl", "http://a.test/", "http://a.test/x.zip", "--dry-run", "--home", tmp_path / "new")
        assert not web.log.entries()
    assert outcome.code == 0
    assert "http://a.test/x.zip refused: extension (.zip is in scope.skip_extensions)" in outcome.out
    assert "Nothing was requested and nothing was written." in outcome.out
    assert not (tmp_path / "new").exists()


def test_a_dry_run_counts_how_much_of_the_queue_a_new_scope_refuses(tmp_path: Path) -> None:
    links = [f"/{folder}/{number}" for folder in ("keep", "drop") for number in range(4)]
    with TestWeb([Site("a.test", {"/": Page(links=links)})]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=1))
        found = dry_run(tmp_path, settings_for(web, scope__paths=["^/keep/"]), [], [])
    assert found["queued"] == 8
    assert found["queue"]["admitted"] == 4
    assert found["queue"]["refused"] == {"scope_path": 4}
    assert sorted(found["queue"]["samples"]["scope_path"]) == [f"http://a.test/drop/{number}" for number in range(4)]


def test_a_dry_run_warns_when_there_is_no_contact(tmp_path: Path) -> None:
    found = typed("crawl", "example.org", "--dry-run", "--home", tmp_path / "new", "--json").json
    assert found["seeds"] == [{"url": "https://example.org/", "admitted": True, "reason": "seed", "detail": ""}]
    assert found["warnings"] == ["identity.contact is not set: only private addresses."]
