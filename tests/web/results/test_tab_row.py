"""The row of tabs leads to images, videos, news and PDFs of the same search, and says how many there are."""

from __future__ import annotations

import pytest

from periplus.model import FacetCounts
from web.engines import FakeEngine
from web.serving import Answer, searching
from web.tabs.media import engine


def answered(path: str, used: FakeEngine | None = None) -> Answer:
    with searching(used or engine()) as site:
        answer = site.get(path)
    assert answer.status == 200
    return answer


def row(path: str, used: FakeEngine | None = None) -> dict[str, tuple[str, str]]:
    """Count and link of every tab, by its title."""
    links = answered(path, used).page.select(".search-tabs a")
    texts = [link.text.split() for link in links]
    return {title: (count, str(link.attrs["href"])) for (title, count), link in zip(texts, links, strict=True)}


def test_every_tab_has_a_link_and_its_number_of_results() -> None:
    assert row("/search?q=harbour") == {
        "Web": ("50", "/search?q=harbour"),
        "Images": ("~64", "/search?q=harbour&tab=images"),
        "Videos": ("~5", "/search?q=harbour&tab=videos"),
        "News": ("12", "/search?q=harbour&tab=news"),
        "PDF": ("7", "/search?q=harbour&tab=pdf"),
    }


@pytest.mark.parametrize(("tab", "title"), [("", "Web"), ("images", "Images"), ("videos", "Videos"), ("pdf", "PDF")])
def test_the_current_tab_is_named(tab: str, title: str) -> None:
    (current,) = answered(f"/search?q=harbour&tab={tab}").page.select(".search-tabs a[aria-current=page]")
    assert current.text.split()[0] == title


def test_filters_are_kept_but_not_the_type_which_pdf_is() -> None:
    found = row("/search?q=harbour&lang=de&type=html&site=a.example&mode=or&page=3")
    assert found["News"][1] == "/search?q=harbour&tab=news&lang=de&site=a.example&mode=or"
    assert found["Web"][1] == "/search?q=harbour&lang=de&type=html&site=a.example&mode=or"


def test_the_pdf_tab_finds_pdfs_and_ignores_another_type() -> None:
    used = engine(found_by={"harbour": 50})
    page = answered("/search?q=harbour&tab=pdf&type=html&lang=de", used).page
    assert used.asked[0]["query"] == "lang:de filetype:pdf (harbour)"
    assert [chip.text.split()[3] for chip in page.select(".filters a.chip")] == ["German"]


def test_the_search_box_keeps_the_tab_and_the_filters() -> None:
    page = answered("/search?q=harbour&tab=images&lang=de").page
    hidden = {str(field.attrs["name"]): str(field.attrs["value"]) for field in page.select(".box input[type=hidden]")}
    assert hidden == {"tab": "images", "lang": "de"}


def test_a_tab_without_results_is_muted_and_stays_a_link() -> None:
    page = answered("/search?q=harbour", engine(videos=(), counts=FacetCounts())).page
    assert [tab.text.split() for tab in page.select(".search-tabs .none")] == [["Videos", "0"], ["PDF", "0"]]


def test_the_counts_are_those_of_the_corrected_query() -> None:
    used = engine(corrected="harbour")
    assert row("/search?q=harbuor", used)["Images"][1] == "/search?q=harbour&tab=images&exact=1"
    assert {str(asked.get("count_media", "harbour")) for asked in used.tabs_asked} == {"harbour"}


def test_a_search_without_results_shows_which_tabs_have_some() -> None:
    found = row("/search?q=harbour", engine(hits=(), total=0))
    assert [count for count, _ in found.values()] == ["0", "~64", "~5", "12", "0"]


@pytest.mark.parametrize(
    ("tab", "title"), [("news", "news"), ("pdf", "PDFs"), ("images", "images"), ("videos", "videos")]
)
def test_a_tab_without_results_leads_to_the_pages_with_the_words(
    tab: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = engine(hits=(), total=0, news_hits=(), images=(), videos=())
    monkeypatch.setattr(used, "count", lambda query, mode="auto": 0 if "filetype:pdf" in query else 7)
    (notice,) = answered(f"/search?q=harbour&tab={tab}", used).page.select("section.notice")
    assert notice.select("h1")[0].text == f"No {title} for “harbour”"
    (link,) = [link for link in notice.select("a") if "with these words" in link.text]
    assert (link.text, link.attrs["href"]) == ("Show 7 pages with these words", "/search?q=harbour")
    assert "Check the spelling" not in notice.text


def test_the_pages_of_a_tab_stay_on_it() -> None:
    page = answered("/search?q=harbour&tab=news&size=5").page
    links = [str(link.attrs["href"]) for link in page.select(".paging a")]
    assert links
    assert all("tab=news" in link for link in links)


def test_an_unknown_tab_is_a_mistake() -> None:
    with searching(engine()) as site:
        assert site.get("/search?q=x&tab=maps").status == 400
