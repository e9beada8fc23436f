"""What is forgotten on a fleet is gone from its database, its object store and the node, and does not come back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crawl.crawling import environment, periplus, reach, typed
from fleet.bucket_files import download_everything
from forget.forgetting import HOST, HOST_PHRASE, PHRASE, SECRET, build, places_of, sites
from periplus.store.collection import create_collection, open_collection
from periplus.store.objects.open_store import open_store
from testweb import Page, TestWeb

pytestmark = pytest.mark.slow


def tables_with(url: str, *texts: str) -> set[str]:
    """The tables of a database in which one of the texts occurs, in any case."""
    found: set[str] = set()
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'periplus'").fetchall()
        for (name,) in names:
            for (row,) in connection.execute(f"SELECT lower(t::text) FROM periplus.{name} AS t".encode()):
                found.update({name} if any(text.lower() in row for text in texts) else ())
    return found


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True, options="-c search_path=periplus") as connection:
        connection.execute(statement.encode())


def settle(home: Path, postgres: str, bucket: str, node: str = "head") -> Path:
    """The folder of a node of the fleet."""
    create_collection(home)
    fleet = {"database": postgres, "storage": bucket, "node": node}
    settings = "".join(f'{name} = "{value}"\n' for name, value in fleet.items())
    (home / "periplus.toml").write_text(f"[fleet]\n{settings}")
    return home


def crawl(web: TestWeb, home: Path, *seeds: str, **flags: Any) -> None:
    """Crawl in a process of its own: after a fork, a process cannot use the library of the object store again."""
    outcome = periplus("crawl", *seeds, "--home", home, *reach(web), env=environment(**flags))
    assert outcome.code in (0, 1), outcome


def build_once(web: TestWeb, home: Path) -> None:
    """Crawl, rank and index; `build` does all of it several times."""
    crawl(web, home, SECRET)
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb(sites()) as web:
        yield web


@pytest.mark.parametrize(("name", "phrase"), [(SECRET, PHRASE), (HOST, HOST_PHRASE)], ids=["url", "host"])
def test_nothing_of_what_is_forgotten_is_left(
    tmp_path: Path, postgres: str, bucket: str, web: TestWeb, name: str, phrase: str
) -> None:
    home = settle(tmp_path / "home", postgres, bucket)
    build(web, home, crawl)
    assert not (home / "crawl.db").exists()
    assert {"urls", "fetches", "workers", "commands"} <= tables_with(postgres, name)
    before = "\n".join(places_of(download_everything(bucket, tmp_path / "before"), name))
    assert all(f"{folder}/" in before for folder in ("archive", "segments", "named/ranks", "named/index"))
    shutil.rmtree(home / "segments")  # a node that has only some of the files
    (home / "segments").mkdir()

    forgotten = typed("forget", name, "--yes", "--json", "--home", home)
    assert forgotten.code == 0, forgotten
    assert tables_with(postgres, name) == set()
    assert places_of(home, name, phrase) == []
    assert places_of(download_everything(bucket, tmp_path / "after"), name, phrase) == []
    assert typed("verify", "--forgotten", "--home", home).code == 0
    assert typed("verify", "--home", home).code == 0

    requests = len(web.log.entries())
    execute(postgres, "UPDATE urls SET due = 0")  # everything is recrawled
    crawl(web, home, "http://a.test/", "http://b.test/")
    asked = {entry.url for entry in web.log.entries()[requests:]}
    assert asked
    assert not {url for url in asked if name in url}
    assert tables_with(postgres, name) == set()


def test_what_came_back_into_the_object_store_is_found_and_removed_again(
    tmp_path: Path, postgres: str, bucket: str, web: TestWeb
) -> None:
    home = settle(tmp_path / "home", postgres, bucket)
    build_once(web, home)
    before = download_everything(bucket, tmp_path / "before")
    assert typed("forget", SECRET, "--yes", "--home", home).code == 0
    assert typed("verify", "--forgotten", "--home", home).code == 0

    store = open_store(bucket)  # a restored copy of the bucket
    for folder in ("archive", "segments", "ranks", "index"):
        for path in before.glob(f"{folder}/**/*"):
            if path.is_file() and path.name != "CURRENT":
                store.put_file(path.relative_to(before).as_posix(), path)
    found = typed("verify", "--forgotten", "--home", home)
    assert found.code == 1
    for folder in ("archive", "segments", "ranks", "index"):
        assert f"{bucket}/{folder}/" in found.out, found.out
    assert typed("forget", "--again", "--yes", "--home", home).code == 0
    assert places_of(download_everything(bucket, tmp_path / "after"), SECRET, PHRASE) == []
    assert typed("verify", "--forgotten", "--home", home).code == 0


def test_files_that_another_node_has_not_uploaded_are_not_missed(
    tmp_path: Path, postgres: str, bucket: str, web: TestWeb
) -> None:
    other = settle(tmp_path / "other", postgres, bucket, "node-b")
    crawl(web, other, SECRET)
    home = settle(tmp_path / "home", postgres, bucket)
    take_back(other, postgres, bucket)
    verified = typed("verify", "--home", home)
    assert verified.code == 0, verified
    assert "of node node-b, not uploaded" in verified.out
    refused = typed("forget", SECRET, "--yes", "--home", home)
    assert refused.code == 1
    assert "node-b has files that are not in the object store" in refused.complaint
    assert "Start that node" in refused.complaint
    assert {"urls", "fetches"} <= tables_with(postgres, SECRET), "nothing was changed"

    assert typed("forget", SECRET, "--yes", "--home", other).code == 0  # that node uploads them itself
    assert places_of(download_everything(bucket, tmp_path / "after"), SECRET, PHRASE) == []
    assert places_of(other, SECRET, PHRASE) == []
    assert typed("verify", "--forgotten", "--home", home).code == 0


def take_back(home: Path, postgres: str, bucket: str) -> None:
    """Undo the uploads of a node, as if the object store had not answered."""
    store = open_store(bucket)
    for folder in ("archive", "segments"):
        for name in [one.name for one in store.list(folder)]:
            store.get_file(name, home / name)
            store.delete([name])
    execute(postgres, "UPDATE archives SET stored = FALSE")
    execute(postgres, "UPDATE segments SET stored = FALSE")


def test_old_versions_of_another_node_are_pruned_when_it_has_uploaded_them(
    tmp_path: Path, postgres: str, bucket: str, web: TestWeb
) -> None:
    other = settle(tmp_path / "other", postgres, bucket, "node-b")
    for version in range(3):  # the last file of a worker is left alone
        web.site("a.test").pages["/secret-zanzibar"] = Page("Changed", f"Version {version}.")
        crawl(web, other, SECRET)
        execute(postgres, "UPDATE urls SET due = 0")  # it is recrawled
    home = settle(tmp_path / "home", postgres, bucket)
    limit = environment(store__keep_versions=1)
    execute(postgres, "UPDATE archives SET stored = FALSE")
    waiting = typed("prune", "--json", "--home", home, env=limit).json
    assert (waiting["files"], waiting["versions"]) == (0, 0)
    assert waiting["waiting"] > 0
    execute(postgres, "UPDATE archives SET stored = TRUE")
    assert typed("prune", "--json", "--home", home, env=limit).json["versions"] > 0
    assert list((home / "archive").iterdir()) == []
    assert typed("verify", "--home", home).code == 0


def test_a_node_that_is_crawling_is_named(tmp_path: Path, postgres: str, bucket: str, web: TestWeb) -> None:
    other = settle(tmp_path / "other", postgres, bucket, "node-b")
    crawl(web, other, SECRET)
    home = settle(tmp_path / "home", postgres, bucket)
    # The server has restarted since the node began: its lock is gone, its lease is not.
    execute(postgres, "UPDATE leases SET is_live = 1, ends = clock_timestamp() + interval '1 minute'")
    refused = typed("forget", SECRET, "--yes", "--home", home)
    assert refused.code == 1
    assert "node node-b is crawling" in refused.complaint
    assert {"urls", "fetches"} <= tables_with(postgres, SECRET), "nothing was changed"


def test_another_node_cannot_build_meanwhile_and_a_build_is_named(
    tmp_path: Path, postgres: str, bucket: str, web: TestWeb
) -> None:
    home, other = settle(tmp_path / "home", postgres, bucket), settle(tmp_path / "other", postgres, bucket, "node-b")
    build_once(web, home)
    with open_collection(home).building("forget", alone=True):
        for command in (["index"], ["rank"], ["index", "--rollback"]):
            refused = periplus(*command, "--home", other)
            assert (refused.code, refused.out) == (1, "")
            assert "`periplus forget on head` is writing it. Wait for it to end" in refused.err
    with open_collection(other).building("index"):
        refused = typed("forget", SECRET, "--yes", "--home", home)
        assert refused.code == 1
        assert "`periplus index on node-b` is writing it" in refused.complaint
    assert {"urls", "fetches"} <= tables_with(postgres, SECRET), "nothing was changed"
    assert periplus("index", "--home", other).code == 0
