"""Standing queries are listed, removed and read, also where there are none."""

from __future__ import annotations

from pathlib import Path

from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import create_collection
from search.library import Doc, index, opened, shelve


def test_a_collection_without_standing_queries_has_no_feed(tmp_path: Path) -> None:
    saved = SavedQueries(create_collection(tmp_path))
    assert saved.all() == []
    assert saved.feed("x") is None
    assert saved.remove("x") is None
    assert not (tmp_path / "standing").exists()


def test_a_saved_query_has_a_feed_until_it_is_removed(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "Ostia", "the harbour")])
    index(collection)
    saved = SavedQueries(collection)
    with opened(collection) as engine:
        query = saved.add(engine, "harbour", "example.org/hook")
    assert query.webhook == "https://example.org/hook"
    assert saved.all() == [query]
    feed = saved.feed(query.id)
    assert feed is not None
    assert (feed.query, feed.items) == (query, [])
    assert saved.remove(query.id) == query
    assert saved.feed(query.id) is None
