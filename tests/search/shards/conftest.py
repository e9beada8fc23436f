"""One generated collection for all tests of shards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.search.engine import SearchEngine
from search.library import settings
from search.shards.generated import Both, Libraries, libraries

PAGES = 700


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    return libraries(tmp_path_factory.mktemp("shards"), PAGES)


@pytest.fixture(scope="session")
def both(collections: Libraries) -> Iterator[Both]:
    engines = Both(*(SearchEngine.open(collection, settings()) for collection in collections))
    yield engines
    for engine in engines:
        engine.close()
