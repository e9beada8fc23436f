"""Only documents that are new or changed since the last check are looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from index.live import live_index
from periplus.errors import DamagedFile
from periplus.standing.changed_documents import Changed, CheckedDocuments, Documents, read_documents
from search.library import Doc, index, shelve


def documents(*content: tuple[int, int, int]) -> Documents:
    """Number, page and content of each."""
    numbers, pages, contents = zip(*content, strict=True)
    return Documents(np.array(numbers, np.int64), np.array(pages, np.uint64), np.array(contents, np.uint64))


BEFORE = documents((0, 10, 100), (1, 11, 110))


def test_new_and_changed_documents_are_told_apart(tmp_path: Path) -> None:
    checked = CheckedDocuments(tmp_path)
    checked.save(BEFORE, "first")
    now = documents((1, 11, 110), (2, 10, 101), (3, 12, 120))
    assert checked.changed(now, "first") == Changed([2, 3], {2})
    assert checked.changed(BEFORE, "first") == Changed([], set())


def test_without_the_file_of_a_generation_all_documents_count(tmp_path: Path) -> None:
    checked = CheckedDocuments(tmp_path)
    checked.save(BEFORE, "first")
    assert checked.changed(BEFORE, "second") == Changed([0, 1], set())
    for damage in (b"", b"x" * 200, (tmp_path / "documents-first.npy").read_bytes()[:-5]):
        (tmp_path / "documents-first.npy").write_bytes(damage)
        assert checked.changed(BEFORE, "first") == Changed([0, 1], set())


def test_files_of_other_generations_are_removed(tmp_path: Path) -> None:
    checked = CheckedDocuments(tmp_path)
    for name in ("first", "second"):
        checked.save(BEFORE, name)
    (tmp_path / "queries.db").write_bytes(b"")
    checked.keep_only(["second"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["documents-second.npy", "queries.db"]


def test_a_document_keeps_its_identity_in_a_full_build_and_loses_it_with_its_text(tmp_path: Path) -> None:
    page = Doc("http://a.test/", "Ostia", "the harbour")
    collection = shelve(tmp_path, [page, Doc("http://b.test/", "Road", "a road")])
    index(collection)
    first = read_documents(live_index(collection))
    index(collection, full=True)
    again = read_documents(live_index(collection))
    assert sorted(first.contents) == sorted(again.contents)
    shelve(tmp_path, [Doc(page.url, page.title, "the silted harbour", at=page.at + 9)])
    index(collection)
    changed = read_documents(live_index(collection))
    assert sorted(changed.pages) == sorted(first.pages)
    assert len(set(changed.contents) & set(first.contents)) == 1


def test_a_damaged_list_of_documents_is_named(tmp_path: Path) -> None:
    (tmp_path / "documents.parquet").write_bytes(b"garbage")
    with pytest.raises(DamagedFile, match="is damaged"):
        read_documents(tmp_path)
