"""Most misspelled words of a real collection are corrected, and no right query is touched."""

from __future__ import annotations

import io
import json
import lzma
import random
import tarfile
from pathlib import Path

import pytest

from periplus.index.forward.forward_index import ForwardIndex
from periplus.search.suggest.spelling import Speller
from search.library import Doc, index, shelve
from shared_data import shared

pytestmark = pytest.mark.slow
WORDS = 400


def read(name: str) -> dict[str, str]:
    with lzma.open(shared(f"ir/{name}.tar.xz")) as packed, tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
        return {entry.name: file.read().decode() for entry in archive if (file := archive.extractfile(entry))}


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return read("nfcorpus")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]) -> Path:
    rows = [json.loads(line) for line in files["docs.jsonl"].splitlines()]
    docs = [Doc(f"http://a.test/{place}", row.get("title", ""), row.get("text", "")) for place, row in enumerate(rows)]
    collection = shelve(tmp_path_factory.mktemp("quality") / "home", docs)
    index(collection)
    return collection.index / "gen-000001"


def edited(word: str, rng: random.Random) -> str:
    place, letter = rng.randrange(len(word)), rng.choice("abcdefghijklmnopqrstuvwxyz")
    return rng.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
        ]
    )


def first_share(folder: Path, edits: int) -> float:
    """The share of misspelled words whose first correction is right."""
    lexicon, speller, rng = ForwardIndex(folder).lexicon, Speller.open(folder), random.Random(edits)
    frequent = [lexicon.word(one) for one in lexicon.vocabulary.tolist() if sum(lexicon.counts(one).values()) >= 5]
    words = [word for word in frequent if len(word) >= 5 and word.isascii() and word.isalpha()]
    right = tried = 0
    while tried < WORDS:
        word = typed = rng.choice(words)
        for _ in range(edits):
            typed = edited(typed, rng)
        if lexicon.number(typed) is None:
            tried += 1
            found = speller.corrections([typed])
            right += bool(found) and found[0].text == word
    return right / tried


def test_nine_of_ten_words_with_one_edit_are_corrected(folder: Path) -> None:
    assert first_share(folder, 1) >= 0.9


def test_six_of_ten_words_with_two_edits_are_corrected(folder: Path) -> None:
    assert first_share(folder, 2) >= 0.6


def test_right_queries_are_not_touched(folder: Path, files: dict[str, str]) -> None:
    speller = Speller.open(folder)
    titles = [json.loads(line).get("title", "") for line in files["docs.jsonl"].splitlines()]
    asked = random.Random(1).sample(titles, 500)
    assert [title for title in asked if speller.corrections(title.split()[:12])] == []
