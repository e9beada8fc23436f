"""The words of partitions, joined, are those that one process finds."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from index.made_index import PAGE
from periplus.errors import DamagedFile
from periplus.index.forward.forward_writer import split_fields
from periplus.index.partitions import majority_vote, words
from periplus.index.partitions.words import MergedTable, PartitionWords, PartitionWordWriter
from periplus.text.words import WordTable

DOCUMENTS = 60
MOST = 3_000
LANGUAGES = ["en", "de", "fr", "ja", "en"]


def rows(seed: int) -> list[dict[str, Any]]:
    """Pages in several languages with words of their own, and words that all languages have."""
    random = Random(seed)
    made = []
    for number in range(DOCUMENTS):
        text = " ".join(f"w{random.randrange(80)}" for _ in range(random.randrange(150)))
        title = f"Page {number} word{number}"
        page = {"text": text, "title": title, "short_title": title, "language": random.choice(LANGUAGES)}
        made.append({**PAGE, "url": f"http://a.test/{number}", **page})
    return made


def write(folder: Path, documents: list[dict[str, Any]], most: int = MOST) -> PartitionWords:
    folder.mkdir()
    writer = PartitionWordWriter(folder, most)
    for row in documents:
        writer.add(row)
    writer.finish()
    writer.close()
    return PartitionWords(folder)


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["compiled", "plain"])
@pytest.mark.parametrize("at_once", [7, 1 << 20])
def test_the_joined_table_is_that_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, at_once: int
) -> None:
    monkeypatch.setattr(majority_vote, "_FEW", few)
    monkeypatch.setattr(words, "_AT_ONCE", at_once)
    table, found = WordTable(1 << 20), b""
    documents = rows(few + at_once)
    for row in documents:
        fields, language = split_fields(row)
        found += table.add(fields, language, 100, MOST)[0]
    ranges = [(0, 20), (20, 21), (21, 21), (21, DOCUMENTS)]
    parts = [write(tmp_path / str(number), documents[slice(*edges)]) for number, edges in enumerate(ranges)]
    merged = MergedTable(parts)
    assert merged.words() == table.words()
    assert merged.counts() == table.counts()
    assert merged.documents() == table.documents()
    assert merged.languages() == table.languages()
    assert merged.language() == table.language()
    joined = [numbers[chunk] for part, numbers in zip(parts, merged.numbers, strict=True) for chunk in part.chunks()]
    assert np.concatenate(joined).tobytes() == found


def test_words_that_take_two_units_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_AT_ONCE", 1_001)
    text = " ".join(f"x{number}" for number in range(60_000))
    part = write(tmp_path / "part", [{**PAGE, "short_title": "", "text": text}], most=100_000)
    found = np.concatenate(list(part.chunks()))
    assert len(found) == part.sizes[:, 0].sum()
    assert int(found.max()) == len(part.words) - 1 > 0xE000


def test_words_that_are_missing_are_noticed(tmp_path: Path) -> None:
    part = write(tmp_path / "part", rows(1))
    path = tmp_path / "part" / "words" / "text.dat"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DamagedFile, match="it lacks 2 words"):
        list(part.chunks())
