"""Tantivy indexes that were written apart can be joined by their files. Notices when tantivy changes its format."""

from __future__ import annotations

from pathlib import Path

import pytest
from tantivy import Document, Index, Query, Schema, SchemaBuilder

from periplus.errors import DamagedFile
from periplus.index.partitions.graft import graft

WORDS = ["anchor", "harbour", "light", "compass", "tide"]


def schema(name: str = "text") -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field(name)
    builder.add_integer_field("number", indexed=True, fast=True)
    return builder.build()


def write(folder: Path, numbers: range) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    writer = Index(schema(), path=str(folder)).writer(16 << 20, 1)
    for number in numbers:
        text = " ".join(WORDS[: number % 5 + 1] * (number % 3 + 1))
        writer.add_document(Document(text=text, number=number))
    writer.commit()
    writer.wait_merging_threads()
    return folder


def found(folder: Path, word: str) -> list[tuple[int, float]]:
    """Number and score of the documents with a word."""
    index = Index.open(str(folder))
    searcher = index.searcher()
    hits = searcher.search(Query.term_query(index.schema, "text", word), 100).hits
    numbers = searcher.fast_field_values("number", [address for _, address in hits])
    return sorted((number, round(score, 5)) for number, (score, _) in zip(numbers, hits, strict=True))  # type: ignore[misc]


def test_a_joined_index_gives_the_documents_and_scores_of_one_index(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole", range(30))
    graft([write(tmp_path / name, numbers) for name, numbers in _parts().items()], tmp_path / "joined")
    for word in WORDS:
        assert found(tmp_path / "joined", word) == found(whole, word)


def test_an_index_with_documents_gets_more(tmp_path: Path) -> None:
    target = write(tmp_path / "target", range(10))
    graft([write(tmp_path / "other", range(10, 20))], target)
    assert [number for number, _ in found(target, "anchor")] == list(range(20))


def test_a_joined_index_is_changed_and_merged_like_any_other(tmp_path: Path) -> None:
    parts = [write(tmp_path / str(number), range(number, number + 1)) for number in range(12)]
    target = tmp_path / "joined"
    graft(parts, target)
    assert len(list(target.glob("*.term"))) == 12
    writer = Index.open(str(target)).writer(16 << 20, 1)
    writer.delete_documents_by_term("number", 3)
    writer.commit()
    writer.wait_merging_threads()
    assert [number for number, _ in found(target, "anchor")] == [number for number in range(12) if number != 3]
    assert len(list(target.glob("*.term"))) < 12, "segments of the same size are merged, and their files removed"
    assert len(list((tmp_path / "0").glob("*.term"))) == 1, "the files of a partition stay"


def test_an_index_with_other_fields_is_refused(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", range(3)), tmp_path / "other"
    other.mkdir()
    Index(schema("title"), path=str(other)).writer(16 << 20, 1).commit()
    with pytest.raises(DamagedFile, match="its fields are not those of the first partition"):
        graft([one, other], tmp_path / "joined")


def test_a_damaged_list_of_segments_is_named(tmp_path: Path) -> None:
    one = write(tmp_path / "one", range(3))
    (one / "meta.json").write_text("{}")
    with pytest.raises(DamagedFile, match=r"one/meta\.json is damaged"):
        graft([one], tmp_path / "joined")


def _parts() -> dict[str, range]:
    return {"a": range(7), "b": range(7, 8), "c": range(8, 30)}
