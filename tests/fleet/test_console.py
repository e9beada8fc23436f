"""The console and `periplus status` show every node of a fleet, and end one of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from console.filled import showing, token_of
from crawl.crawling import typed
from fleet.local_fleet import LocalFleet, wait_until
from periplus.store.collection import create_collection
from periplus.store.shares import SHARES
from testweb import TestWeb, many_hosts
from web.owning import send
from web.serving import Site

pytestmark = pytest.mark.slow


@pytest.fixture
def fleet(tmp_path: Path, postgres: str) -> Iterator[LocalFleet]:
    (tmp_path / "objects").mkdir()
    storage = f"file://{tmp_path}/objects"
    with (
        TestWeb(many_hosts(40, 30)) as web,
        closing(LocalFleet(tmp_path, postgres, web, fleet__storage=storage)) as fleet,
    ):
        fleet.seed("http://h0001.test/")
        yield fleet


def nodes(site: Site) -> dict[str, dict[str, Any]]:
    return {node["node"]: node for node in site.get("/console/api/workers").json["nodes"]}


def test_all_nodes_are_seen_and_one_is_told_to_end(fleet: LocalFleet, tmp_path: Path) -> None:
    home = tmp_path / "head"
    home.mkdir()
    (home / "periplus.toml").write_text(f'[fleet]\ndatabase = "{fleet.url}"\nnode = "head"\n')
    create_collection(home)
    fleet.start("a", "b", until_done=False)
    with showing(home) as site:
        wait_until(lambda: all(nodes(site).get(name, {}).get("pages_per_second") for name in "ab"))
        wait_until(lambda: any(node["visits"] for node in nodes(site).values()))
        found = nodes(site)
        assert {node["state"] for node in found.values()} == {"live"}
        assert sum(node["registered"]["shares"] for node in found.values()) == SHARES
        assert all(node["registered"]["joined"] <= node["registered"]["seen"] for node in found.values())

        fleet.signal("a", signal.SIGKILL)
        wait_until(lambda: nodes(site)["a"]["state"] == "silent")
        page = site.get("/console/workers").text
        assert "silent: last seen" in page
        assert 'aria-label="b"' in page
        assert 'aria-label="a"' not in page, "a silent node cannot be told anything"
        status = typed("status", "--home", home)
        assert "a: silent since" in status.out
        assert "b: 1 worker" in status.out

        form = {"token": token_of(site), "back": "/console/workers", "node": "b", "confirmed": "1"}
        answer = send(site, "/console/do/drain", form)
        assert answer.status == 303, answer.text
        assert fleet.wait("b", timeout=60) == {"b": 0}
        assert "b" not in nodes(site), "it has left"
