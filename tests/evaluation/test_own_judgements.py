"""The owner's judgements are kept in files that `periplus eval` reads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from periplus.errors import UsageError
from periplus.evaluation.judgements import address_key, read_judgements
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.store.collection import create_collection

REEF, PORT = "http://a.test/reef", "http://b.test/port"


@pytest.fixture
def own(tmp_path: Path) -> OwnJudgements:
    return OwnJudgements(create_collection(tmp_path))


def test_judgements_are_files_that_eval_reads(own: OwnJudgements) -> None:
    own.judge("  deep \t reef\n", REEF, is_right=True)
    own.judge("deep reef", PORT, is_right=False)
    own.judge("port", PORT, is_right=True)
    assert own.exist
    assert own.queries.read_text() == "q1\tdeep reef\nq2\tport\n"
    assert own.qrels.read_text() == f"q1 0 {REEF} 1\nq1 0 {PORT} 0\nq2 0 {PORT} 1\n"
    found = read_judgements(own.queries, own.qrels, address_key).queries
    assert [(query.text, list(query.grades.values())) for query in found] == [("deep reef", [1, 0]), ("port", [1])]


def test_the_last_judgement_of_a_page_counts_and_can_be_taken_back(own: OwnJudgements) -> None:
    own.judge("reef", REEF, is_right=True)
    own.judge("reef", PORT, is_right=True)
    own.judge("reef", REEF, is_right=False)
    assert own.judged("reef") == {REEF: False, PORT: True}
    own.judge("reef", REEF, is_right=None)
    assert own.judged(" reef ") == {PORT: True}
    own.judge("reef", PORT, is_right=None)
    assert (own.judged("reef"), own.judged("other")) == ({}, {})
    assert not own.exist


def test_other_processes_see_a_judgement_at_once(own: OwnJudgements, tmp_path: Path) -> None:
    other = OwnJudgements(create_collection(tmp_path))
    assert other.judged("reef") == {}
    before = other.version
    own.judge("reef", REEF, is_right=True)
    assert (other.judged("reef"), other.version != before) == ({REEF: True}, True)
    before = other.version
    own.judge("reef", REEF, is_right=False)
    assert (other.judged("reef"), other.version != before) == ({REEF: False}, True)


def test_lines_that_were_written_by_hand_stay(own: OwnJudgements) -> None:
    own.judge("reef", REEF, is_right=True)
    own.queries.write_text("# mine\nnav7\treef\nq5\tport")
    own.qrels.write_text(f"nav7 0 {REEF} 3\nodd\nnav7 0 {PORT} -1")
    assert own.judged("reef") == {REEF: True, PORT: False}
    own.judge("new", PORT, is_right=True)
    own.judge("reef", REEF, is_right=False)
    assert own.queries.read_text() == "# mine\nnav7\treef\nq5\tport\nq6\tnew\n"
    assert own.qrels.read_text() == f"odd\nnav7 0 {PORT} -1\nq6 0 {PORT} 1\nnav7 0 {REEF} 0\n"


def test_judgements_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)

    def judge(number: int) -> None:
        OwnJudgements(collection).judge(f"query {number % 5}", f"http://a.test/{number}", is_right=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(judge, range(40)))
    own = OwnJudgements(collection)
    assert len(own.qrels.read_text().splitlines()) == 40
    assert len(own.queries.read_text().splitlines()) == 5


def test_there_are_no_judgements_at_first(own: OwnJudgements) -> None:
    assert (own.exist, own.version, own.judged("reef")) == (False, "", {})


@pytest.mark.parametrize(("query", "url"), [(" \n", REEF), ("x" * 5_000, REEF), ("reef", ""), ("reef", "http://a b")])
def test_what_cannot_be_kept_is_refused(own: OwnJudgements, query: str, url: str) -> None:
    with pytest.raises(UsageError):
        own.judge(query, url, is_right=True)
    assert not own.exist


def test_a_query_with_a_broken_character_is_kept_as_a_question_mark(own: OwnJudgements) -> None:
    own.judge("reef \udcff", REEF, is_right=True)
    assert own.judged("reef \udcff") == {REEF: True}
