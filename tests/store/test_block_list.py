"""The block list recognises what it blocks, and names nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import DamagedFile
from periplus.store.block_list import NOTHING_BLOCKED, BlockList, new_block_list, read_block_list, write_block_list
from periplus.url import url_id

URL = "http://a.test/wiki/Rose_(plant),_2;x?b=1"


def blocking(*names: str) -> BlockList:
    blocked = new_block_list()
    for name in names:
        entry = blocked.url_entry(name) if "://" in name else blocked.host_entry(name)
        blocked = blocked.extended(entry)
    return blocked


def test_without_a_file_nothing_is_blocked(tmp_path: Path) -> None:
    assert not read_block_list(tmp_path)
    assert not NOTHING_BLOCKED.blocks(URL)


def test_a_url_is_blocked_and_no_other() -> None:
    blocked = blocking(URL)
    assert blocked.blocks(URL)
    assert blocked.blocks_id(url_id(URL))
    assert not blocked.blocks("http://a.test/")
    assert not blocked.blocks_host("a.test")


def test_a_host_is_blocked_with_all_schemes_and_ports_but_without_its_subdomains() -> None:
    blocked = blocking("a.test")
    assert blocked.blocks("http://a.test/")
    assert blocked.blocks("https://a.test:8443/x?y")
    assert not blocked.blocks("http://www.a.test/")


def test_a_list_is_read_back(tmp_path: Path) -> None:
    blocked = blocking(URL, "b.test")
    write_block_list(tmp_path, blocked)
    found = read_block_list(tmp_path)
    assert (found.key, found.entries) == (blocked.key, blocked.entries)
    write_block_list(tmp_path, found.without(found.url_entry(URL)))
    assert not read_block_list(tmp_path).blocks(URL)
    assert read_block_list(tmp_path).blocks("http://b.test/")


def test_the_file_has_no_names_and_other_collections_have_other_hashes(tmp_path: Path) -> None:
    write_block_list(tmp_path, blocking(URL, "b.test"))
    text = (tmp_path / "forgotten" / "blocked.json").read_text()
    assert "test" not in text
    assert url_id(URL).hex() not in text
    assert blocking(URL).entries != blocking(URL).entries


@pytest.mark.parametrize(
    "change", [lambda text: text[:-9], lambda text: text.replace('"format": 1', '"format": 2'), lambda _: ""]
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: object) -> None:
    write_block_list(tmp_path, blocking(URL))
    path = tmp_path / "forgotten" / "blocked.json"
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(DamagedFile, match="Restore the file from a backup"):
        read_block_list(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (URL, "(forgotten)"),
        (f"moved to {URL}; see there", "moved to (forgotten); see there"),
        (f"({URL}).", "((forgotten))."),
        (f'{{"first": "{URL}", "n": 1}}', '{"first": "(forgotten)", "n": 1}'),
        ("http://a.test/wiki/Rose", "http://a.test/wiki/Rose"),
        ("b.test is not the host of a seed", "(forgotten) is not the host of a seed"),
        ("http://b.test/x and http://b.test", "(forgotten) and (forgotten)"),
        ("http://a.test/?from=b.test", "http://a.test/?from=b.test"),
        ("http://a.test", "http://a.test"),
        ("", ""),
    ],
)
def test_names_in_texts_are_replaced(text: str, expected: str) -> None:
    assert blocking(URL, "b.test", "http://a.test/").scrubbed(text) == expected


@given(st.text())
def test_texts_without_names_stay_as_they_are(text: str) -> None:
    assert blocking("http://never.test/x", "never-mentioned.test").scrubbed(text) == text
