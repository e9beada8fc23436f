"""`periplus tune` learns weights, and writes them only when they win on queries that it did not learn from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.harbours import PLACES, pages, write_queries
from periplus.cli.commands.tune import app
from periplus.config import Ranking
from periplus.errors import UsageError
from periplus.search.scoring.score import FEATURES
from search.library import index, shelve

BAD = "# my weights\n[ranking]\ntext = 9.0 # too much\ntitle = 0.0\nsite = 0.0\n\n[fetch]\ntimeout = 17\n"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    index(shelve(folder, pages()))
    return folder


@pytest.fixture
def home(collection: Path) -> Path:
    (collection / "periplus.toml").write_text(BAD)
    return collection


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_weights_that_win_are_written_and_the_rest_of_the_file_stays(home: Path, tmp_path: Path) -> None:
    ran = run("--home", home, "--queries", write_queries(tmp_path), "--json")
    assert ran.exit_code == 0
    found = json.loads(ran.stdout)
    assert (found["wins"], found["written"]) == (True, True)
    held_out = found["held_out"]
    assert held_out["after"]["mrr"] > held_out["before"]["mrr"]
    assert set(held_out["after"]["per_query"]).isdisjoint(found["train"]["after"]["per_query"])
    text = (home / "periplus.toml").read_text()
    assert text.startswith("# my weights\n[ranking]\ntext = ")
    assert text.endswith("\n\n[fetch]\ntimeout = 17\n")
    assert tomllib.loads(text)["ranking"] == {name: found["weights"][name] for name in FEATURES}
    assert (found["weights"]["rank"], found["weights"]["freshness"]) == (Ranking().rank, Ranking().freshness)


def test_weights_that_do_not_win_are_refused(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    run("--home", home, "--queries", queries)
    best = (home / "periplus.toml").read_bytes()
    again = run("--home", home, "--queries", queries)
    assert again.exit_code == 1
    assert "The learned weights are not better on the held-out half. Nothing was written." in again.stdout
    assert (home / "periplus.toml").read_bytes() == best


def test_a_dry_run_writes_nothing(home: Path, tmp_path: Path) -> None:
    ran = run("--home", home, "--queries", write_queries(tmp_path), "--dry-run")
    assert ran.exit_code == 0
    assert "Nothing was written (--dry-run)." in ran.stdout
    assert (home / "periplus.toml").read_text() == BAD


def test_cross_validation_measures_every_query_and_writes_nothing(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    found = json.loads(run("--home", home, "--queries", queries, "--folds", 3, "--json").stdout)
    assert found["held_out"]["after"]["queries"] == len(PLACES)
    assert found["held_out"]["after"]["mrr"] > found["held_out"]["before"]["mrr"]
    assert set(found["held_out"]["after"]["classes"]) == {"inf", "nav"}
    assert (found["written"], "train" in found) == (False, False)
    half = json.loads(run("--home", home, "--queries", queries, "--folds", 2, "--split", "train", "--json").stdout)
    assert half["held_out"]["after"]["queries"] < len(PLACES)
    assert (home / "periplus.toml").read_text() == BAD


def test_the_same_judgements_give_the_same_weights(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    first, second = (json.loads(run("--home", home, "--queries", queries, "--dry-run", "--json").stdout) for _ in "12")
    assert first == second


def test_weights_can_be_kept(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    ran = run("--home", home, "--queries", queries, "--keep", "text,title", "--dry-run", "--json")
    weights = json.loads(ran.stdout)["weights"]
    assert (weights["text"], weights["title"]) == (9.0, 0.0)


def test_too_few_queries_teach_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "few").write_text("nav001\tostia\thttp://ostia.test/harbour\nnav000\ttyre\thttp://tyre.test/harbour\n")
    with pytest.raises(UsageError, match="1 judged queries in one half are too few"):
        run("--home", home, "--queries", tmp_path / "few")
    with pytest.raises(UsageError, match="2 queries are too few for 3 folds"):
        run("--home", home, "--queries", tmp_path / "few", "--folds", 3)


def test_mistakes_on_the_command_line_are_named(home: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path)
    with pytest.raises(UsageError, match="no feature is called 'magic'"):
        run("--home", home, "--queries", queries, "--keep", "rank,magic")
    with pytest.raises(UsageError, match="--split needs --folds"):
        run("--home", home, "--queries", queries, "--split", "train")


def test_people_see_the_weights_and_the_figures(home: Path, tmp_path: Path) -> None:
    lines = run("--home", home, "--queries", write_queries(tmp_path)).stdout.splitlines()
    assert lines[0].split() == ["weight", "before", "after"]
    assert [line.split()[0] for line in lines[1 : len(FEATURES) + 1]] == list(FEATURES)
    assert any(line.startswith("held out: mrr +") for line in lines)
    assert lines[-1].startswith(f"The weights are written to {home / 'periplus.toml'}.")
