"""The page store returns pages by document number, and names a damaged file."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.damage import WAYS
from periplus.errors import DamagedFile
from periplus.index.pagestore import Head, PageStore, PageStoreWriter
from periplus.model import ArchivePosition

HEAD = Head(
    url="http://a.test/",
    host="a.test",
    title="A page",
    description="About nothing",
    opening="First words",
    mime="text/html",
    language="en",
    fetched_at=1_700_000_000.25,
    headings=("One", "Two"),
    archive=ArchivePosition("w00-000001.warc.gz", 10, 200),
    same_content=("http://b.test/",),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
HEADS = st.builds(
    Head,
    url=TEXT,
    host=TEXT,
    title=TEXT,
    description=TEXT,
    opening=TEXT,
    mime=TEXT,
    language=TEXT,
    fetched_at=st.floats(0, 4e9),
    headings=st.lists(TEXT, max_size=3).map(tuple),
    archive=st.none() | st.builds(ArchivePosition, TEXT, st.integers(0, 1 << 40), st.integers(0, 1 << 30)),
    same_content=st.lists(TEXT, max_size=3).map(tuple),
)


def write(folder: Path, pages: list[tuple[Head, str]]) -> None:
    writer = PageStoreWriter(folder)
    for head, text in pages:
        writer.add(head, text)
    writer.finish()
    writer.close()


@settings(max_examples=30)
@given(st.lists(st.tuples(HEADS, TEXT), max_size=5))
def test_every_page_comes_back_as_it_was(pages: list[tuple[Head, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), pages)
        with PageStore(Path(folder)) as store:
            assert len(store) == len(pages)
            assert [(store.head(number), store.text(number)) for number in range(len(pages))] == pages


def test_pages_are_read_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, [(replace(HEAD, title=str(number)), f"text {number} " * number) for number in range(50)])
    with PageStore(tmp_path) as store:
        for number in (49, 0, 25, 1, 49):
            assert store.head(number).title == str(number)
            assert store.text(number) == f"text {number} " * number


def test_an_empty_store_is_a_store(tmp_path: Path) -> None:
    write(tmp_path, [])
    with PageStore(tmp_path) as store:
        assert len(store) == 0


def test_a_writer_that_was_not_finished_leaves_nothing_to_read(tmp_path: Path) -> None:
    writer = PageStoreWriter(tmp_path)
    writer.add(HEAD, "text")
    writer.close()
    with pytest.raises(DamagedFile, match=r"heads\.npy cannot be read"):
        PageStore(tmp_path)


def read_all(folder: Path) -> list[tuple[Head, str]]:
    with PageStore(folder) as store:
        return [(store.head(number), store.text(number)) for number in range(len(store))]


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("flipped")])
@pytest.mark.parametrize("name", ["heads.dat", "heads.npy", "texts.dat", "texts.npy"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, way: str) -> None:
    write(tmp_path, [(HEAD, "some text " * 20)] * 3)
    WAYS[way](tmp_path / name)
    with pytest.raises(DamagedFile, match=name.partition(".")[0]) as caught:
        read_all(tmp_path)
    assert "Run `periplus repair`." in str(caught.value)


@pytest.mark.parametrize("name", ["heads.dat", "heads.npy", "texts.dat", "texts.npy"])
def test_a_flipped_bit_never_gives_another_page(tmp_path: Path, name: str) -> None:
    pages = [(replace(HEAD, title=str(number)), f"some text {number} " * 20) for number in range(3)]
    write(tmp_path, pages)
    whole = (tmp_path / name).read_bytes()
    for place in range(len(whole)):
        for bit in (1, 16):
            (tmp_path / name).write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            with suppress(DamagedFile):
                assert read_all(tmp_path) == pages, (place, bit)


@pytest.mark.parametrize("name", ["heads", "texts"])
def test_an_offset_of_another_record_is_damage(tmp_path: Path, name: str) -> None:
    write(tmp_path, [(replace(HEAD, title=f"{number}"), f"some text {number}") for number in range(3)])
    offsets = np.load(tmp_path / f"{name}.npy")
    np.save(tmp_path / f"{name}.npy", offsets[[1, 2, 2, 3]])  # the record of page 1 in the place of page 0
    with PageStore(tmp_path) as store:
        read = store.head if name == "heads" else store.text
        for number in (0, 1):
            with pytest.raises(DamagedFile, match=rf"{name}\.dat is damaged: record {number} cannot be read"):
                read(number)
        read(2)


@pytest.mark.parametrize("name", ["heads", "texts"])
@pytest.mark.parametrize("wrong", [[0, 1 << 63, 1 << 62, -1], [5, 3, 2, -1], [-1, -1, -1, -1]])
def test_offsets_outside_the_file_are_damage(tmp_path: Path, name: str, wrong: list[int]) -> None:
    write(tmp_path, [(HEAD, "some text")] * 3)
    end = int(np.load(tmp_path / f"{name}.npy")[-1])
    np.save(tmp_path / f"{name}.npy", np.array([end if offset < 0 else offset for offset in wrong], np.uint64))
    with pytest.raises(DamagedFile, match=rf"{name}\.dat is damaged"):
        read_all(tmp_path)
