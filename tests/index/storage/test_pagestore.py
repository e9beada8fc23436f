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
from periplus.index.storage.pagestore import Details, Head, PageStore, PageStoreWriter
from periplus.index.storage.records import RecordWriter
from periplus.model import ArchivePosition, Image, Quality, Video

HEAD = Head(
    url="http://a.test/",
    host="a.test",
    title="A page",
    full_title="A page - A site",
    description="About nothing",
    opening="First words",
    mime="text/html",
    language="en",
    fetched_at=1_700_000_000.25,
    kind="article",
    published=1_600_000_000.0,
    modified=1_650_000_000.0,
    same_content=("http://b.test/",),
    headings=("One", "Two"),
)
DETAILS = Details(
    archive=ArchivePosition("w00-000001.warc.gz", 10, 200),
    keywords="sea, ships",
    categories=("Travel",),
    quality=Quality(0.25, 0.1, 0.1, 0.14, 0.15, 0.15, 0.1),
    link_count=40,
    links=("http://a.test/next",),
    images=(Image("http://a.test/lighthouse.png", "A lighthouse"),),
    videos=(Video("http://a.test/waves.mp4", "Waves"),),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MAYBE = st.none() | st.floats(0, 4e9)
HEADS = st.builds(
    Head,
    url=TEXT,
    host=TEXT,
    title=TEXT,
    full_title=TEXT,
    description=TEXT,
    opening=TEXT,
    mime=TEXT,
    language=TEXT,
    fetched_at=st.floats(0, 4e9),
    kind=TEXT,
    published=MAYBE,
    modified=MAYBE,
    same_content=st.lists(TEXT, max_size=3).map(tuple),
    headings=st.lists(TEXT, max_size=3).map(tuple),
)
DETAILED = st.builds(
    Details,
    archive=st.none() | st.builds(ArchivePosition, TEXT, st.integers(0, 1 << 40), st.integers(0, 1 << 30)),
    keywords=TEXT,
    categories=st.lists(TEXT, max_size=3).map(tuple),
    quality=st.none() | st.builds(Quality, *[st.floats(0, 1)] * 7),
    link_count=st.integers(0, 1 << 40),
    links=st.lists(TEXT, max_size=3).map(tuple),
    images=st.lists(st.builds(Image, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    videos=st.lists(st.builds(Video, TEXT, TEXT), max_size=3).map(tuple),
)


Page = tuple[Head, str, Details]


def write(folder: Path, pages: list[Page]) -> None:
    writer = PageStoreWriter(folder)
    for page in pages:
        writer.add(*page)
    writer.finish()
    writer.close()


@settings(max_examples=30)
@given(st.lists(st.tuples(HEADS, TEXT, DETAILED), max_size=5))
def test_every_page_comes_back_as_it_was(pages: list[Page]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), pages)
        assert read_all(Path(folder)) == pages


def test_pages_are_read_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, [(replace(HEAD, title=str(number)), f"text {number} " * number, DETAILS) for number in range(50)])
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
    writer.add(HEAD, "text", DETAILS)
    writer.close()
    with pytest.raises(DamagedFile, match=r"heads\.npy cannot be read"):
        PageStore(tmp_path)


def read_all(folder: Path) -> list[Page]:
    with PageStore(folder) as store:
        return [(store.head(number), store.text(number), store.details(number)) for number in range(len(store))]


FILES = [f"{table}.{suffix}" for table in ("heads", "texts", "details") for suffix in ("dat", "npy")]


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("flipped")])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, way: str) -> None:
    write(tmp_path, [(HEAD, "some text " * 20, DETAILS)] * 3)
    WAYS[way](tmp_path / name)
    with pytest.raises(DamagedFile, match=name.partition(".")[0]) as caught:
        read_all(tmp_path)
    assert "Run `periplus repair`." in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_never_gives_another_page(tmp_path: Path, name: str) -> None:
    pages = [(replace(HEAD, title=str(number)), f"some text {number} " * 20, DETAILS) for number in range(3)]
    write(tmp_path, pages)
    whole = (tmp_path / name).read_bytes()
    for place in range(len(whole)):
        for bit in (1, 16):
            (tmp_path / name).write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            with suppress(DamagedFile):
                assert read_all(tmp_path) == pages, (place, bit)


@pytest.mark.parametrize("name", ["heads", "texts", "details"])
def test_an_offset_of_another_record_is_damage(tmp_path: Path, name: str) -> None:
    details = [replace(DETAILS, keywords=f"{number}") for number in range(3)]
    write(tmp_path, [(replace(HEAD, title=f"{n}"), f"some text {n}", details[n]) for n in range(3)])
    offsets = np.load(tmp_path / f"{name}.npy")
    np.save(tmp_path / f"{name}.npy", offsets[[0, 2, 3, 3]])  # the record of page 2 in the place of page 1
    with PageStore(tmp_path) as store:
        read = {"heads": store.head, "texts": store.text, "details": store.details}[name]
        for number in range(3):
            with pytest.raises(DamagedFile, match=rf"{name}\.dat is damaged: record {number} cannot be read"):
                read(number)


@pytest.mark.parametrize("name", ["heads", "texts", "details"])
@pytest.mark.parametrize("wrong", [[0, 1 << 63, 1 << 62, -1], [5, 3, 2, -1], [-1, -1, -1, -1]])
def test_offsets_outside_the_file_are_damage(tmp_path: Path, name: str, wrong: list[int]) -> None:
    write(tmp_path, [(HEAD, "some text", DETAILS)] * 3)
    end = int(np.load(tmp_path / f"{name}.npy")[-1])
    np.save(tmp_path / f"{name}.npy", np.array([end if offset < 0 else offset for offset in wrong], np.uint64))
    with pytest.raises(DamagedFile, match=rf"{name}\.dat is damaged"):
        read_all(tmp_path)


# -- other releases -------------------------------------------------------------------------------------------------


def rewrite(folder: Path, name: str, row: dict[str, object]) -> None:
    """Replace a table by one of another release, with one record."""
    writer = RecordWriter(folder / name, list(row), None if name == "heads" else 2)
    writer.add(list(row.values()))
    writer.finish()
    writer.close()


def test_an_image_of_an_earlier_release_has_no_context(tmp_path: Path) -> None:
    write(tmp_path, [(HEAD, "text", DETAILS)])
    rewrite(tmp_path, "details", {"images": [["http://a.test/i.png", "words"]]})
    assert read_all(tmp_path)[0][2].images == (Image("http://a.test/i.png", "words", ""),)


def test_a_field_that_this_release_does_not_know_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, [(HEAD, "text", DETAILS)])
    rewrite(tmp_path, "heads", {"mood": "calm", "title": "Later", "colour": [1], "url": "http://later.test/"})
    rewrite(tmp_path, "texts", {"translation": "Wort", "text": "word"})
    rewrite(tmp_path, "details", {"weather": None, "images": [["http://a.test/i.png", "words", "context", 640, 480]]})
    assert read_all(tmp_path) == [
        (
            Head(url="http://later.test/", title="Later"),
            "word",
            Details(images=(Image("http://a.test/i.png", "words", "context"),)),
        )
    ]


def test_a_field_that_a_file_lacks_has_its_default(tmp_path: Path) -> None:
    write(tmp_path, [(HEAD, "text", DETAILS)])
    for name in ("heads", "texts", "details"):
        rewrite(tmp_path, name, {})
    assert read_all(tmp_path) == [(Head(), "", Details())]


def test_a_head_takes_less_room_than_its_words(tmp_path: Path) -> None:
    words = "The lighthouse stands on the northern shore, and ships keep their distance from the shore. " * 6
    writer = PageStoreWriter(tmp_path)
    writer.add(replace(HEAD, opening=words, headings=(words[:90],) * 3), words, DETAILS)
    writer.finish()
    writer.close()
    assert (tmp_path / "heads.dat").stat().st_size < 0.7 * len(words)
    with PageStore(tmp_path) as pages:
        assert pages.head(0).opening == words


def test_heads_of_an_earlier_release_are_read_uncompressed(tmp_path: Path) -> None:
    writer = PageStoreWriter(tmp_path)
    writer.add(HEAD, "text", DETAILS)
    writer.finish()
    writer.close()
    earlier = RecordWriter(tmp_path / "heads", list(HEAD.__dataclass_fields__))
    earlier.add([getattr(HEAD, name) for name in HEAD.__dataclass_fields__])
    earlier.finish()
    earlier.close()
    with PageStore(tmp_path) as pages:
        assert pages.head(0) == HEAD
