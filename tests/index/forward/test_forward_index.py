"""The forward index has every word of every page, in order, as if the texts were split again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.damage import WAYS
from index.made_index import PAGE, write_forward
from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import (
    FIELDS,
    FIRST_WIDE,
    FOLDER,
    MOST_WORDS,
    OPENING_WORDS,
    ForwardIndex,
    WordCodes,
    decoded,
    encoded,
)
from periplus.text.analyzer import url_parts
from periplus.text.words import split

TEXTS = st.text("abC é漢.1\n", max_size=30)
# fmt: off
ROWS = st.lists(
    st.fixed_dictionaries({
        "title": TEXTS, "headings": st.lists(TEXTS, max_size=3), "anchors": st.lists(TEXTS, max_size=3),
        "description": TEXTS | st.none(), "text": TEXTS | TEXTS.map(lambda text: text * 30),
        "language": st.sampled_from(["en", "de", ""]),
    }),
    max_size=6,
)
# fmt: on


def spelled(index: ForwardIndex, number: int, field: str) -> list[str]:
    return [index.lexicon.word(word) for word in index.words(number, field).tolist()]


def values(row: dict[str, Any], field: str) -> list[str]:
    row = {**PAGE, **row}
    several = {"url": url_parts(row["url"]), "headings": [*row["headings"], *row["categories"], row["keywords"]]}
    return several.get(field) or (row[field] if field == "anchors" else [row[field] or ""])


def brute_force(row: dict[str, Any], field: str, body_words: int) -> list[str]:
    """The words of a field, with an empty word between two values."""
    if field in ("opening", "body"):
        body = split({**PAGE, **row}["text"])[:body_words]
        return body if field == "body" else brute_force(row, "description", body_words) + body[:OPENING_WORDS]
    found: list[str] = []
    for value in values(row, field):
        if words := split(value):
            found += ([""] if found else []) + words
    return found


def test_a_page_has_its_words_by_field_in_order(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [PAGE])
    assert spelled(index, 0, "title") == ["merging"]
    assert spelled(index, 0, "headings") == ["merge", "commits", "", "see", "also"]
    assert spelled(index, 0, "url") == ["example", "org", "", "docs", "", "merge", "commits"]
    assert spelled(index, 0, "opening")[:6] == ["how", "branches", "are", "merged", "a", "commit"]
    assert spelled(index, 0, "body") == ["a", "commit", "merges", "two", "branches", "commits", "are", "cheap"]


@pytest.mark.parametrize(
    ("title", "short", "words"),
    [
        ("Merging - Git", "Merging", ["merging", "", "git"]),
        ("Git: merging", "merging", ["merging", "", "git"]),
        ("Git | Merging | 2.0", "Merging", ["merging", "", "git", "", "2", "0"]),
        ("Merging", "Merging", ["merging"]),
        ("", "", []),
    ],
)
def test_the_name_of_the_site_follows_the_title(tmp_path: Path, title: str, short: str, words: list[str]) -> None:
    index = write_forward(tmp_path, [{"title": title, "short_title": short}])
    assert spelled(index, 0, "title") == words


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, body_words=st.sampled_from([OPENING_WORDS, OPENING_WORDS + 7, 3000]))
def test_the_forward_index_equals_the_texts(rows: list[dict[str, Any]], body_words: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = write_forward(Path(folder), rows, body_words)
        assert len(index) == len(rows)
        for field in FIELDS:
            expected = [brute_force(row, field, body_words) for row in rows]
            assert [spelled(index, number, field) for number in range(len(rows))] == expected
            lengths = [sum(map(bool, words)) for words in expected]
            assert index.lengths(np.arange(len(rows)), field).tolist() == lengths
            with_words = [length for length in lengths if length]
            assert index.mean_length(field) == pytest.approx(np.mean(with_words) if with_words else 1.0)
            check_rows(index, field, expected)


def check_rows(index: ForwardIndex, field: str, expected: list[list[str]]) -> None:
    backwards = np.arange(len(expected))[::-1]
    words, starts = index.read(backwards, field)
    for place, number in enumerate(backwards.tolist()):
        row = words[starts[place] : starts[place + 1]].tolist()
        assert [index.lexicon.word(word) for word in row] == expected[number]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, MOST_WORDS) | st.integers(FIRST_WIDE - 2, FIRST_WIDE + 2), max_size=30))
def test_every_number_of_a_word_is_read_back(numbers: list[int]) -> None:
    units, wide = encoded(np.array(numbers, np.uint32))
    assert wide.tolist() == [number >= FIRST_WIDE for number in numbers]
    assert decoded(units, Path("text.npy"))[0].tolist() == numbers


def test_rare_words_of_a_large_lexicon_are_read_back(tmp_path: Path) -> None:
    rare = [f"w{number}" for number in range(FIRST_WIDE + 100)]
    rows = [{"text": " ".join(rare[start : start + 2000])} for start in range(0, len(rare), 2000)]
    index = write_forward(tmp_path, [*rows, {"text": "common " * 50 + f"{rare[-1]} common {rare[-2]}"}])
    assert spelled(index, len(rows), "body")[49:] == ["common", rare[-1], "common", rare[-2]]
    for number, row in enumerate(rows):
        assert spelled(index, number, "body") == row["text"].split()
    words, starts = index.read(np.arange(len(rows)), "body")
    assert len(words) == starts[-1] == len(rare)


def test_several_fields_in_one_pass_are_those_read_one_by_one(tmp_path: Path) -> None:
    rare = [f"w{number}" for number in range(FIRST_WIDE + 100)]
    rows = [{"text": " ".join(rare[start : start + 2000])} for start in range(0, len(rare), 2000)]
    more = {"title": f"{rare[-1]} title", "headings": ["one", rare[-2]], "anchors": [f"{rare[-3]} {rare[-4]}"]}
    index = write_forward(tmp_path, [*rows, more, {"title": "a short one"}])
    numbers = np.array([len(rows) + 1, 0, len(rows)])
    for field, (words, starts) in index.read_each(numbers, ("url", "title", "headings", "anchors")).items():
        expected = index.read(numbers, field)
        assert words.tolist() == expected.words.tolist()
        assert starts.tolist() == expected.starts.tolist()


@settings(max_examples=50, deadline=None)
@given(chosen=st.lists(st.integers(0, FIRST_WIDE + 99), min_size=1, max_size=5, unique=True))
def test_words_are_found_where_they_are_read(large: ForwardIndex, chosen: list[int]) -> None:
    numbers = np.array([large.lexicon.number(f"w{word}") for word in chosen], np.uint32)
    codes = WordCodes(len(large.lexicon))
    for code, number in enumerate(numbers, 1):
        codes.add(np.array([number]), code)
    documents = np.arange(len(large))[::-1]
    found, rows = large.find(documents, "body", codes), large.read(documents, "body")
    expected = np.flatnonzero(np.isin(rows.words, numbers))
    assert found.at.tolist() == expected.tolist()
    assert [numbers[code - 1] for code in found.codes] == rows.words[expected].tolist()
    assert found.starts.tolist() == rows.starts.tolist()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> ForwardIndex:
    """More words than have short numbers, each on two pages."""
    words = [f"w{number}" for number in range(FIRST_WIDE + 100)]
    rows = [{"text": " ".join(words[start : start + 2000])} for start in range(0, len(words), 2000)]
    return write_forward(tmp_path_factory.mktemp("large"), [*rows, *rows])


def test_frequent_words_have_small_numbers(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [{"text": "rare " + "common " * 20, "url": "http://x/"}])
    assert index.lexicon.number("common") == 1


def test_a_long_page_is_cut_and_a_later_page_is_not_shifted(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [{"text": "one " * 500}, {"text": "two"}], body_words=200)
    assert index.lengths(np.array([0, 1]), "body").tolist() == [200, 1]
    assert spelled(index, 1, "body") == ["two"]


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    write_forward(tmp_path, [PAGE])
    assert not list(tmp_path.rglob("*.tmp"))


def test_an_empty_collection_has_an_empty_forward_index(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [])
    assert (len(index), index.lexicon.number("word"), index.mean_length("body")) == (0, None, 1.0)
    assert index.ids_of("word", "en").tolist() == []


def test_the_frequency_of_several_words_is_between_the_highest_and_the_sum(tmp_path: Path) -> None:
    rows = [{"text": text} for text in ("alpha", "alpha beta", "beta", "gamma")]
    index = write_forward(tmp_path, rows)
    alpha, beta = index.lexicon.number("alpha"), index.lexicon.number("beta")
    assert index.df(np.array([alpha], np.uint32)) == pytest.approx(2)
    assert index.df(np.array([alpha, beta], np.uint32)) == pytest.approx(3)
    assert index.df(np.array([], np.uint32)) == 0


@pytest.mark.parametrize("way", ["deleted", "emptied", "zeroed", "cut in half"])
@pytest.mark.parametrize("name", ["text", "columns", "lengths", "words", "words_offsets", "sorted", "stems"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, way: str) -> None:
    write_forward(tmp_path, [PAGE] * 20)
    WAYS[way](tmp_path / FOLDER / f"{name}.npy")
    with pytest.raises(DamagedFile, match=name):
        ForwardIndex(tmp_path)


@pytest.mark.parametrize("name", ["text", "columns", "lengths", "words", "sorted", "counts", "stems", "stem_words"])
def test_a_file_of_another_index_is_damage(tmp_path: Path, name: str) -> None:
    write_forward(tmp_path, [PAGE] * 20)
    path = tmp_path / FOLDER / f"{name}.npy"
    np.save(path, np.load(path)[:-1])
    with pytest.raises(DamagedFile, match=name):
        ForwardIndex(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": 99}', b'{"format": 1}'])
def test_damaged_facts_are_named(tmp_path: Path, content: bytes) -> None:
    write_forward(tmp_path, [PAGE])
    (tmp_path / FOLDER / "forward.json").write_bytes(content)
    with pytest.raises(DamagedFile, match=r"forward\.json"):
        ForwardIndex(tmp_path)


def test_half_of_a_number_is_damage(tmp_path: Path) -> None:
    write_forward(tmp_path, [PAGE])
    path = tmp_path / FOLDER / "text.npy"
    content = np.load(path)
    content[-1] = FIRST_WIDE + 5
    np.save(path, content)
    with pytest.raises(DamagedFile, match="half of a number"):
        ForwardIndex(tmp_path).words(0, "body")
