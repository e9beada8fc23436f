"""`periplus export` writes selected pages to one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import typed
from store.warcs import page


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "a.warc").write_bytes(page("one", "http://a.example/") + page("two", "http://b.example/"))
    assert typed("import", tmp_path / "a.warc", "--home", tmp_path / "home").code == 0
    return tmp_path / "home"


def test_it_tells_what_it_wrote(home: Path, tmp_path: Path) -> None:
    outcome = typed("export", tmp_path / "out.warc.gz", "--home", home, "--host", "a.example")
    assert outcome.code == 0
    assert "pages  1" in outcome.out
    written = typed("export", tmp_path / "all.warc.gz", "--home", home, "--after", "2024-05-17", "--json").json
    assert written["pages"] == 2
    assert written["bytes"] == (tmp_path / "all.warc.gz").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--after", "soon"), "--after 'soon' is not a date"),
        (("--query", "x"), "periplus index"),
    ],
)
def test_invalid_options_are_an_error(home: Path, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = typed("export", tmp_path / "out.warc.gz", "--home", home, *arguments)
    assert outcome.code in {1, 2}
    assert words in outcome.complaint
    assert not (tmp_path / "out.warc.gz").exists()


def test_a_file_that_exists_is_left_alone(home: Path, tmp_path: Path) -> None:
    outcome = typed("export", tmp_path / "a.warc", "--home", home)
    assert outcome.code == 2
    assert "export overwrites no file" in outcome.complaint
