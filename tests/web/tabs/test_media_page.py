"""The tabs Images, Videos and News show what they found; nothing of another site is loaded by default."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from email.utils import parsedate_to_datetime

import pytest

from periplus.config import Serving
from periplus.model import FacetCounts
from web.engines import CRAWLED, HARBOUR
from web.serving import Answer, searching
from web.tabs.media import FILM, IMAGES, NEWS, PLAN, engine
from web.test_hostile import PAYLOADS, assert_harmless, poisoned


def get(path: str, settings: Serving | None = None, **fields: object) -> Answer:
    with searching(engine(**fields), settings) as site:
        return site.get(path)


def test_images_link_to_the_image_and_to_its_page() -> None:
    page = get("/search?q=harbour&tab=images").page
    first = page.select(".picture")[0]
    assert [str(link.attrs["href"]) for link in first.select("a")] == [PLAN.url, PLAN.page_url]
    assert [" ".join(first.select(part)[0].text.split()) for part in (".frame", ".caption", "h2", ".address")] == [
        "Image ostia plan.png",
        PLAN.words,
        PLAN.page_title,
        PLAN.host,
    ]
    assert "64 images" in page.select(".summary")[0].text
    assert len(page.select(".picture")) == 30


def test_no_image_is_loaded_unless_the_owner_allows_it() -> None:
    answer = get("/search?q=harbour&tab=images")
    assert not answer.page.select("main img")
    assert "img-src 'self' data:;" in answer.headers["content-security-policy"]
    assert answer.headers["cross-origin-embedder-policy"] == "require-corp"


@pytest.mark.parametrize(
    ("address", "sources"), [("", "'self' data: https: http:"), ("https://search.example", "'self' data: https:")]
)
def test_the_owner_can_have_images_loaded_on_this_tab_only(address: str, sources: str) -> None:
    settings = Serving(load_images=True, public_address=address)
    answer = get("/search?q=harbour&tab=images", settings)
    image = answer.page.select(".picture img")[0].attrs
    wanted = {"src": PLAN.url, "alt": PLAN.words, "loading": "lazy", "referrerpolicy": "no-referrer"}
    assert {name: image[name] for name in wanted} == wanted
    assert f"img-src {sources};" in answer.headers["content-security-policy"]
    assert answer.headers["cross-origin-embedder-policy"] == "credentialless"
    for other in ("", "videos", "news", "pdf"):
        answer = get(f"/search?q=harbour&tab={other}", settings)
        assert "img-src 'self' data:;" in answer.headers["content-security-policy"]


def test_videos_are_links_and_never_players() -> None:
    page = get("/search?q=harbour&tab=videos").page
    titles = [hit.select("h2")[0].text for hit in page.select(".video")]
    assert titles == [FILM.words, "Ships in a lock", "harbour.mp4", titles[3], FILM.words]
    assert [badge.text for badge in page.select(".badge")] == ["YouTube", "Vimeo", "MP4 file", "PeerTube"]
    assert not page.select("iframe, video, embed, object")
    assert page.select(".video .lacks a")[0].attrs["href"] == FILM.page_url


def test_news_are_not_grouped_by_host_and_have_no_score_to_explain() -> None:
    news = [replace(hit, host=f"{n % 2}.example", score=0.0) for n, hit in enumerate(NEWS)]
    page = get("/search?q=harbour&tab=news", news_hits=news).page
    assert [title.text for title in page.select(".hit h2")] == [f"Story {n}" for n in range(10)]
    assert not page.select(".hit.inner")
    assert not [link for link in page.select(".hit .menu a") if "/why" in str(link.attrs["href"])]


@pytest.mark.parametrize("tab", ["images", "videos", "news"])
def test_filters_work_on_every_tab(tab: str) -> None:
    used = engine()
    with searching(used) as site:
        page = site.get(f"/search?q=harbour&tab={tab}&lang=de").page
    key = "news" if tab == "news" else "media"
    assert used.tabs_asked[0][key] == "lang:de (harbour)"
    assert [menu.text for menu in page.select(".filters summary")] == ["Time", "Site"]
    first = page.select(".filters .menu a")[0]
    assert (first.text, first.attrs["href"]) == ("Past day", f"/search?q=harbour&tab={tab}&time=day&lang=de")


def test_pages_of_images_follow_each_other() -> None:
    page = get("/search?q=harbour&tab=images&page=2").page
    assert len(page.select(".picture")) == 30
    links = [str(link.attrs["href"]) for link in page.select(".paging a")]
    assert links == [f"/search?q=harbour&tab=images{rest}" for rest in ("", "", "&page=3", "&page=3")]
    assert "No more images" in get("/search?q=harbour&tab=images&page=9").text


def test_a_lower_bound_is_marked() -> None:
    answer = get("/search?q=harbour&tab=images", exact_media=False)
    assert "At least 64 images" in " ".join(answer.page.select(".summary")[0].text.split())
    assert answer.page.select(".search-tabs a[aria-current]")[0].text == "Images ~64"


def test_nothing_found_leads_to_another_spelling_and_to_all_pages() -> None:
    page = get("/search?q=harbuor&tab=images&lang=de", images=(), suggestion="lang:de (harbour)").page
    links = [str(link.attrs["href"]) for link in page.select(".notice a")]
    assert links == ["/search?q=harbour&tab=images&lang=de", "/search?q=harbuor&tab=images"]


# --- other programs ---


@pytest.mark.parametrize(("name", "kind"), [("images", "image"), ("videos", "video")])
def test_images_and_videos_come_as_json(name: str, kind: str) -> None:
    used = engine()
    with searching(used) as site:
        found = site.get(f"/api/v1/{name}?q=harbour&size=2&page=2&lang=de").json
        assert site.get(f"/api/{name}").status == 400
    assert used.tabs_asked == [{"media": "lang:de (harbour)", "kind": kind, "page": 2, "size": 2, "mode": "auto"}]
    assert (found["query"], found["page"], found["size"], len(found["results"])) == ("harbour", 2, 2, 2)
    assert set(found["results"][0]) == {
        "url", "words", "context", "page_url", "page_title", "host", "score", "date"
    }  # fmt: skip


def test_news_come_as_json_and_rss_with_their_dates() -> None:
    found = get("/api/v1/news?q=harbour&size=3").json
    assert [hit["date"] for hit in found["results"]] == [CRAWLED - 86_400.0 * n for n in range(3)]
    feed = ET.fromstring(get("/search.rss?q=harbour&tab=news").body)
    dates = [parsedate_to_datetime(str(item.findtext("pubDate"))).timestamp() for item in feed.iter("item")]
    assert dates == [CRAWLED - 86_400.0 * n for n in range(10)]
    assert str(feed.findtext("channel/link")).endswith("/search?q=harbour&tab=news")


@pytest.mark.parametrize(
    ("tab", "forms"),
    [
        ("images", ["/api/images?q=harbour"]),
        ("videos", ["/api/videos?q=harbour"]),
        ("news", ["/search.rss?q=harbour&tab=news", "/search.csv?q=harbour&tab=news", "/api/news?q=harbour"]),
        ("pdf", ["/search.rss?q=harbour&tab=pdf", "/search.csv?q=harbour&tab=pdf", "/api/search?q=harbour&type=pdf"]),
    ],
)
def test_every_tab_links_to_its_other_forms(tab: str, forms: list[str]) -> None:
    with searching(engine()) as site:
        page = site.get(f"/search?q=harbour&tab={tab}").page
        assert [str(link.attrs["href"]) for link in page.select(".exports a")] == forms
        assert {site.get(form).status for form in forms} == {200}
        assert site.get(f"/search.rss?q=harbour&tab={tab}").status == (400 if tab in {"images", "videos"} else 200)


# --- hostile text ---


def test_no_payload_in_an_image_or_video_becomes_markup() -> None:
    hits = [
        replace(PLAN, url=text, words=text, context=text, page_url=text, page_title=text, host=text)
        for text in PAYLOADS
    ]
    with searching(engine(images=hits, videos=hits), Serving(load_images=True)) as site:
        for tab in ("images", "videos"):
            for number in range(1, len(hits) // 100 + 2):
                page = site.get(f"/search?q=x&tab={tab}&size=100&page={number}").page
                assert_harmless(page)
                shown = hits[(number - 1) * 100 : number * 100]
                assert len(page.select("li.hit")) == len(shown)


def test_no_payload_in_news_or_queries_becomes_markup() -> None:
    with searching(engine(news_hits=[poisoned(text) for text in PAYLOADS[:100]])) as site:
        assert_harmless(site.get("/search?q=x&tab=news&size=100").page)
    with searching(engine(images=(), suggestion=PAYLOADS[0], counts=FacetCounts())) as site:
        for text in PAYLOADS[:60]:
            assert_harmless(site.get("/search", q=text, tab="images").page)


def test_an_answer_is_stored_by_tab() -> None:
    with searching(engine(fingerprint="one", hits=[HARBOUR]), Serving(boxes=[])) as site:
        web, images = (site.get(f"/search?q=x{tab}") for tab in ("", "&tab=images"))
        assert web.headers["etag"] != images.headers["etag"]
        again = site.get("/search?q=x&tab=images", {"if-none-match": images.headers["etag"]})
    assert again.status == 304
    assert len(IMAGES) > 30
