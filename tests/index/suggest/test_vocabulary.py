"""Words with similar letters are found among all words of a collection."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from index.made_index import BARE, write_forward
from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.suggest.vocabulary import FOLDER, LONGEST, Vocabulary, is_stored, write_vocabulary

WORDS = ["harbour", "harbours", "labour", "tables", "labels", "straße", "über", "слоев", "слоёв", "abc", "x" * LONGEST]

DEEP = "of " * 200  # words that stand in a text after its opening


@pytest.fixture
def index(tmp_path: Path) -> ForwardIndex:
    rows = [
        BARE | {"title": " ".join(WORDS) + " 2024 日本 a1b2", "text": ""},
        BARE | {"text": DEEP + "seldom twice"},
        BARE | {"text": DEEP + "twice"},
    ]
    found = write_forward(tmp_path, rows)
    write_vocabulary(tmp_path)
    return found


def near(index: ForwardIndex, folder: Path, word: str) -> set[str]:
    found = Vocabulary(folder, len(index.lexicon)).near(word)
    spelled = {index.lexicon.word(number) for number in found.numbers.tolist()}
    rows = {"".join(map(chr, row[:length])) for row, length in zip(found.letters, found.lengths, strict=True)}
    assert len(rows) <= len(spelled)  # words that differ in accents only have the same letters
    return spelled


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("harbor", "harbour"),
        ("arhbour", "harbour"),
        ("hxrbyur", "harbour"),
        ("tabels", "tables"),
        ("tabels", "labels"),
        ("strase", "straße"),
        ("uber", "über"),
        ("слоев", "слоёв"),
        ("abcd", "abc"),
        ("x" * (LONGEST - 2), "x" * LONGEST),
    ],
)
def test_a_word_within_two_edits_is_found(index: ForwardIndex, tmp_path: Path, typed: str, word: str) -> None:
    assert word in near(index, tmp_path, typed)


def test_words_with_other_letters_or_another_length_are_not_compared(index: ForwardIndex, tmp_path: Path) -> None:
    assert not {"harbours", "labour", "über", "abc"} & near(index, tmp_path, "tables")
    assert near(index, tmp_path, "zzzzz") == set()


def test_every_word_within_two_edits_is_found_in_a_large_vocabulary(tmp_path: Path) -> None:
    rng = random.Random(5)
    words = sorted({"".join(rng.choices("abcdef", k=rng.randint(4, 9))) for _ in range(1000)})
    index = write_forward(tmp_path, [BARE | {"title": " ".join(words)}])
    write_vocabulary(tmp_path)
    for word in rng.sample(words, 30):
        place = rng.randrange(len(word) - 1)
        typed = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        assert word in near(index, tmp_path, typed)
        assert word in near(index, tmp_path, word[1:] + "q")


def test_numbers_and_scripts_without_spaces_are_not_stored(index: ForwardIndex, tmp_path: Path) -> None:
    assert len(Vocabulary(tmp_path, len(index.lexicon))) == len(WORDS) + 1  # "twice"
    assert not any(map(is_stored, ["2024", "日本語", "a1b2", "ab", "x" * (LONGEST + 1), "", "\U0001d4b6" * 4]))


def test_a_word_deep_in_a_text_is_stored_when_several_pages_have_it(index: ForwardIndex, tmp_path: Path) -> None:
    assert near(index, tmp_path, "twicee") == {"twice"}
    assert near(index, tmp_path, "seldon") == set()


def test_a_generation_of_an_earlier_release_has_no_vocabulary(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [BARE | {"title": "harbour"}])
    assert near(index, tmp_path, "harbour") == set()


def test_a_vocabulary_of_another_lexicon_is_damaged(index: ForwardIndex, tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"numbers\.npy is damaged"):
        Vocabulary(tmp_path, 3)
    np.save(tmp_path / FOLDER / "letters.npy", np.zeros(3, np.uint16))
    with pytest.raises(DamagedFile, match=r"letters\.npy is damaged"):
        Vocabulary(tmp_path, len(index.lexicon))


def test_an_empty_collection_has_an_empty_vocabulary(tmp_path: Path) -> None:
    index = write_forward(tmp_path, [])
    write_vocabulary(tmp_path)
    assert near(index, tmp_path, "harbour") == set()
