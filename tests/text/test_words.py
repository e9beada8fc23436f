"""A text is split into the words that a reader sees, and both word tables agree about every text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.text import words
from periplus.text.words import LONGEST, plain, split
from periplus.text.words.characters import replacement

COMPILED = pytest.mark.skipif(not words.IS_COMPILED, reason="the word table is not compiled")
TABLES = [
    pytest.param(plain.WordTable, id="plain"),
    pytest.param(words.WordTable, id="compiled", marks=COMPILED),
]
LETTERS = "abcABC 09.é́ßİÆ漢字かなไทยбΣ한\u00ad\n-ﬁ²𝔸𠀀"
TEXTS = st.one_of(st.text(LETTERS, max_size=80), st.text(max_size=20), st.just("x" * (LONGEST + 1)))
FIELDS = st.tuples(*[st.lists(TEXTS, max_size=3)] * 5, st.lists(TEXTS, max_size=1))
DOCUMENTS = st.lists(st.tuples(FIELDS, st.integers(0, 3)), max_size=5)
Table = plain.WordTable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("snake_case os.path x86-64", ["snake", "case", "os", "path", "x86", "64"]),
        ("Crème brûlée STRASSE Straße", ["crème", "brûlée", "strasse", "straße"]),
        ("cafe\u0301 co\u00adoperate", ["cafe", "cooperate"]),
        ("Æsir İstanbul Łódź", ["æsir", "istanbul", "łódź"]),
        ("Москва ΑΘΗΝΑ", ["москва", "αθηνα"]),
        ("हिन्दी தமிழ்", ["हिन्दी", "தமிழ்"]),
        ("漢字かな", ["漢", "字", "か", "な"]),
        ("Python入門2版", ["python", "入", "門", "2", "版"]),
        ("한국어 검색", ["한", "국", "어", "검", "색"]),
        ("ﬁne x² \uff26ull", ["ﬁne", "x²", "\uff46ull"]),
        ("— … 😀 \x00", []),
        ("a" * LONGEST + " " + "b" * (LONGEST + 1) + " c", ["a" * LONGEST, "c"]),
    ],
)
def test_words_are_runs_of_letters_and_digits_in_lower_case(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.slow
def test_every_character_becomes_a_space_letters_or_a_word() -> None:
    for code in range(sys.maxunicode + 1):
        text = replacement(code)
        letters = text.strip(" ")
        assert text in (letters or " ", letters, f" {letters} ")
        assert split(letters) == ([] if not letters else list(letters) if text != letters else [letters])


def document(*body: str, title: Sequence[str] = ()) -> tuple[list[str], ...]:
    return [], list(title), [], [], [], list(body)


def numbers(content: bytes) -> list[int]:
    found: list[int] = np.frombuffer(content, np.uint32).tolist()
    return found


def spelled(table: Table) -> list[str]:
    letters, offsets = table.words()
    ends = np.frombuffer(offsets, np.uint64).tolist()
    return [letters[start:end].decode() for start, end in pairwise(ends)]


@pytest.mark.parametrize("kind", TABLES)
def test_words_are_numbered_by_first_occurrence_and_counted_by_column(kind: type[Table]) -> None:
    table = kind(100)
    found, sizes = table.add(document("One two, one three", title=["Two", "", "one"]), 1, 2, 10)
    assert numbers(found) == [1, 0, 2, 2, 1, 2, 3]
    assert spelled(table) == ["", "two", "one", "three"]
    assert numbers(sizes) == [0, 3, 0, 0, 0, 2, 2, 0, 2, 0, 0, 0, 2, 2]
    counts = np.array(numbers(table.counts())).reshape(-1, plain.COLUMNS)
    assert counts.tolist() == [[0] * 7, [0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("kind", TABLES)
def test_a_word_counts_once_per_document_and_has_the_language_of_most(kind: type[Table]) -> None:
    table = kind(100)
    for text, language in (("gift gift", 0), ("gift", 5), ("gift haus", 5), ("gift", 5)):
        table.add(document(text), language, 100, 100)
    assert numbers(table.documents()) == [0, 4, 1]
    assert list(table.language()) == [0, 5, 5]
    assert np.frombuffer(table.languages(), np.uint64).tolist() == [0, 0b100001, 0b100000]


@pytest.mark.parametrize("kind", TABLES)
def test_a_long_text_is_cut_after_the_given_number_of_words(kind: type[Table]) -> None:
    found, sizes = kind(100).add(document("a b c d e", title=["f g", "h i", "j"]), 0, 1, 3)
    assert len(numbers(found)) == 4 + 3
    assert numbers(sizes)[7:] == [0, 3, 0, 0, 0, 1, 2]


@pytest.mark.parametrize("kind", TABLES)
def test_a_full_table_skips_new_words(kind: type[Table]) -> None:
    table = kind(2)
    assert numbers(table.add(document("a b c a d b"), 0, 10, 10)[0]) == [1, 2, 1, 2]
    assert len(table) == 3


@COMPILED
@settings(max_examples=300, deadline=None)
@given(documents=DOCUMENTS, limit=st.integers(1, 12) | st.just(1000), opening=st.integers(1, 5), most=st.integers(1, 9))
def test_both_tables_agree(
    documents: list[tuple[tuple[list[str], ...], int]], limit: int, opening: int, most: int
) -> None:
    tables: list[Table] = [words.WordTable(limit), plain.WordTable(limit)]  # type: ignore[list-item]
    for fields, language in documents:
        one, other = (table.add(fields, language, opening, most) for table in tables)
        assert one == other
    for name in ("words", "counts", "documents", "languages", "language"):
        assert getattr(tables[0], name)() == getattr(tables[1], name)()


def test_it_is_compiled_where_there_is_a_compiler() -> None:
    assert words.IS_COMPILED or shutil.which("cc") is None


@COMPILED
def test_the_table_grows_with_the_words() -> None:
    table, other = words.WordTable(10**6), plain.WordTable(10**6)
    text = " ".join(f"w{number}" for number in range(150_000))
    assert table.add(document(text), 0, 100, 10**6) == other.add(document(text), 0, 100, 10**6)
    assert table.words() == other.words()
