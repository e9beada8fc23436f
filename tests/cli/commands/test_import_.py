"""`periplus import` imports archives and lists unreadable records."""

from __future__ import annotations

from pathlib import Path

from crawl.crawling import typed
from store.warcs import page


def test_it_tells_what_it_took(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(page("one") + page("two", "http://example.org/2"))
    outcome = typed("import", tmp_path / "a.warc", "--home", tmp_path / "home")
    assert outcome.code == 0
    assert [line.split()[:2] for line in outcome.out.splitlines()][:2] == [["files", "1"], ["pages", "2"]]
    again = typed("import", tmp_path / "a.warc", "--home", tmp_path / "home", "--json").json
    assert (again["pages"], again["skipped"]) == (0, {"known": 2})


def test_an_unreadable_file_is_reported_and_the_rest_is_imported(tmp_path: Path) -> None:
    (tmp_path / "good.warc").write_bytes(page("one"))
    (tmp_path / "bad\n.warc").write_bytes(b"no archive at all")
    outcome = typed("import", tmp_path / "bad\n.warc", tmp_path / "good.warc", "--home", tmp_path / "home")
    assert outcome.code == 3
    assert outcome.complaint.endswith(r"bad\n.warc at 0: no record starts here; 1 page imported")
    assert "pages      1 " in outcome.out


def test_without_files_nothing_is_made(tmp_path: Path) -> None:
    outcome = typed("import", "--home", tmp_path / "home")
    assert outcome.code == 2
    assert "FILES" in outcome.complaint
    assert not (tmp_path / "home").exists()
