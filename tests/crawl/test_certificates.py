"""Are sites with bad certificates refused, with the reason?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, sound, state_of
from periplus.inspector.url_report import url_history
from periplus.model import UrlState
from testweb import Page, Site, TestWeb

BAD = {"old.test": "tls_expired", "other.test": "tls_name", "own.test": "tls_issuer"}


@pytest.fixture(scope="module")
def web() -> Iterator[TestWeb]:
    pages = {"/": Page("Home", links=["/next"]), "/next": Page("Next")}
    sites = [
        Site("old.test", pages, certificate="expired"),
        Site("other.test", pages, certificate="wrong-name"),
        Site("own.test", pages, certificate="self-signed"),
        Site("good.test", pages),
    ]
    with TestWeb(sites, https=True) as running:
        yield running


def seeds() -> list[str]:
    return [f"https://{host}/" for host in (*BAD, "good.test")]


def test_a_site_with_a_bad_certificate_is_not_crawled_and_the_reason_is_named(web: TestWeb, tmp_path: Path) -> None:
    web.log.clear()
    result = run_crawl(web, tmp_path, *seeds(), fetch__ca_file=str(web.ca_file))
    assert {entry.host for entry in web.log.entries()} == {"good.test"}
    assert result.summary["fetched"] == 2
    assert result.summary["errors"] == {f"robots_{reason}": 1 for reason in BAD.values()}
    for host, reason in BAD.items():
        assert state_of(tmp_path, f"https://{host}/")[0] == UrlState.QUEUED
        with catalog_of(tmp_path) as catalog:
            policy = catalog.policy(host)
        assert policy is not None
        assert policy.why.startswith(f"robots.txt unreachable: {reason} SSL")
    sound(tmp_path)


def test_a_bad_certificate_can_be_recorded_instead(web: TestWeb, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"fetch__ca_file": str(web.ca_file), "fetch__tls_errors": "record"}
    result = run_crawl(web, tmp_path, *seeds(), **settings)
    assert (result.summary["fetched"], result.summary["errors"]) == (8, {})
    with catalog_of(tmp_path) as catalog:
        for host in (*BAD, "good.test"):
            history = url_history(catalog, settings_for(web, **settings), f"https://{host}/next")
            (fetch,) = history["fetches"]
            assert (fetch["verdict"], fetch["reason"]) == ("fetched", "ok")
            expected = f"invalid certificate: {BAD[host]} (SSL" if host in BAD else ""
            assert fetch["detail"].startswith(expected)
            assert bool(fetch["detail"]) == (host in BAD)
    assert all(web.log.max_connections(host) == 1 for host in BAD)
    sound(tmp_path)
