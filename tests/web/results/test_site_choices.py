"""A reader raises, lowers or blocks sites: in a link, or saved in the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from periplus.search.query.parser import parse_query
from periplus.site.site_rules import MOST, decode
from periplus.web.parameters import SearchParameters, read
from periplus.web.results.site_choices import site_choices, site_notice
from search.library import Doc, library
from web.engines import HARBOUR, FakeEngine
from web.serving import Answer, Site, searching
from web.test_hostile import PAYLOADS

SITES = "raise:docs.python.org,lower:w3schools.com,block:spam.example"
COOKIE = {"Cookie": "settings=block:spam.example".replace("=", "=~")}
BOOSTS = (("docs.python.org", 2.0), ("w3schools.com", -2.0))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=30 * [HARBOUR])


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def post(site: Site, headers: dict[str, str] | None = None, **form: str) -> Answer:
    """Send a form of the settings page."""
    own = {"Content-Type": "application/x-www-form-urlencoded", "Origin": site.base}
    return site.get("/settings/sites", own | (headers or {}), method="POST", body=urlencode(form).encode())


def upload(site: Site, content: bytes, headers: dict[str, str] | None = None) -> Answer:
    """Send a file as a browser does."""
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="s.txt"\r\nContent-Type: text/plain\r\n\r\n'
    own = {"Content-Type": "multipart/form-data; boundary=B", "Origin": site.base} | (headers or {})
    return site.get("/settings/sites", own, method="POST", body=head + content + b"\r\n--B--\r\n")


def cookie(answer: Answer) -> str:
    assert answer.status == 303
    return answer.headers["set-cookie"].split("; ")[0].removeprefix("settings=")


# --- the search ---


def test_rules_in_the_url_reach_every_form_of_the_results(site: Site, engine: FakeEngine) -> None:
    for path in ("/search", "/search.rss", "/search.csv", "/api/search", "/api/v1/search"):
        assert site.get(path, q="old harbour", sites=SITES).status == 200
        asked = next(one for one in reversed(engine.asked) if "page" in one)
        assert (asked["query"], asked["site_boosts"]) == ("-site:spam.example (old harbour)", BOOSTS), path
    site.get("/why", q="x", url=HARBOUR.url, sites=SITES)
    assert engine.asked[-1]["site_boosts"] == BOOSTS
    site.get("/api/search", q="x", features="1", sites=SITES)
    assert engine.asked[-1]["site_boosts"] == BOOSTS


def test_a_search_without_rules_is_the_search_as_it_was(site: Site, engine: FakeEngine) -> None:
    site.get("/search?q=old+harbour")
    asked = next(one for one in engine.asked if "page" in one)
    assert (asked["query"], "site_boosts" in asked) == ("old harbour", False)


@pytest.mark.parametrize("sites", ["raise", "hide:a.example", "block:a b", ",".join(f"raise:a{n}" for n in range(60))])
def test_invalid_rules_are_explained(site: Site, sites: str) -> None:
    assert site.get("/search", q="x", sites=sites).status == 400
    answer = site.get("/api/search", q="x", sites=sites)
    assert answer.status == 400
    assert "about a site" in answer.json["error"] or "about sites" in answer.json["error"]


def test_links_of_the_page_keep_the_rules(site: Site) -> None:
    page = site.get("/search", q="x", sites=SITES).page
    links = [str(link.attrs["href"]) for link in page.select("nav.paging a, .exports a, .menu a[data-why]")]
    assert len(links) > 5
    assert all(f"sites={SITES}" in link for link in links)
    assert page.select("header input[name=sites]")[0].attrs["value"] == SITES


def test_saved_rules_apply_without_being_in_the_links(site: Site, engine: FakeEngine) -> None:
    page = site.get("/search?q=x", COOKIE).page
    assert next(one for one in engine.asked if "page" in one)["query"] == "-site:spam.example (x)"
    assert all("sites=" not in str(link.attrs["href"]) for link in page.select("nav.paging a, .menu a"))
    exports = [str(link.attrs["href"]) for link in page.select(".exports a")]
    assert all("sites=block:spam.example" in link for link in exports), "other programs have no cookie"
    site.get("/search?q=x&sites=all", COOKIE)
    assert [one for one in engine.asked if "page" in one][-1]["query"] == "x"
    site.get("/api/search?q=x", COOKIE)
    assert engine.asked[-1]["query"] == "x", "a program gets what it asks for"


def test_blocked_sites_are_not_words_of_the_query(engine: FakeEngine) -> None:
    engine.understood, engine.excluded = "-site:spam.example -rome x", ("site:spam.example", "rome")
    with searching(engine) as site:
        page = site.get("/search", q="x -rome", sites="block:spam.example").page
        assert [chip.text for chip in page.select(".understood dd.chip")] == ["rome"]
        assert page.select("#q")[0].attrs["value"] == "x -rome"


def test_fifty_blocked_sites_leave_the_whole_query() -> None:
    sites = decode(",".join(f"block:a-site-{number}.host.example" for number in range(MOST)))
    query = " ".join(f"word{number}" for number in range(60))
    asked = SearchParameters(query, sites=sites)
    parsed = parse_query(asked.search_text)
    assert parsed.hints == ()
    assert asked.without_filters(parsed.understood) == query
    assert asked.without_blocked(parsed.excluded) == ()
    assert len(parsed.excluded) == MOST


def test_more_than_fifty_site_exclusions_count_as_words() -> None:
    parsed = parse_query("-site:a.example " * 200 + "word")
    assert "Only the first 64 words were used." in parsed.hints


def test_a_link_has_the_same_rules() -> None:
    asked = read({"q": "x", "sites": SITES})
    assert asked.link() == f"/search?q=x&sites={SITES}"
    saved = decode("block:spam.example")
    assert read({"q": "x"}, saved_sites=saved).link() == "/search?q=x"
    assert read({"q": "x", "sites": "all"}, saved_sites=saved).link() == "/search?q=x&sites=all"


# --- what the page says and offers ---


def test_the_page_says_what_the_rules_change(site: Site) -> None:
    page = site.get("/search", q="x", sites="raise:a.example,raise:b.example,block:c.example").page
    (notice,) = page.select(".site-notice")
    assert notice.text.startswith("2 sites raised, 1 blocked:")
    links = {link.text: str(link.attrs["href"]) for link in notice.select("a")}
    assert links == {
        "Show all sites": "/search?q=x",
        "Save": "/settings?sites=raise:a.example,raise:b.example,block:c.example#sites",
    }
    assert not site.get("/search?q=x").page.select(".site-notice")


def test_the_page_offers_to_change_or_to_ignore_saved_rules() -> None:
    saved = decode("lower:a.example")
    notice = site_notice(read({"q": "x"}, saved_sites=saved))
    assert notice is not None
    assert notice == ("1 site lowered", (("Show all sites", "/search?q=x&sites=all"), ("Change", "/settings#sites")))
    off = site_notice(read({"q": "x", "sites": "all"}, saved_sites=saved))
    assert off == ("Your rules about sites are off", (("Use my rules", "/search?q=x"),))


def test_the_menu_of_a_result_changes_its_rule() -> None:
    rules = decode("raise:python.org,block:spam.example")
    kept = "block:spam.example"
    assert site_choices(rules, "docs.python.org") == (
        ("Lower", f"raise:python.org,{kept},lower:docs.python.org"),
        ("Block", f"raise:python.org,{kept},block:docs.python.org"),
        ("Stop raising", kept),
    )
    assert site_choices(rules, "www.python.org")[0] == ("Lower", f"{kept},lower:python.org")
    assert site_choices(decode("raise:a.example"), "a.example")[-1] == ("Stop raising", "all")
    assert site_choices(rules, "[::1]") == ()


def test_full_rules_can_only_be_removed() -> None:
    full = decode(",".join(f"raise:{number}.example" for number in range(MOST)))
    assert site_choices(full, "new.example") == ()
    assert [text for text, _ in site_choices(full, "7.example")] == ["Lower", "Block", "Stop raising"]


def test_a_search_that_blocked_sites_leave_empty_offers_them(engine: FakeEngine) -> None:
    engine.hits, engine.total, engine.found_by = (), 0, {"x": 7}
    with searching(engine) as site:
        page = site.get("/search", q="x", sites="block:spam.example").page
        (offer,) = page.select(".notice li")
        assert offer.text == "x, with the sites that you block: 7 pages"


# --- the settings ---


def test_rules_are_saved_removed_and_forgotten(site: Site) -> None:
    assert cookie(post(site, action="add", kind="raise", host="https://Docs.python.org/3/")) == "~raise:docs.python.org"
    both = {"Cookie": "settings=theme-dark~raise:a.example~block:b.example"}
    assert cookie(post(site, both, remove="a.example")) == "theme-dark~block:b.example"
    assert cookie(post(site, both, action="clear")) == "theme-dark"
    assert cookie(post(site, both, action="keep", sites="lower:c.example")) == "theme-dark~lower:c.example"
    saved = site.get("/settings", {"Origin": site.base} | both, method="POST", body=b"theme=light&keys=on")
    assert cookie(saved) == "theme-light~raise:a.example~block:b.example", "other settings keep the rules"


def test_the_settings_page_lists_the_rules_and_offers_those_of_a_search(site: Site) -> None:
    page = site.get("/settings?sites=block:c.example", {"Cookie": "settings=~raise:a.example~block:b.example"}).page
    assert [item.select("b")[0].text for item in page.select(".site-rules li")] == ["a.example", "b.example"]
    assert "c.example blocked" in page.select(".site-offer")[0].text
    assert page.select(".site-offer input")[0].attrs["value"] == "block:c.example"
    assert not site.get("/settings").page.select(".site-rules, .site-offer")


def test_rules_are_exported_and_imported_as_a_text_file(site: Site) -> None:
    saved = {"Cookie": "settings=~raise:a.example~block:b.example"}
    answer = site.get("/settings/sites.txt", saved)
    assert (answer.text, answer.headers["content-type"]) == (
        "raise a.example\nblock b.example\n",
        "text/plain; charset=utf-8",
    )
    assert cookie(upload(site, answer.body)) == "~raise:a.example~block:b.example"
    assert cookie(upload(site, "\ufefflower a.example".encode(), saved)) == "~lower:a.example~block:b.example"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"raise a.example\nhide b.example", 'line 2: "hide b.example" is no rule about a site'),
        (b"", "the file is empty"),
        (b"\xff\xfe\x00", "the file is no text in UTF-8"),
        (b"\n".join(b"block %d.example" % number for number in range(51)), "51 rules about sites: the limit is 50"),
    ],
)
def test_a_file_with_a_mistake_changes_nothing_and_is_explained(site: Site, content: bytes, sentence: str) -> None:
    answer = upload(site, content)
    assert (answer.status, "set-cookie" in answer.headers) == (400, False)
    assert sentence in answer.page.select("[role=alert]")[0].text


def test_other_sites_and_long_files_are_refused(site: Site) -> None:
    assert post(site, {"Origin": "http://evil.example"}, action="clear").status == 403
    assert upload(site, b"x" * 20_000).status == 413
    assert post(site, action="add", kind="raise", host="a b").status == 400
    assert post(site, action="add", kind="hide", host="a.example").status == 400


def test_no_rule_can_break_a_page(site: Site) -> None:
    for payload in PAYLOADS[::5]:
        for answer in (site.get("/search", q="x", sites=payload), post(site, action="add", kind="raise", host=payload)):
            assert answer.status == 400
            assert not answer.page.select("main script, main img, main svg, main iframe, main [onerror]")
        assert upload(site, f"raise {payload}".encode()[:9_000]).status in {303, 400}


# --- on a real index ---


def test_readers_raise_lower_and_block_sites_of_a_real_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    hosts = ("a.example", "docs.b.example", "c.example")
    docs = [
        Doc(f"https://{host}/{n}", f"Old harbour {n}", f"The old harbour of {host}, {n}.")
        for host in hosts
        for n in (1, 2)
    ]
    with library(tmp_path_factory.mktemp("rules") / "c", docs) as engine, searching(engine) as site:

        def found(sites: str = "") -> tuple[list[str], int]:
            answer = site.get("/api/search", q="old harbour", sites=sites).json
            return [hit["host"] for hit in answer["results"]], answer["total"]

        plain, total = found()
        assert total == 6
        assert found("raise:c.example")[0][:2] == ["c.example", "c.example"]
        assert found("lower:a.example")[0][-2:] == ["a.example", "a.example"]
        blocked, fewer = found("block:b.example")
        assert (fewer, "docs.b.example" in blocked) == (4, False)
        page = site.get("/search", q="old harbour", sites="block:b.example").page
        assert page.select(".summary")[0].text.startswith("4 results")
        assert found("raise:a.example,raise:docs.b.example,raise:c.example")[0] == plain
        why = site.get("/why", q="old harbour", url="https://c.example/1", sites="raise:c.example").page
        assert "You have raised or lowered this site" in why.select(".why")[0].text
        amounts = [float(row.select("td")[1].text) for row in why.select(".why tbody tr")]
        assert round(sum(amounts), 4) == float(why.select(".why tfoot td")[1].text)


def test_stored_answers_are_those_of_the_same_rules() -> None:
    engine = FakeEngine(hits=[HARBOUR, replace(HARBOUR, url="https://b.example/")], fingerprint="f")
    with searching(engine) as site:
        bodies = [
            site.get("/search", headers, q="x", sites=sites).page.select("main")[0].text
            for headers in ({}, COOKIE)
            for sites in ("", "raise:a.example", "block:a.example", "")
        ]
    notices = [body.count("1 site raised") - body.count("1 site blocked") for body in bodies]
    assert notices == [0, 1, -1, 0, -1, 1, -1, -1]
