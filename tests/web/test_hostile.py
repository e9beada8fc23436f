"""Hostile text in pages or queries stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import turbohtml

from periplus.model import CachedPage, FacetCounts, Hit
from shared_data import shared
from web.engines import CRAWLED, HARBOUR, FakeEngine
from web.serving import Site, searching

PAYLOADS = [
    line.strip() for line in shared("hostile/xss_payloads.txt").read_text(encoding="utf-8").splitlines() if line.strip()
]
NAUGHTY: list[str] = json.loads(shared("hostile/naughty_strings.json").read_text(encoding="utf-8"))
AT_ONCE = 100


def poisoned(payload: str) -> Hit:
    """A hit with the payload in every field that can hold it."""
    return replace(
        HARBOUR,
        url=payload if ":" in payload else f"http://a.example/{payload}",
        title=payload,
        snippet=payload,
        highlights=((1, 4), (6, 9)),
        host=payload,
        mime=payload,
        language=payload,
        all_words=False,
        missing=(payload,),
        same_content=(payload, f"http://a.example/{payload}"),
        explain={payload: 1.0},
    )


@pytest.fixture(scope="module")
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture(scope="module")
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def assert_harmless(page: turbohtml.Document, schemes: tuple[str, ...] = ()) -> None:
    assert all(
        re.fullmatch(r"/static/[a-z]+\.[0-9a-f]{16}\.js", str(one.attrs["src"])) for one in page.select("script")
    )
    assert not page.select("script:not([src]), style, object, embed, iframe, base, meta[http-equiv]")
    assert all(str(script.attrs["src"]).startswith("/static/") for script in page.select("script"))
    for node in page.select("*"):
        assert not [name for name in node.attrs if name.startswith("on") or name in {"style", "srcdoc"}]
        for name in ("href", "src", "action", "xlink:href"):
            assert str(node.attrs.get(name, "/")).startswith(("/", "#", "http://", "https://", *schemes))


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), AT_ONCE))
def test_no_payload_in_a_result_becomes_markup(site: Site, engine: FakeEngine, start: int) -> None:
    engine.hits = [poisoned(payload) for payload in PAYLOADS[start : start + AT_ONCE]]
    page = site.get("/search", q="x", size=AT_ONCE).page
    assert_harmless(page)
    shown = [hit.select("h2")[0].text for hit in page.select("li.hit")]
    assert len(shown) == len(engine.hits)
    for text, payload in zip(shown, PAYLOADS[start:], strict=False):
        assert text.split() == payload.split()


def test_no_payload_in_the_query_becomes_markup(site: Site, engine: FakeEngine) -> None:
    engine.hits = []
    for payload in PAYLOADS:
        engine.hints, engine.understood, engine.left_out = (payload,), f"{payload} understood", (payload,)
        engine.suggestion, engine.excluded, engine.found_by = payload, (payload,), {payload: 3}
        page = site.get("/search", q=payload, site="a.example").page
        assert_harmless(page)
        assert page.select("input[name=q]")[0].attrs["value"] == payload
    engine.hints, engine.understood, engine.left_out, engine.suggestion = (), None, (), ""
    engine.excluded, engine.found_by = (), {}


def test_no_payload_in_the_names_of_filters_becomes_markup(site: Site, engine: FakeEngine) -> None:
    engine.hits = [HARBOUR]
    for payload in PAYLOADS:
        named = ((payload, 1),)
        engine.counts, engine.total = FacetCounts(named, (), named, hosts={payload: 1}), 2
        assert_harmless(site.get("/search", q="x").page)
    engine.counts, engine.total = FacetCounts(), None


def test_no_payload_in_an_explanation_becomes_markup(site: Site, engine: FakeEngine) -> None:
    engine.hits = [poisoned(payload) for payload in PAYLOADS]
    for hit, payload in zip(engine.hits, PAYLOADS, strict=True):
        page = site.get("/why", q=payload, url=hit.url).page
        assert_harmless(page)
        assert payload.replace("_", " ").split() == page.select("tbody th")[0].text.split()


@pytest.mark.parametrize("path", ["/cached", "/search", "/why"])
def test_no_payload_in_an_error_becomes_markup(site: Site, path: str) -> None:
    for payload in PAYLOADS:
        assert_harmless(site.get(path, q="x", page=payload, url=payload).page)


def test_no_payload_in_the_frame_of_a_copy_becomes_markup(site: Site, engine: FakeEngine) -> None:
    engine.archive = {payload: CachedPage(payload, CRAWLED, payload, b"", payload) for payload in PAYLOADS}
    for payload in PAYLOADS:
        page = site.get("/cached", url=payload).page
        assert_harmless(page)
        assert payload.split()[0] in page.select(".about")[0].text


def test_no_payload_leaves_the_json(site: Site, engine: FakeEngine) -> None:
    engine.hits = [poisoned(payload) for payload in PAYLOADS[:AT_ONCE]]
    answer = site.get("/api/search", q=PAYLOADS[0], size=AT_ONCE, explain=1)
    assert answer.headers["content-type"] == "application/json"
    assert [result["title"] for result in answer.json["results"]] == PAYLOADS[:AT_ONCE]


def test_every_naughty_string_is_a_query(site: Site, engine: FakeEngine) -> None:
    engine.hits = [HARBOUR]
    for text in NAUGHTY:
        page, program = site.get("/search", q=text), site.get("/api/search", q=text)
        if text.strip():
            assert (page.status, program.status) == (200, 200)
            assert program.json["query"] == text.strip()
            assert_harmless(page.page)
        else:
            assert (page.status, program.status) == (303, 400)


def test_every_naughty_string_can_stand_in_a_result(site: Site, engine: FakeEngine) -> None:
    for start in range(0, len(NAUGHTY), AT_ONCE):
        engine.hits = [poisoned(text) for text in NAUGHTY[start : start + AT_ONCE]]
        page = site.get("/search", q="x", size=AT_ONCE).page
        assert len(page.select("li.hit")) == len(engine.hits)
        assert_harmless(page)


@pytest.mark.parametrize(
    "path",
    ["/search?q=%FF%FE", "/search?q=%ED%A0%80", "/search?q=%00", "/search?q=%", "/search?q=%zz", "/cached?url=%00"],
)
@pytest.mark.parametrize("prefix", ["", "/api"])
def test_broken_escapes_are_answered(site: Site, path: str, prefix: str) -> None:
    assert site.get(prefix + path).status in {200, 303, 400, 404}
