"""The site knows how much it searches, and how fresh that is."""

from __future__ import annotations

import time
from pathlib import Path

from periplus import __version__
from search.library import Doc, index, opened, shelve


def test_the_figures_are_those_of_the_live_index(tmp_path: Path) -> None:
    docs = [
        Doc("http://a.test/1", "One", "first", at=1_700_000_000.0),
        Doc("http://a.test/2", "Two", "second", at=1_700_000_900.0),
        Doc("http://b.test/", "Drei", "dritte", language="de", at=1_700_000_100.0),
    ]
    collection = shelve(tmp_path, docs)
    index(collection)
    with opened(collection) as engine:
        facts = engine.facts()
        assert facts is engine.facts(), "computed once"
    assert (facts.documents, facts.hosts, facts.generation) == (3, 2, 1)
    assert facts.languages == {"en": 2, "de": 1}
    assert facts.newest == 1_700_000_900.0
    assert abs(facts.built_at - time.time()) < 600
    assert facts.release == __version__
