"""An operator sees how the site is doing; strangers do not."""

from __future__ import annotations

import pytest

from periplus.config import Serving
from site_figures import figures
from web.engines import FakeEngine
from web.serving import searching


def test_requests_and_searches_are_counted() -> None:
    with searching(FakeEngine(fingerprint="1")) as site:
        for path in ("/search?q=a", "/search?q=a", "/api/search?q=b", "/api/search", "/none", "/static/style.css"):
            site.get(path)
        found = figures(site.get("/metrics").text)
    assert found['periplus_http_requests_total{route="/search",status="200"}'] == 2
    assert found['periplus_http_requests_total{route="/api/search",status="200"}'] == 1
    assert found['periplus_http_requests_total{route="/api/search",status="400"}'] == 1
    assert found['periplus_http_requests_total{route="other",status="404"}'] == 1
    assert found['periplus_http_requests_total{route="/static",status="200"}'] == 1
    assert found['periplus_http_request_seconds_count{route="/search"}'] == 2
    assert found['periplus_http_request_seconds_bucket{route="/search",le="+Inf"}'] == 2
    assert found["periplus_searches_total"] == 2
    assert found['periplus_search_step_seconds_total{step="candidates"}'] == pytest.approx(2 * 0.0081)
    assert found['periplus_cache_hits_total{cache="memory"}'] == 1
    assert (found["periplus_index_generation"], found["periplus_index_documents"]) == (7, 12_345)
    assert found["periplus_search_queue_length"] == 0
    assert found["process_resident_memory_bytes"] > 10_000_000
    assert found["process_cpu_seconds_total"] > 0


def test_refused_requests_are_counted() -> None:
    with searching(FakeEngine(), Serving(rate_limit=0.01, rate_burst=1)) as site:
        for _ in range(3):
            site.get("/")
        found = figures(site.get("/metrics").text)
    assert found['periplus_http_refused_total{reason="rate"}'] == 2


@pytest.mark.parametrize(
    ("settings", "headers", "status"),
    [
        (Serving(), {}, 200),
        (Serving(), {"X-Forwarded-For": "127.0.0.1"}, 404),
        (Serving(), {"Forwarded": "for=127.0.0.1"}, 404),
        (Serving(trusted_proxies=["127.0.0.1"]), {"X-Forwarded-For": "203.0.113.7"}, 404),
        (Serving(trusted_proxies=["127.0.0.1"]), {"X-Forwarded-For": "127.0.0.1"}, 404),
        (Serving(metrics=True, trusted_proxies=["127.0.0.1"]), {"X-Forwarded-For": "203.0.113.7"}, 200),
    ],
)
def test_only_this_machine_sees_the_figures(settings: Serving, headers: dict[str, str], status: int) -> None:
    with searching(FakeEngine(), settings) as site:
        assert site.get("/metrics", headers).status == status


def test_paths_of_strangers_are_no_labels() -> None:
    with searching(FakeEngine()) as site:
        for number in range(20):
            site.get(f"/none/{number}")
        assert "/none" not in site.get("/metrics").text


def test_the_content_type_is_that_of_prometheus() -> None:
    with searching(FakeEngine()) as site:
        answer = site.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
