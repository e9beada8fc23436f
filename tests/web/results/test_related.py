"""A reader who has not found the page sees other searches at the end of the results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching
from web.test_hostile import PAYLOADS, assert_harmless


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=3 * [HARBOUR], related_searches=["Harbour of Ostia", "Roman roads <b>"])


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def test_related_searches_are_one_step_away(site: Site, engine: FakeEngine) -> None:
    links = site.get("/search?q=harbour&mode=or").page.select("nav.related a")
    assert [link.text for link in links] == ["Harbour of Ostia", "Roman roads <b>"]
    assert links[0].attrs["href"] == "/search?q=Harbour+of+Ostia&mode=or"
    assert engine.related_asked == [("harbour", 3 * [HARBOUR.url])]


def test_they_belong_to_the_corrected_query(site: Site, engine: FakeEngine) -> None:
    engine.corrected = "harbour"
    site.get("/search?q=harbuor")
    assert engine.related_asked[-1][0] == "harbour"


def test_only_the_first_page_has_them_and_only_if_there_are_any(site: Site, engine: FakeEngine) -> None:
    assert not site.get("/search?q=harbour&page=2&size=1").page.select(".related")
    engine.related_searches = []
    assert not site.get("/search?q=harbour").page.select(".related")
    engine.hits = []
    engine.related_asked.clear()
    site.get("/search?q=nothing")
    assert engine.related_asked == [], "without results there is nothing to read them from"


def test_no_payload_in_a_related_search_becomes_markup(site: Site, engine: FakeEngine) -> None:
    for start in range(0, len(PAYLOADS), 6):
        engine.related_searches = PAYLOADS[start : start + 6]
        page = site.get("/search?q=x").page
        assert_harmless(page)
        shown = [link.text.split() for link in page.select(".related a")]
        assert shown == [text.split() for text in PAYLOADS[start : start + 6]]
