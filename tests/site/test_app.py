"""A request with a too long URL is refused before it reaches a handler."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from web.engines import FakeEngine
from web.serving import Site, searching


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def test_an_address_of_forty_thousand_characters_is_refused_unread(site: Site, engine: FakeEngine) -> None:
    for path in ("/search", "/api/search", "/cached"):
        answer = site.get(path, q=40_000 * "a")
        assert answer.status == 414
        assert "Request too long" in answer.text
    assert not engine.asked


def test_the_longest_query_fits_however_it_is_written(site: Site, engine: FakeEngine) -> None:
    query = 2_048 * "\N{SAILBOAT}"
    assert site.get("/search", q=query).status == 200
    assert engine.asked[0]["query"] == query


@pytest.mark.parametrize("path", ["/search/", "//evil.example/", "/healthz/"])
def test_there_is_no_redirect_that_a_forged_host_could_use(site: Site, path: str) -> None:
    answer = site.get(path, {"Host": "evil.example"})
    assert answer.status == 404
    assert "location" not in answer.headers


def test_a_head_request_is_answered_like_a_get_without_its_body(site: Site) -> None:
    answer = site.get("/", method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
