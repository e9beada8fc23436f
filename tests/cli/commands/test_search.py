"""`periplus search` prints results for people and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crawl.crawling import periplus
from index.damage import cut, delete
from index.live import live_index
from periplus.cli.commands.search import app
from periplus.errors import UsageError
from periplus.model import Results
from periplus.search.engine import SearchEngine
from periplus.search.scoring.score import FEATURES
from periplus.store.collection import open_collection
from search.library import Doc, index, shelve

PAGES = [
    Doc("http://a.test/reef", "The reef", "A reef of coral in deep water.", at=1_700_000_000.0),
    Doc("http://b.test/", "Lighthouse", "A lighthouse warns of the reef."),
    Doc("http://c.test/", "Harbour", "A harbour in deep water."),
    Doc("http://evil.test/", "\x1b[31mRed \u202etitle", "evil \x1b]0;x\x07 \u202e\u2028 snippet"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    index(shelve(folder, PAGES))
    return folder


def shown(home: Path, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["--home", str(home), *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def found(home: Path, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(shown(home, "--json", *arguments))
    return answer


def test_the_answer_is_one_json_object(home: Path) -> None:
    answer = found(home, "reef")
    assert {"query", "understood", "total", "total_is_exact", "seconds", "results"} <= set(answer)
    assert (answer["query"], answer["understood"]) == ("reef", "reef")
    assert (answer["total"], answer["total_is_exact"]) == (2, True)
    first = answer["results"][0]
    assert {"url", "title", "snippet", "score", "host", "fetched_at", "explain"} <= set(first)
    assert (first["url"], first["title"], first["host"]) == ("http://a.test/reef", "The reef", "a.test")
    assert first["fetched_at"] == 1_700_000_000.0
    assert first["explain"] == {}


def test_several_arguments_are_one_query(home: Path) -> None:
    answer = found(home, "deep", "water", "OR", "lighthouse")
    assert answer["understood"] == "deep water OR lighthouse"
    assert answer["total"] == 3


def test_a_score_can_be_explained(home: Path) -> None:
    for result in found(home, "--explain", "reef")["results"]:
        assert set(result["explain"]) == {*FEATURES, "crowding"}
        assert sum(result["explain"].values()) == pytest.approx(result["score"], abs=1e-12)
    lines = shown(home, "--explain", "reef").splitlines()
    assert any(" = text " in line for line in lines)


def test_pages_with_all_or_any_words_can_be_searched(home: Path) -> None:
    assert found(home, "--and", "deep", "lighthouse")["total"] == 0
    assert found(home, "--or", "deep", "lighthouse")["total"] == 3
    auto = found(home, "deep", "reef")
    assert (auto["total"], [result["all_words"] for result in auto["results"]]) == (3, [True, False, False])
    assert auto["with_all_words"] == 1


def test_both_at_once_are_an_error(home: Path) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        shown(home, "--and", "--or", "reef")


def test_results_come_in_pages(home: Path) -> None:
    pages = [found(home, "--size", "1", "--page", str(page), "reef") for page in (1, 2, 3)]
    assert [[result["title"] for result in page["results"]] for page in pages] == [["The reef"], ["Lighthouse"], []]
    assert [(page["page"], page["size"], page["total"]) for page in pages] == [(1, 1, 2), (2, 1, 2), (3, 1, 2)]


@pytest.mark.parametrize("option", [["--size", "0"], ["--size", "101"], ["--page", "0"], ["--page", "101"], []])
def test_numbers_outside_their_range_and_no_query_are_usage_errors(home: Path, option: list[str]) -> None:
    words = ["reef"] if option else []
    assert CliRunner().invoke(app, ["--home", str(home), *option, *words]).exit_code == 2


def test_a_person_sees_places_titles_addresses_and_the_passage(home: Path) -> None:
    lines = shown(home, "reef").splitlines()
    assert lines[0] == "  1. The reef"
    assert lines[1] == "     http://a.test/reef"
    assert lines[2].strip() == "A reef of coral in deep water."
    assert lines[-1].startswith("2 results (0.")
    assert "  2. Lighthouse" in shown(home, "--size", "1", "--page", "2", "reef")


def test_a_hint_comes_before_the_results(home: Path) -> None:
    assert shown(home, '"reef').startswith("(Ignored an unclosed quotation mark.)")


def test_a_corrected_query_is_shown_and_can_be_kept(home: Path) -> None:
    corrected = shown(home, "lighthuose")
    assert corrected.startswith("(Showing results for lighthouse. --exact searches for lighthuose.)\n  1. Lighthouse")
    answer = found(home, "lighthuose")
    assert (answer["corrected"], answer["with_all_words"], answer["total"]) == ("lighthouse", 1, 1)
    as_typed = found(home, "--exact", "lighthuose")
    assert (as_typed["corrected"], as_typed["suggestion"], as_typed["total"]) == ("", "", 0)
    assert shown(home, "--exact", "lighthuose").startswith("0 results")


def test_a_query_that_may_have_been_meant_is_a_hint(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = SearchEngine.search

    def suggesting(self: SearchEngine, query: str, **options: Any) -> Results:
        return replace(search(self, query, **options), suggestion="reefs \x1b[1m")

    monkeypatch.setattr(SearchEngine, "search", suggesting)
    assert shown(home, "reef").startswith("(Did you mean reefs \\x1b[1m?)\n")


def test_the_last_line_counts_pages_with_all_words(home: Path) -> None:
    assert "1 page has all your words, 2 some (0." in shown(home, "deep", "reef").splitlines()[-1]


def test_a_page_cannot_speak_to_the_terminal(home: Path) -> None:
    text = shown(home, "evil")
    assert "evil" in text
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.slow
def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    collection = shelve(tmp_path, PAGES)
    assert "has no index yet. `periplus index` builds one" in periplus("search", "--home", tmp_path, "reef").complaint
    index(collection)
    generation = live_index(open_collection(tmp_path))
    cut(generation / "heads.dat")
    damaged = periplus("search", "--home", tmp_path, "reef")
    assert (damaged.code, damaged.out) == (1, "")
    assert "heads.dat is damaged" in damaged.complaint
    index(collection)
    delete(collection.index / "gen-000002" / "meta.json")
    assert "meta.json cannot be read" in periplus("search", "--home", tmp_path, "reef", "--json").complaint


@pytest.mark.slow
def test_bytes_that_are_no_text_are_a_query_too(home: Path) -> None:
    answer = periplus("search", "--home", home, "--json", "reef \udcff")
    assert answer.code == 0
    assert answer.json["query"] == "reef ?"
