"""Judged queries are read in both forms, and mistakes in the files are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.errors import UsageError
from periplus.evaluation.judgements import DEV, TRAIN, Judgements, address_key, read_judgements
from periplus.evaluation.metrics import Scale


def judged(folder: Path, queries: str, qrels: str | None = None) -> Judgements:
    path, other = folder / "queries.tsv", folder / "qrels.txt"
    path.write_text(queries, encoding="utf-8")
    if qrels is not None:
        other.write_text(qrels, encoding="utf-8")
    return read_judgements(path, other if qrels is not None else None, str)


def test_the_files_of_trec_are_read(tmp_path: Path) -> None:
    found = judged(tmp_path, "1\tdeep water\n2\treef\n", "1 0 a 1\n1 0 b 0\n2\t0\tc\t1\n3 0 d 1\n")
    assert [(query.id, query.text, dict(query.grades)) for query in found.queries] == [
        ("1", "deep water", {"a": 1, "b": 0}),
        ("2", "reef", {"c": 1}),
    ]
    assert found.scale == Scale(1, exponential=False)


def test_answers_may_be_in_a_third_column_with_or_without_a_grade(tmp_path: Path) -> None:
    found = judged(tmp_path, "# a comment\nnav1\tdeep water\thttp://a.test/ http://a.test/b=1\n\n")
    (query,) = found.queries
    assert query.grades == {"http://a.test/": 3, "http://a.test/b": 1}
    assert found.scale == Scale(2, exponential=True)


def test_queries_without_an_answer_do_not_count(tmp_path: Path) -> None:
    found = judged(tmp_path, "1\tdeep\n2\treef\n3\twater\n", "1 0 a 1\n1 0 b -2\n2 0 a 0\n2 0 b -1\n")
    assert [(query.id, dict(query.grades)) for query in found.queries] == [("1", {"a": 1, "b": 0})]


def test_grade_1_is_right_as_soon_as_one_query_has_nothing_better(tmp_path: Path) -> None:
    assert judged(tmp_path, "1\tdeep\n2\treef\n", "1 0 a 3\n2 0 a 2\n").scale.least_right == 2
    assert judged(tmp_path, "1\tdeep\n2\treef\n", "1 0 a 3\n2 0 a 1\n").scale.least_right == 1


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        ("1\tdeep\n2 no tab\n", "1 0 a 1\n", "line 2 of .* is not `id<TAB>text`"),
        ("1\tdeep\n", "1 0 a\n", "line 1 of .* is not `query 0 document grade`"),
        ("1\tdeep\n", "1 0 a much\n", "line 1 of .* is not `query 0 document grade`"),
        ("1\tdeep\n", None, "third column"),
        ("1\tdeep\n1\treef\n", "1 0 a 1\n", "several queries with the id '1'"),
        ("1\tdeep\n", "2 0 a 1\n", "no query in .* has an answer"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, queries: str, qrels: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judged(tmp_path, queries, qrels)


def test_a_file_that_is_missing_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_judgements(tmp_path / "none", None, str)
    (tmp_path / "bytes").write_bytes(b"1\t\xff\xfe\thttp://a.test/\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_judgements(tmp_path / "bytes", None, str)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/b/",
        "https://A.test/b",
        "http://a.test:8080/b/index.html",
        "http://a.test/b.html?x=1#y",
        "http://a.test/%62/",
    ],
)
def test_addresses_of_the_same_page_are_equal(url: str) -> None:
    assert address_key(url) == "a.test/b"


def test_addresses_of_other_pages_differ() -> None:
    keys = [address_key(url) for url in ("http://a.test/", "http://b.test/", "http://a.test/b", "http://a.test/B")]
    assert len(set(keys)) == len(keys)


def test_classes_and_languages_come_from_the_ids(tmp_path: Path) -> None:
    ids = [f"nav{number}" for number in range(6)] + [f"inf{number}de" for number in range(5)] + ["amb1", "17"]
    found = judged(tmp_path, "".join(f"{name}\twords\thttp://a.test/\n" for name in ids))
    assert {name: len(members) for name, members in found.groups().items()} == {"inf": 5, "nav": 6, "de": 5}


def test_a_single_class_is_not_worth_a_row(tmp_path: Path) -> None:
    found = judged(tmp_path, "".join(f"PLAIN-{number}\twords\thttp://a.test/\n" for number in range(9)))
    assert found.groups() == {}


def test_every_query_belongs_to_one_half_and_stays_there(tmp_path: Path) -> None:
    found = judged(tmp_path, "".join(f"nav{number:03}\twords\thttp://a.test/\n" for number in range(100)))
    train, dev = found.split(TRAIN).queries, found.split(DEV).queries
    assert len(train) + len(dev) == 100
    assert 30 < len(train) < 70
    assert [query.id for query in dev[:3]] == ["nav000", "nav005", "nav006"]
