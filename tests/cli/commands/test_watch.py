"""`periplus watch` saves queries, reports what is new, and shows the state of webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import typed
from periplus.store.collection import Collection
from search.library import Doc, index, shelve
from standing.receiver import Receiver, receiving

OSTIA = Doc("http://a.test/", "Ostia", "the harbour of Rome")
PIRAEUS = Doc("http://b.test/", "Piraeus", "the harbour of Athens")


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, [OSTIA])
    index(found)
    return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as served:
        yield served


def test_a_query_is_saved_checked_listed_and_removed(collection: Collection) -> None:
    home = ("--home", collection.home)
    assert "no standing queries" in typed("watch", "list", *home).out
    saved = typed("watch", "add", "harbour", *home, "--json").json
    assert saved["feed"] == f"/standing/{saved['id']}.rss"
    assert typed("watch", "check", *home).out == "1 standing query, nothing new in generation 1.\n"
    shelve(collection.home, [PIRAEUS])
    index(collection)
    assert typed("watch", "check", *home).out == "1 page: harbour\n"
    assert typed("watch", "check", *home, "--json").json == {
        "generation": 2, "queries": 1, "found": {}, "deliveries": {}
    }  # fmt: skip
    headings, row = typed("watch", "list", *home).out.splitlines()
    assert headings.split() == ["id", "query", "items", "last", "check", "webhook"]
    assert row.split()[:3] == [saved["id"], "harbour", "1"]
    assert typed("watch", "remove", saved["id"], *home).out == "Removed harbour.\n"
    assert typed("watch", "list", *home, "--json").json == {"queries": []}


def test_the_failures_of_a_webhook_are_listed(collection: Collection, receiver: Receiver) -> None:
    home = ("--home", collection.home)
    typed("watch", "add", "harbour", "--webhook", receiver.url, *home)
    shelve(collection.home, [PIRAEUS])
    index(collection)
    refused = typed("watch", "check", *home)
    assert (refused.code, receiver.requests) == (0, [])
    assert "failed: its address is private" in refused.err
    (query,) = typed("watch", "list", *home, "--json").json["queries"]
    assert (query["webhook"], query["failures"], query["waiting"]) == (receiver.url, 1, 1)
    assert "1 failure in a row, 1 waiting, next attempt after 20" in typed("watch", "list", *home).out


def test_a_webhook_on_this_machine_needs_a_setting(collection: Collection, receiver: Receiver) -> None:
    (collection.home / "periplus.toml").write_text('[watch]\nprivate_addresses = ["127.0.0.1"]\n')
    home = ("--home", collection.home)
    name = typed("watch", "add", "harbour", "--webhook", receiver.url, *home, "--json").json["id"]
    shelve(collection.home, [PIRAEUS])
    index(collection)
    assert typed("watch", "check", *home, "--json").json["deliveries"] == {name: ""}
    assert [item["url"] for item in receiver.items] == [PIRAEUS.url]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["add", "..."], "no word to search for"),
        (["add", "harbour", "--webhook", "ftp://a.test/"], "ftp"),
        (["remove", "1234"], "there is no standing query '1234'. `periplus watch list` shows the ids."),
    ],
)
def test_a_mistake_is_one_line(collection: Collection, arguments: list[str], complaint: str) -> None:
    outcome = typed("watch", *arguments, "--home", collection.home)
    assert outcome.code == 2
    assert complaint in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_collection_without_an_index_says_what_to_do(tmp_path: Path) -> None:
    shelve(tmp_path, [OSTIA])
    assert "`periplus index` builds one" in typed("watch", "add", "harbour", "--home", tmp_path).err
