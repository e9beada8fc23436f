"""A head crawls, indexes and serves what it and a crawl node fetch; the crawl node only knows the fleet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawl.crawling import environment, start
from fleet.local_fleet import LocalFleet, contact
from live.running import Up, until, up
from testweb import Page, Site, TestWeb

pytestmark = pytest.mark.slow

HOSTS = 25
SETTINGS = """
[identity]
contact = "{contact}"
[scope]
hosts = ['.*\\.test']
[politeness]
delay = 0.5
[fetch]
allow_private = true
connect_to = {connect_to}
"""


@pytest.fixture
def web() -> Iterator[TestWeb]:
    def pages(number: int) -> dict[str, Page]:
        following = [f"http://s{number + 1}.test/"] if number + 1 < HOSTS else []
        return {"/": Page(f"Site {number}", f"The harbour of wharf{number}.", links=following)}

    with TestWeb([Site(f"s{number}.test", pages(number)) for number in range(HOSTS)]) as web:
        yield web


def is_found(running: Up, url: str) -> bool:
    word = url.removeprefix("http://s").partition(".")[0]
    answer = running.site.get("/api/search", q=f"wharf{word}")
    return answer.status == 200 and url in [hit["url"] for hit in answer.json["results"]]


def test_pages_of_a_head_and_of_a_crawl_node_are_found_on_the_head(web: TestWeb, tmp_path: Path, postgres: str) -> None:
    head, storage = tmp_path / "a", tmp_path / "objects"
    head.mkdir()
    storage.mkdir()
    text = SETTINGS.format(contact=contact("a"), connect_to=list(web.connect_to))
    (head / "periplus.toml").write_text(text)
    shared = {"fleet__database": postgres, "fleet__storage": f"file://{storage}", "fleet__upload_seconds": 1.0}
    envs = {name: environment(**shared, fleet__node=name, store__segment_seconds=0.5) for name in "ab"}
    for env in envs.values():
        del env["PERIPLUS_POLITENESS__DELAY"]  # the published one
    fleet = LocalFleet(tmp_path, postgres, web)
    fetched_by = (
        "SELECT url, node FROM fetches JOIN archives USING (archive_id) JOIN fleet_workers ON worker = worker_id"
        " WHERE verdict = 'fetched' AND stored"
    )
    with closing(fleet):
        fleet.nodes["b"] = start("worker", "--home", tmp_path / "b", env=envs["b"], start_new_session=True)
        with up(web, head, "http://s0.test/", env=envs["a"]) as running:
            until(lambda: len(fleet.rows(fetched_by)) == HOSTS)
            nodes = {node: url for url, node in fleet.rows(fetched_by)}
            assert set(nodes) == {"a", "b"}, "both have fetched"
            for url in nodes.values():
                until(lambda url=url: is_found(running, url))  # type: ignore[misc]
            until(lambda: running.documents() == HOSTS)
            assert running.stop().code == 0
        fleet.nodes["b"].terminate()
        assert fleet.wait("b") == {"b": 0}
    assert contact("a") in (tmp_path / "b" / "periplus.toml").read_text(), "the settings of the head"
    assert all(contact("a") in entry.user_agent for entry in web.log.entries())
