"""The owner judges results in a real browser, and `periplus eval` and `tune` use the judgements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from evaluation.harbours import PLACES, pages
from periplus.cli.commands import eval as eval_command
from periplus.cli.commands import tune
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.search.reload import ReloadingEngine
from periplus.web.owner import OwnerFiles
from search.library import index, settings, shelve
from web.axe import violations
from web.owning import owned
from web.serving import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    index(shelve(folder, pages()))
    return folder


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    collection = shelve(home, [])
    with closing(ReloadingEngine(collection, settings())) as engine:
        files = OwnerFiles(OwnJudgements(collection), home, engine.reload, b"secret")
        with owned(files, engine) as served:
            yield served


def judge(page: Page, site: Site, query: str, grade: str) -> str:
    """Judges the first result of a query; gives its URL."""
    page.goto(f"{site.base}/search?q={query}")
    hit = page.locator(".hit").first
    hit.locator("summary").click()
    hit.get_by_role("button", name=grade, exact=True).click()
    hit.locator("[data-mark]", has_text=grade).wait_for()
    return hit.locator("h2 a").get_attribute("href") or ""


def test_results_that_the_owner_judged_measure_and_teach_the_ranking(browser: Browser, site: Site, home: Path) -> None:
    places = PLACES[:6]
    with browser.new_context() as scripted, browser.new_context(java_script_enabled=False) as plain:
        pages_of = [scripted.new_page(), plain.new_page()]
        right = {place: judge(pages_of[number % 2], site, place, "Right") for number, place in enumerate(places)}
        page = pages_of[0]
        page.goto(f"{site.base}/search?q={places[1]}")
        assert page.locator(".hit [data-mark]").first.inner_text() == "✓ Right", "judged without scripts"
        page.locator(".hit summary").first.click()
        button = page.locator(".hit").first.get_by_role("button", name="Right", exact=True)
        assert button.get_attribute("aria-pressed") == "true"
        assert violations(page) == []
    own = OwnJudgements(shelve(home, []))
    assert [own.judged(place) for place in places] == [{right[place]: True} for place in places]
    found = CliRunner().invoke(eval_command.app, ["--home", str(home), "--json"], catch_exceptions=False)
    figures = json.loads(found.stdout)
    assert (figures["queries"], figures["mrr"]) == (6, 1.0), "the first result of each query is the right one"
    options = ["--home", str(home), "--json", "--folds", "3"]
    learned = CliRunner().invoke(tune.app, options, catch_exceptions=False)
    assert json.loads(learned.stdout)["held_out"]["before"]["queries"] == 6


def test_a_judgement_is_taken_back_with_the_same_button(browser: Browser, site: Site, home: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        url = judge(page, site, PLACES[7], "Wrong")
        own = OwnJudgements(shelve(home, []))
        assert own.judged(PLACES[7]) == {url: False}
        hit = page.locator(".hit").first
        hit.get_by_role("button", name="Wrong", exact=True).click()
        hit.locator("[data-mark]").wait_for(state="hidden")
        assert own.judged(PLACES[7]) == {}


def test_weights_saved_in_the_playground_order_the_next_search(browser: Browser, site: Site, home: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.base}/playground?q={PLACES[0]}")
        page.wait_for_selector("#weights[data-live]")
        page.locator("#w_title").fill("7.25")
        page.get_by_role("button", name="Save as default").click()
        assert "+ title = 7.25" in page.locator(".difference").inner_text()
        assert violations(page) == []
        page.get_by_role("button", name="Save", exact=True).click()
        assert "now uses these weights" in page.get_by_role("note").inner_text()
        assert page.locator("#w_title").input_value() == "7.25"
        assert page.locator("#changes").inner_text().startswith("The weights of this site")
    assert (home / "periplus.toml").read_text() == "[ranking]\ntitle = 7.25\n"
    first = site.get("/api/v1/search", q=PLACES[0], features=1).json
    assert first["weights"]["title"] == 7.25
