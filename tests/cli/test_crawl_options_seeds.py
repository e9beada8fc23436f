"""Seed lists are read from the command line, files, stdin and sitemaps; mistakes are reported with their line."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from periplus.cli.crawl_options import SeedList, read_seeds
from periplus.errors import BadUrl, UsageError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "seeds.txt"


@pytest.mark.parametrize(
    ("content", "urls"),
    [
        ("http://a.test/\nhttps://b.test/x\n", ["http://a.test/", "https://b.test/x"]),
        ("http://a.test", ["http://a.test/"]),
        ("http://a.test/\r\nhttp://b.test/\r\n", ["http://a.test/", "http://b.test/"]),
        ("\ufeffhttp://a.test/\n", ["http://a.test/"]),
        ("# why\n\n  # indented\n   http://a.test/  \n", ["http://a.test/"]),
        ("a.test\thttp://a.test/\thttp://a.test/2\n", ["http://a.test/", "http://a.test/2"]),
        ("a.test\thttp://a.test/\t\t\n#c\nhttp://b.test/\n", ["http://a.test/", "http://b.test/"]),
        ("http://bücher.test/ü", ["http://xn--bcher-kva.test/%C3%BC"]),
        ("http://a.test/#part", ["http://a.test/"]),
    ],
)
def test_urls_are_read_one_a_line_or_behind_their_host(file: Path, content: str, urls: list[str]) -> None:
    file.write_text(content, encoding="utf-8", newline="")
    assert read_seeds(file) == urls


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("http://a.test/\nnot a url\n", 2),
        ("# c\n\nftp://a.test/\n", 3),
        ("a.test\tb\n", 1),
        ("http://\n", 1),
        ("http://a.test/\n\x1b[31m\n", 2),
    ],
)
def test_a_line_that_is_no_url_is_named(file: Path, content: str, line: int) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BadUrl, match=f"line {line} of .*seeds.txt") as raised:
        read_seeds(file)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n", b"a.test\t\n"])
def test_a_file_without_any_url_is_an_error(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError, match="contains no seed URL"):
        read_seeds(file)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00http", bytes(range(256)), b"http://a.test/\n\x80\n"])
def test_a_file_that_is_not_text_is_an_error(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_seeds(file)
    assert "seeds.txt" in str(raised.value)


def test_a_file_that_is_missing_or_a_folder_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            read_seeds(path)


@pytest.mark.parametrize("text", ["http://a.test/\na.test\thttp://a.test/2\n", "\ufeffhttp://a.test/\nhttp://a.test/2"])
def test_a_dash_is_stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read_seeds(Path("-")) == ["http://a.test/", "http://a.test/2"]


@pytest.mark.parametrize(
    ("text", "words"), [("", "stdin contains no seed URL"), ("http://a.test/\nx\n", "line 2 of stdin")]
)
def test_mistakes_on_stdin_are_reported(monkeypatch: pytest.MonkeyPatch, text: str, words: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(UsageError, match=words):
        read_seeds(Path("-"))


# -- sitemaps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "is_sitemap"),
    [
        ("https://a.test/sitemap.xml", True),
        ("https://a.test/x/Sitemap_News-2.xml.gz", True),
        ("https://a.test/sitemap.txt?page=3", True),
        ("https://a.test/news.xml.gz", True),
        ("https://a.test/", False),
        ("https://a.test/feed.xml", False),
        ("https://a.test/sitemap.xml/about", False),
        ("https://a.test/sitemap", False),
        ("https://a.test/?q=/sitemap.xmlx", False),
    ],
)
def test_a_seed_that_is_named_like_a_sitemap_is_taken_for_one(url: str, is_sitemap: bool) -> None:
    start = SeedList()
    start.add([url])
    assert (start.seeds, start.sitemaps) == (([], [url]) if is_sitemap else ([url], []))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_the_pages_of_a_sitemap_in_a_file_are_seeds(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "pages.xml"
    listing = b"<urlset><url><loc>https://a.test/1</loc></url><url><loc>/relative</loc></url></urlset>"
    path.write_bytes(compress(listing))
    start = SeedList()
    start.add_sitemap(str(path))
    assert (start.seeds, start.sitemaps) == (["https://a.test/1"], [])


def test_an_index_in_a_file_leads_to_sitemaps_and_an_address_is_one(tmp_path: Path) -> None:
    path = tmp_path / "index.xml"
    path.write_text("<sitemapindex><sitemap><loc>https://a.test/s.xml</loc></sitemap></sitemapindex>")
    start = SeedList()
    start.add_sitemap(str(path))
    start.add_sitemap("HTTPS://a.test/x")
    assert (start.seeds, start.sitemaps) == ([], ["https://a.test/s.xml", "https://a.test/x"])


@pytest.mark.parametrize(
    ("content", "words"),
    [("<html></html>", "lists nothing: Not a sitemap"), ("", "The sitemap is empty"), (None, "No such")],
)
def test_a_file_that_is_not_a_sitemap_is_an_error(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "s.xml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=words):
        SeedList().add_sitemap(str(path))


def test_an_invalid_sitemap_url_is_an_error() -> None:
    with pytest.raises(BadUrl):
        SeedList().add_sitemap("ftp://a.test/sitemap.xml")
