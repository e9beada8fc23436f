"""`periplus eval` measures the ranking of a collection, or of a file of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.harbours import PLACES, pages, write_queries
from periplus.cli.commands.eval import app
from periplus.errors import UsageError
from periplus.evaluation.evaluate import ALL_PROFILES
from periplus.evaluation.metrics import METRICS
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.search.scoring.score import FEATURES
from search.library import Doc, index, shelve


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eval")
    index(shelve(folder, pages()))
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def measured(*arguments: object) -> Any:
    return json.loads(run("--json", *arguments))


def documents(folder: Path) -> list[object]:
    """The options for a file of documents, with judgements in the form of TREC."""
    rows = [{"id": str(number), "title": f"The {place}", "text": place} for number, place in enumerate(PLACES)]
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.tsv").write_text("".join(f"{number}\t{place}\n" for number, place in enumerate(PLACES)))
    (folder / "qrels.txt").write_text("".join(f"{number} 0 {number} 1\n" for number in range(len(PLACES))))
    return ["--docs", folder / "docs.jsonl", "--queries", folder / "queries.tsv", "--qrels", folder / "qrels.txt"]


def test_the_figures_of_a_collection_are_one_json_object(home: Path, tmp_path: Path) -> None:
    found = measured("--home", home, "--queries", write_queries(tmp_path))
    assert {*METRICS, "queries", "per_query", "classes", "profile"} == set(found)
    assert (found["profile"], found["queries"]) == ("default", len(PLACES))
    assert set(found["per_query"]["nav001"]) == set(METRICS)
    mean = sum(row["mrr"] for row in found["per_query"].values()) / len(PLACES)
    assert found["mrr"] == pytest.approx(mean)
    assert set(found["classes"]) == {"inf", "nav"}
    assert found["classes"]["nav"]["queries"] == len(PLACES) // 2


def test_without_files_the_results_judged_on_the_site_are_used(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages())
    index(collection)
    with pytest.raises(UsageError, match="no judged queries"):
        run("--home", tmp_path)
    own = OwnJudgements(collection)
    for place in PLACES[:3]:
        own.judge(place, f"http://{place}.test/harbour", is_right=True)
    own.judge(PLACES[3], f"http://{PLACES[3]}.test/harbour", is_right=False)
    result = CliRunner().invoke(app, ["--home", str(tmp_path), "--json"], catch_exceptions=False)
    assert json.loads(result.stdout)["queries"] == 3, "a query without a right page measures nothing"
    assert f"judged on the site, in {tmp_path / 'judgements'}" in result.stderr
    for options in (["--qrels", own.qrels], ["--docs", own.qrels]):
        with pytest.raises(UsageError, match="needs --queries"):
            run("--home", tmp_path, *options)


def test_addresses_are_compared_without_scheme_and_suffix(home: Path, tmp_path: Path) -> None:
    exact = measured("--home", home, "--queries", write_queries(tmp_path))
    loose = measured("--home", home, "--queries", write_queries(tmp_path, right="https://{place}.test/harbour.html"))
    assert exact["mrr"] == loose["mrr"] > 0


def test_two_addresses_of_one_page_count_once(tmp_path: Path) -> None:
    urls = ("http://a.test/reef", "http://a.test/reef.html", "http://a.test/reef/")
    index(shelve(tmp_path / "home", [Doc(url, "Reef", f"A reef {number}.") for number, url in enumerate(urls)]))
    (tmp_path / "q").write_text("1\treef\thttp://a.test/reef\n")
    found = measured("--home", tmp_path / "home", "--queries", tmp_path / "q")
    assert (found["r@100"], found["ndcg@10"], found["p@10"]) == (1.0, 1.0, 0.1)


def test_a_file_of_documents_is_searched_without_a_collection(tmp_path: Path) -> None:
    found = measured("--home", tmp_path / "none", *documents(tmp_path))
    assert (found["ndcg@10"], found["mrr"], found["map"], found["queries"]) == (1.0, 1.0, 1.0, len(PLACES))
    assert not (tmp_path / "none").exists()


def test_profiles_are_compared_side_by_side(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    found = measured("--home", home, "--queries", queries, "--profile", "all")
    assert [found["profile"], *(other["profile"] for other in found["others"])] == list(ALL_PROFILES)
    for other in found["others"]:
        assert other["compared"]["mrr"]["difference"] == pytest.approx(other["mrr"] - found["mrr"])
        assert 0 < other["compared"]["ndcg@10"]["p"] <= 1
    shown = run("--home", home, "--queries", queries, "--profile", "bm25", "--profile", "default")
    lines = shown.splitlines()
    assert lines[0].split() == ["profile", "class", "queries", *METRICS]
    assert lines[1].split()[:2] == ["bm25", str(len(PLACES))]
    assert any(line.startswith("default against bm25: mrr ") and " p " in line for line in lines)


def test_half_of_the_queries_can_be_chosen(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    halves = [measured("--home", home, "--queries", queries, "--split", half) for half in ("train", "dev")]
    assert sum(half["queries"] for half in halves) == len(PLACES)
    assert not set(halves[0]["per_query"]) & set(halves[1]["per_query"])


def test_a_lost_query_names_the_features_that_lost_it(home: Path, tmp_path: Path) -> None:
    env = {"PERIPLUS_RANKING__TITLE": "0", "PERIPLUS_RANKING__SITE": "0", "PERIPLUS_RANKING__TEXT": "9"}
    queries = write_queries(tmp_path)
    arguments = ["--home", str(home), "--queries", str(queries), "--misses"]
    ran = CliRunner().invoke(app, [*arguments, "--json"], env=env, catch_exceptions=False)
    (miss, *_) = json.loads(ran.stdout)["misses"]
    assert miss["first"].startswith("http://voyages.test/")
    assert miss["right"].endswith(".test/harbour")
    assert (miss["place"] > 1, miss["indexed"]) == (True, True)
    assert next(iter(miss["lost"])) in FEATURES
    assert "text" in miss["lost"]
    assert all(loss < 0 for loss in miss["lost"].values())
    assert list(miss["lost"].values()) == sorted(miss["lost"].values())
    shown = CliRunner().invoke(app, arguments, env=env, catch_exceptions=False).stdout
    assert f"{miss['id']} {miss['query']}" in shown


def test_a_lost_query_says_when_the_page_is_no_candidate_or_not_indexed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("a\tostia\thttp://tyre.test/harbour\nb\tostia\thttp://nowhere.test/\n")
    found = measured("--home", home, "--queries", tmp_path / "q", "--misses")["misses"]
    assert [(miss["place"], miss["indexed"]) for miss in found] == [(None, True), (None, False)]


def test_mistakes_on_the_command_line_are_named(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    with pytest.raises(UsageError, match="no profile is called 'best'"):
        run("--home", home, "--queries", queries, "--profile", "best")
    (tmp_path / "docs.jsonl").write_text('{"id": 1, "title": "x", "text": "y"}\n["no object"]\n')
    with pytest.raises(UsageError, match=r"line 2 of .* is not an object with `id`, `title` and `text`"):
        run("--queries", queries, "--docs", tmp_path / "docs.jsonl")
    (tmp_path / "docs.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="has no documents"):
        run("--queries", queries, "--docs", tmp_path / "docs.jsonl")
