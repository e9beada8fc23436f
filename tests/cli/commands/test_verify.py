"""`periplus verify` exits with 0 only for an undamaged collection."""

from __future__ import annotations

from pathlib import Path

from crawl.crawling import run_crawl, typed
from testweb import TestWeb, mesh


def test_an_undamaged_collection_exits_0_and_a_damaged_one_1(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 4)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    sound = typed("verify", "--home", tmp_path)
    assert (sound.code, sound.err) == (0, "")
    assert sound.out.split() == [
        "checked",
        "4",
        "records,",
        "2",
        "segments,",
        "4",
        "pages,",
        "4",
        "urls",
        "result",
        "OK",
    ]
    (tmp_path / "segments" / "links-w00-000001.parquet").unlink()
    damaged = typed("verify", "--home", tmp_path)
    assert damaged.code == 1
    problem = "segments/links-w00-000001.parquet: the file is missing"
    assert damaged.complaint == f"periplus: 1 problem found: {problem}. Run `periplus repair`."
    assert "segments/links-w00-000001.parquet" in damaged.out


def test_the_json_has_exactly_these_keys(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    assert typed("verify", "--home", tmp_path, "--json").json == {
        "ok": True,
        "checked": {"records": 2, "segments": 2, "pages": 2, "urls": 2},
        "problems": [],
        "waiting": [],
    }
