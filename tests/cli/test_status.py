"""Does `periplus status` say what is there?"""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.voyage import sail, typed
from testweb import Page, Site, TestWeb


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    with TestWeb([Site("a.test", {"/": Page(links=["/gone", "http://b.test/"])})]) as web:
        sail(web, home, "http://a.test/")
    return home


def test_the_json_has_exactly_these_keys(home: Path) -> None:
    found = typed("status", "--home", home, "--json").json
    assert list(found) == ["home", "urls", "refused_links", "archive", "segments", "seeds", "last_run"]
    assert list(found["urls"]) == ["known", "queued", "done", "refused", "failed", "fetched", "bytes"]
    assert list(found["archive"]) == ["files", "bytes"]
    assert list(found["segments"]) == ["files", "bytes", "pages", "links", "unsealed_archive_bytes"]
    assert list(found["last_run"]) == ["run_id", "started", "ended", "outcome", "arguments", "summary"]


def test_people_get_a_table(home: Path) -> None:
    outcome = typed("status", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    rows = {line[:13].strip(): line[13:].strip() for line in outcome.out.splitlines()}
    assert rows["collection"] == str(home)
    assert rows["seeds"] == "http://a.test/"
    assert rows["URLs"] == "2 known: 1 done, 0 queued, 0 refused, 1 failed"
    assert rows["pages"].startswith("1 fetched, ")
    assert rows["links refused"] == "1 scope_host"
    assert rows["last run"].startswith("1: done, begun 20")
