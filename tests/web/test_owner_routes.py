"""The owner judges results and saves weights, with plain forms."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.config import Serving
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.web.owner import OwnerFiles
from web.engines import HARBOUR
from web.owning import owned, owner_files, send, token_of
from web.serving import Answer, Site

BACK = "/playground?q=harbour"


@pytest.fixture
def files(tmp_path: Path) -> OwnerFiles:
    return owner_files(tmp_path)


@pytest.fixture
def site(files: OwnerFiles) -> Iterator[Site]:
    with owned(files) as served:
        yield served


def judge(site: Site, grade: str, accept: str = "text/html", **form: str) -> Answer:
    fields = {"token": token_of(site), "query": "harbour", "judged": f"{grade} {HARBOUR.url}"} | form
    return send(site, "/judge", fields, {"Accept": accept})


def save(site: Site, weights: str, **form: str) -> Answer:
    fields = {"token": token_of(site), "w": weights, "back": f"{BACK}&w={weights}"} | form
    return send(site, "/playground/save", fields)


def test_a_result_is_judged_and_the_page_shows_it(site: Site) -> None:
    path = "/search?q=harbour"
    for grade, mark in (("right", "✓ Right"), ("wrong", "✗ Wrong"), ("none", "")):
        answer = judge(site, grade, back=path)
        assert (answer.status, answer.headers["location"]) == (303, path)
        page = site.get(path).page
        assert page.select("[data-mark]")[0].text == mark
        pressed = [button.attrs["data-grade"] for button in page.select(".judge button[aria-pressed=true]")]
        assert pressed == ([grade] if mark else [])
        assert [button.attrs["value"] for button in page.select(".judge button[aria-pressed=true]")] == (
            [f"none {HARBOUR.url}"] if mark else []
        )


def test_filters_are_part_of_the_judged_query(site: Site) -> None:
    page = site.get("/search?q=harbour++of&lang=de").page
    assert page.select("#judge input[name=query]")[0].attrs["value"] == "lang:de (harbour of)"


def test_a_script_gets_an_empty_answer(site: Site, files: OwnerFiles) -> None:
    assert judge(site, "right", "*/*").status == 204
    assert files.judgements.judged("harbour") == {HARBOUR.url: True}


@pytest.mark.parametrize("back", ["", "//evil.example/", "https://evil.example/", "/search", "\r\nx: y"])
def test_the_answer_never_leads_to_another_site(site: Site, back: str) -> None:
    assert judge(site, "right", back=back).headers["location"] == "/"


@pytest.mark.parametrize(
    "judged", ["", "right", "maybe http://a.test/", "right javascript:alert(1)", "right http://a b"]
)
def test_a_form_that_makes_no_sense_is_refused(site: Site, files: OwnerFiles, judged: str) -> None:
    assert judge(site, "", judged=judged).status == 400
    assert not files.judgements.exist


def test_a_form_that_is_too_long_is_refused(site: Site) -> None:
    assert judge(site, "right", query="x" * 61_000).status == 413
    assert judge(site, "right", "text/html", **{f"field{number}": "x" for number in range(50)}).status == 413


def test_a_judgement_that_cannot_be_written_is_an_error(site: Site, files: OwnerFiles) -> None:
    (files.home / "judgements").write_text("a file where the folder must be")
    answer = judge(site, "right")
    assert answer.status == 503
    assert "cannot be saved" in answer.page.select(".notice")[0].text


def test_weights_are_saved_after_the_owner_has_seen_the_lines_that_change(site: Site, files: OwnerFiles) -> None:
    file = files.home / "periplus.toml"
    file.write_text("# mine\n[ranking]\ntitle = 2.5  # more\n")
    page = save(site, "title:3.25,rank:0").page
    lines = [line.text.strip() for line in page.select(".difference span")]
    assert lines == ["# mine", "[ranking]", "- title = 2.5  # more", "+ title = 3.25  # more", "+ rank = 0.0"]
    assert file.read_text() == "# mine\n[ranking]\ntitle = 2.5  # more\n"
    fields = page.select("main input[type=hidden]")
    answer = send(site, "/playground/save", {str(one.attrs["name"]): str(one.attrs["value"]) for one in fields})
    assert (answer.status, answer.headers["location"]) == (303, f"{BACK}&saved=1")
    assert file.read_text() == "# mine\n[ranking]\ntitle = 3.25  # more\nrank = 0.0\n"
    assert "now uses these weights" in site.get(answer.headers["location"]).page.select("[role=note]")[0].text


def test_the_running_site_is_told_about_new_weights(tmp_path: Path) -> None:
    told: list[Path] = []
    collection = owner_files(tmp_path).judgements
    files = OwnerFiles(collection, tmp_path, lambda: told.append(tmp_path), b"secret")
    with owned(files) as site:
        save(site, "per_host:4,crowding:0.5")
        assert told == []
        save(site, "per_host:4,crowding:0.5", confirmed="1")
    assert told == [tmp_path]
    assert tomllib.loads((tmp_path / "periplus.toml").read_text()) == {"ranking": {"crowding": 0.5, "per_host": 4}}


def test_nothing_is_written_when_nothing_changes(site: Site, files: OwnerFiles) -> None:
    assert "Nothing to save" in save(site, "", confirmed="1").text
    assert not (files.home / "periplus.toml").exists()


def test_a_weight_of_the_environment_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PERIPLUS_RANKING__TITLE", "2")
    assert "sets title" in save(site, "title:3").page.select("[role=note]")[0].text


@pytest.mark.parametrize("weights", ["title:nan", "title:1e9", "crowding:-1", "candidates:5", "title"])
def test_weights_out_of_range_are_not_saved(site: Site, files: OwnerFiles, weights: str) -> None:
    assert save(site, weights, confirmed="1").status == 400
    assert not (files.home / "periplus.toml").exists()


def test_a_file_of_an_unusual_form_is_not_touched(site: Site, files: OwnerFiles) -> None:
    (files.home / "periplus.toml").write_text("ranking.title = 1.5\n")
    answer = save(site, "title:3")
    assert answer.status == 400
    assert "cannot be edited" in answer.page.select(".notice")[0].text


def test_a_site_without_a_playground_saves_no_weights(files: OwnerFiles) -> None:
    with owned(files, settings=Serving(playground=False)) as site:
        assert save(site, "title:3").status == 404
        assert judge(site, "right").status == 303


def test_the_judgements_are_those_of_the_collection(site: Site, files: OwnerFiles) -> None:
    judge(site, "right")
    assert isinstance(files.judgements, OwnJudgements)
    assert (files.home / "judgements" / "qrels.txt").read_text() == f"q1 0 {HARBOUR.url} 1\n"
