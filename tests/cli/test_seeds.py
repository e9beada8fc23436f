"""Is every way to write a list of seeds understood, and every mistake in one named?"""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.cli.seeds import read_seeds
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
        ("a.test\tb.test\n", 1),
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
def test_a_file_without_any_url_is_told(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError, match="names no URL"):
        read_seeds(file)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00http", bytes(range(256)), b"http://a.test/\n\x80\n"])
def test_a_file_that_is_no_text_is_told(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_seeds(file)
    assert "seeds.txt" in str(raised.value)


def test_a_file_that_is_missing_or_a_folder_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            read_seeds(path)
