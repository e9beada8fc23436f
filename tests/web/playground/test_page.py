"""The playground orders results by other weights, without scripts as well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from periplus.config import Serving
from periplus.model import Explanation, FeatureRow, FeatureTable, SiteBoosts
from periplus.search.scoring.score import FEATURES
from web.engines import HARBOUR, FakeEngine, explained
from web.serving import Site, searching
from web.test_hostile import PAYLOADS, assert_harmless

_TEXT = {"text": 1.0}
TABLE = FeatureTable(
    dict.fromkeys(FEATURES, 0.0) | {"text": 1.0, "title": 0.5},
    tuple(
        FeatureRow(url, 0.0, features, 0.0, title, url.split("/")[2], number)
        for number, (url, title, features) in enumerate(
            [
                ("http://a.test/1", "First", {"text": 9.0}),
                ("http://a.test/2", "Second", {"text": 8.0, "rank": 1.0}),
                ("http://b.test/3", "Third", {"text": 7.0, "title": 1.0}),
                ("http://c.test/4", "", {"text": 2.0, "title": 2.0}),
            ]
        )
    ),
    crowding=0.4,
    per_host=1,
)


@pytest.fixture
def site() -> Iterator[Site]:
    with searching(FakeEngine(table=TABLE)) as served:
        yield served


def order(site: Site, weights: str = "") -> list[str]:
    page = site.get("/playground", q="harbour", w=weights).page
    return [title.text.strip() for title in page.select(".places h2")]


def test_the_results_come_in_the_order_of_the_site(site: Site) -> None:
    page = site.get("/playground?q=harbour").page
    assert order(site) == ["First", "Second", "Third", "http://c.test/4"]
    assert [score.text for score in page.select(".score")] == ["9.0000", "7.6000", "7.5000", "3.0000"]
    assert all("hidden" in moved.attrs for moved in page.select(".moved"))
    assert len(page.select("input[type=range]")) == len(page.select("input[type=number]")) == len(FEATURES) + 2


def test_other_weights_move_results_and_the_page_says_why(site: Site) -> None:
    page = site.get("/playground", q="harbour", w="title:9").page
    assert order(site, "title:9") == ["http://c.test/4", "Third", "First", "Second"]
    first = page.select(".places li")[0]
    assert first.select(".moved")[0].text == "▲3up 3 places"
    assert first.select(".cause")[0].text == "title +17.00"
    assert page.select(".places li .moved")[2].text == "▼2down 2 places"
    assert page.select("input[name=w_title]")[0].attrs["value"] == "9"
    assert "1 weight changed" in page.select("#changes")[0].text
    assert page.select("#reset")[0].attrs["href"] == "/playground?q=harbour"
    assert page.select("#share")[0].attrs["href"] == "/playground?q=harbour&w=title:9"


def test_crowding_is_a_cause(site: Site) -> None:
    page = site.get("/playground", q="harbour", w="crowding:1").page
    causes = [cause.text for cause in page.select(".cause")]
    assert causes == ["", "", "crowding \N{MINUS SIGN}0.60", ""]


def test_a_form_without_scripts_leads_to_the_short_address(site: Site) -> None:
    fields = {f"w_{name}": "0" for name in FEATURES} | {"w_text": "1", "w_title": "2.5", "w_per_host": "1"}
    answer = site.get(f"/playground?{urlencode({'q': 'harbour', 'lang': 'en'} | fields)}")
    assert (answer.status, answer.headers["location"]) == (303, "/playground?q=harbour&lang=en&w=title:2.5")


def test_a_link_says_what_a_page_needs(site: Site) -> None:
    needs = site.get("/playground", q="harbour", need="http://c.test/4").page.select("#needs")[0]
    assert "“http://c.test/4” need to reach the top 3?" in needs.select("h2")[0].text
    link = needs.select("a")[0]
    assert link.attrs["href"] == "/playground?q=harbour&w=text:0.2333"
    assert link.text == "Text score (BM25): 1 → 0.2333"
    assert order(site, "text:0.2333").index("http://c.test/4") == 2
    nothing = site.get("/playground", q="harbour", need="http://a.test/1").page.select("#needs")[0]
    assert "Nothing: it is at place 1." in nothing.text
    assert site.get("/playground", q="harbour", need="http://none.test/").status == 404


def test_the_page_says_what_a_result_lacks_against_the_third() -> None:
    rows = [
        FeatureRow(f"http://a{place}.test/", 0.0, {"text": 9.0 - place}, 0.0, f"Page {place}", "", place)
        for place in range(4)
    ]

    class Explaining(FakeEngine):
        def explanation(
            self, query: str, url: str, *, mode: str = "auto", verbatim: bool = False, site_boosts: SiteBoosts = ()
        ) -> Explanation | None:
            is_third = url == "http://a2.test/"
            own = {"title": 0.5 + is_third / 2, "generated": 0.0 if is_third else 1.0}
            words = {"title": 3 + is_third, "page": 4}
            return replace(explained(HARBOUR), features=dict.fromkeys(FEATURES, 0.0) | own, words_in=words)

    with searching(Explaining(table=FeatureTable({"text": 1.0}, tuple(rows)))) as site:
        needs = site.get("/playground", q="harbour", need="http://a3.test/").page.select("#needs")[0]
    cells = [[cell.text for cell in row.select("td")] for row in needs.select("tbody tr")]
    assert cells == [
        ["Source listing, generated index or release notes", "No source listing, index or release notes", "+2.33"],
        ["3 of 4 words in the title", "4 of 4 words in the title", "+0.55"],
    ]


def test_no_single_weight_may_be_enough() -> None:
    rows = [FeatureRow(f"http://a{n}.test/", 0.0, {"text": 4.0 - n}, 0.0, "", f"{n}", n, n // 3) for n in range(4)]
    with searching(FakeEngine(table=FeatureTable({"text": 1.0}, tuple(rows)))) as site:
        page = site.get("/playground", q="harbour", need="http://a3.test/").page
    assert "No single weight lifts it there." in page.select("#needs")[0].text


def test_the_first_fifty_results_are_shown_and_all_on_request() -> None:
    rows = [FeatureRow(f"http://a.test/{n}", 0.0, _TEXT, 0.0, f"Page {n}", "a.test", n) for n in range(60)]
    with searching(FakeEngine(table=FeatureTable({"text": 1.0}, tuple(rows)))) as site:
        page = site.get("/playground?q=harbour").page
        assert len(page.select(".places li")) == 60
        assert len([row for row in page.select(".places li") if "hidden" in row.attrs]) == 10
        everything = site.get(str(page.select("#all")[0].attrs["href"])).page
        assert not [row for row in everything.select(".places li") if "hidden" in row.attrs]


def test_the_data_for_the_browser_have_full_precision() -> None:
    value = 0.1 + 0.2
    table = FeatureTable({"text": 1 / 3}, (FeatureRow("http://a.test/", 0.0, {"text": value}, 0.0, "T", "a.test", 5),))
    with searching(FakeEngine(table=table)) as site:
        text = site.get("/api/v1/playground", q="harbour", w="rank:2.5").text
    found = json.loads(text)
    assert found["names"] == list(FEATURES)
    assert (found["usual"]["text"], found["weights"]["rank"]) == (1 / 3, 2.5)
    assert found["results"][0]["features"][0] == value
    assert found["results"][0] | {"features": []} == {
        "url": "http://a.test/",
        "title": "T",
        "host": "a.test",
        "number": 5,
        "block": 0,
        "score": value * (1 / 3),
        "crowding": 0.0,
        "features": [],
    }


def test_the_playground_begins_with_a_search(site: Site) -> None:
    assert site.get("/playground").page.select("main form[action='/playground'] input[name=q]")
    assert site.get("/api/playground").status == 400
    with searching(FakeEngine(table=FeatureTable({"text": 1.0}, ()))) as empty:
        assert "No results" in empty.get("/playground?q=none").page.select("main h2")[0].text


@pytest.mark.parametrize("path", ["/playground", "/api/v1/playground"])
def test_weights_that_make_no_sense_are_an_error(site: Site, path: str) -> None:
    assert site.get(path, q="harbour", w="title:nan").status == 400
    assert site.get(path, q="harbour", w="colour:1").status == 400


def test_result_page_and_help_lead_to_the_playground(site: Site) -> None:
    link = site.get("/search?q=old+harbour&lang=en").page.select(".try a")[0]
    assert link.attrs["href"] == "/playground?q=old+harbour&lang=en"
    assert site.get("/help").page.select("a[href='/playground']")
    why = site.get(f"/why?{urlencode({'q': 'old harbour', 'url': HARBOUR.url})}").page
    assert why.select("a[href^='/playground']")[0].attrs["href"] == "/playground?q=old+harbour"


def test_the_owner_can_switch_the_playground_off() -> None:
    with searching(FakeEngine(), Serving(playground=False)) as site:
        assert site.get("/playground?q=harbour").status == 404
        assert site.get("/api/playground?q=harbour").status == 404
        assert not site.get("/search?q=harbour").page.select("a[href^='/playground']")
        assert not site.get("/help").page.select("a[href^='/playground']")


def test_no_payload_becomes_markup() -> None:
    rows = [
        FeatureRow(text, 0.0, {"text": 1.0 / place}, 0.0, text, text, place) for place, text in enumerate(PAYLOADS, 1)
    ]
    with searching(FakeEngine(table=FeatureTable({"text": 1.0}, tuple(rows)))) as site:
        for payload in (*PAYLOADS[:3], PAYLOADS[-1]):
            page = site.get("/playground", q=payload, need=PAYLOADS[50], w="text:2").page
            assert_harmless(page)
            assert len(page.select(".places > li")) == len(PAYLOADS)
