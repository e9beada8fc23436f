"""A failed request is answered with one sentence, as HTML or JSON, without internals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from periplus.errors import DamagedFile, NoIndex, UsageError
from web.engines import FakeEngine
from web.serving import Site, searching


@contextmanager
def failing(error: Exception) -> Iterator[Site]:
    def fail() -> None:
        raise error

    with searching(FakeEngine(before=fail)) as site:
        yield site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine()) as served:
        yield served


def test_people_get_a_page_with_a_link(site: Site) -> None:
    answer = site.get("/nowhere")
    assert answer.status == 404
    assert answer.page.select("h1")[0].text == "Page not found"
    assert answer.page.select("form[role=search] input[name=q]")
    assert answer.page.select('main a[href="/"]')


def test_programs_get_json(site: Site) -> None:
    answer = site.get("/api/nowhere")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {"status": 404, "error": "Page not found."}


def test_another_method_gets_405_with_the_allowed_methods(site: Site) -> None:
    answer = site.get("/search", method="POST")
    assert answer.status == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_no_error_is_kept_by_a_cache(site: Site) -> None:
    for path in ("/nowhere", "/api/search", "/search?q=x&page=z"):
        assert site.get(path).headers["cache-control"] == "no-store"


def test_a_usage_error_is_shown_with_its_message() -> None:
    with failing(UsageError("the frobs are odd", "frobs are even", "Try two")) as site:
        answer = site.get("/api/search?q=x")
        assert (answer.status, answer.json["error"]) == (400, "The frobs are odd: frobs are even. Try two.")
        assert site.get("/search?q=x").page.select(".notice p")[1].text == answer.json["error"]


@pytest.mark.parametrize(
    "error", [NoIndex("/home/ann/secret has no index"), DamagedFile("/home/ann/secret is damaged")]
)
def test_trouble_with_the_collection_is_for_the_log_and_not_for_readers(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with failing(error) as site:
        for path in ("/search?q=x", "/api/search?q=x"):
            answer = site.get(path)
            assert answer.status == 503
            assert answer.headers["retry-after"] == "5"
            assert "/home" not in answer.text
    assert "/home/ann/secret" in caplog.text


def test_a_bug_shows_nothing_and_the_site_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with failing(ZeroDivisionError("the secret of /home/ann")) as site:
        for path in ("/search?q=x", "/api/search?q=x"):
            answer = site.get(path)
            assert answer.status == 500
            assert "/home" not in answer.text
            assert "Zero" not in answer.text
        assert site.get("/").status == 200
    assert "the secret of /home/ann" in caplog.text
