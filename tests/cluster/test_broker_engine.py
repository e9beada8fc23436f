"""A site over shards on other machines answers as a site over one index does."""

from __future__ import annotations

import inspect
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cluster.divided import SHARDS, divided, shard_nodes
from cluster.processes import wait_until
from periplus.cluster.broker_engine import BrokerEngine, RemoteGenerations
from periplus.cluster.fan_out import FanOut
from periplus.cluster.nodes import Nodes
from periplus.cluster.protocol import weights_id
from periplus.cluster.shard_source import LiveShardSource
from periplus.config import Settings
from periplus.errors import PeriplusError, ShardsUnavailable
from periplus.search.cache.result_cache import generation_id
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.web.engine_port import Engine
from search.library import Doc, index, opened, settings, shelve, urls
from web.serving import Site

QUERIES = [
    "harbour",
    "rope ship",
    "harbuor lite",
    '"pilot book"',
    "tide -storm",
    "site:site3.test anchor",
    "zzz",
    "page 7",
]
WITHOUT_TIMES = {"seconds": 0.0, "steps": {}}
EACH = [[shard] for shard in range(SHARDS)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return divided(tmp_path_factory.mktemp("divided"))


@pytest.fixture(scope="module")
def single(collection: Collection) -> Iterator[ReloadingEngine]:
    with closing(ReloadingEngine(collection, settings(serve__cache_mb=0))) as engine:
        yield engine


@pytest.fixture(scope="module")
def nodes(collection: Collection) -> Iterator[list[Site]]:
    with shard_nodes(collection, *EACH) as sites:
        yield sites


@pytest.fixture(scope="module")
def broker(collection: Collection, nodes: list[Site]) -> Iterator[BrokerEngine]:
    with closing(BrokerEngine(collection, patient(serve__cache_mb=0), [site.base for site in nodes])) as engine:
        yield engine


def patient(**flags: Any) -> Settings:
    """Settings of a broker for a busy machine: it waits long enough for a node that is not dead."""
    return settings(serve__node_timeout=30.0, **flags)


def plain(value: Any) -> Any:
    """A value without the times that searches take."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [name for name in WITHOUT_TIMES if hasattr(value, name)]
        return replace(value, **{name: WITHOUT_TIMES[name] for name in names})
    return value


URL = "http://site3.test/"
CALLS: dict[str, Callable[[Engine, str], Any]] = {
    "search": lambda engine, query: engine.search(query, size=20, explain=True),
    "feature_table": lambda engine, query: engine.feature_table(query, 30),
    "facets": lambda engine, query: engine.facets(query, dates=["2023-08-01"], hosts=["site1.test"]),
    "count": lambda engine, query: engine.count(query),
    "news": lambda engine, query: engine.news(query, size=10),
    "count_news": lambda engine, query: engine.count_news(query),
    "media": lambda engine, query: engine.media(query, "image"),
    "count_media": lambda engine, query: engine.count_media(query, "image"),
    "explanation": lambda engine, query: [engine.explanation(query, url) for url in urls(engine.search(query))[:2]],
    "page_words": lambda engine, query: [engine.page_words(url) for url in urls(engine.search(query))[:2]],
    "best_texts": lambda engine, query: engine.best_texts(query, 5),
    "cached": lambda engine, query: [engine.cached(url) for url in [URL, *urls(engine.search(query))[:2]]],
    "complete": lambda engine, query: engine.complete(query[:3]),
    "related": lambda engine, query: engine.related(query, urls(engine.search(query))),
    "facts": lambda engine, _: engine.facts(),
    "generation": lambda engine, _: engine.generation,
    "fingerprint": lambda engine, _: bool(engine.fingerprint),
    "is_damaged": lambda engine, _: engine.is_damaged,
    "documents": lambda engine, _: engine.documents,
}


def test_every_method_of_an_engine_is_compared() -> None:
    assert CALLS.keys() == {name for name, _ in inspect.getmembers(Engine) if not name.startswith("_")}


@pytest.mark.parametrize("method", CALLS)
def test_a_broker_answers_as_one_process_does(method: str, single: ReloadingEngine, broker: BrokerEngine) -> None:
    for query in QUERIES:
        assert plain(CALLS[method](broker, query)) == plain(CALLS[method](single, query)), query


@pytest.mark.slow
def test_the_ten_best_are_those_of_one_index_when_far_more_pages_match_than_are_scored(tmp_path: Path) -> None:
    chosen, words = random.Random(11), [f"{first}{second}a" for first in "bdfgklmnprst" for second in "aeio"]
    often = [1 / (place + 3) for place in range(len(words))]
    docs = [
        Doc(
            f"http://site{number % 40}.test/{number}",
            " ".join(chosen.choices(words, often, k=3)),
            " ".join(chosen.choices(words, often, k=40)),
        )
        for number in range(2_400)
    ]
    collection, candidates = shelve(tmp_path, docs), 100
    queries = [" ".join(chosen.sample(words, 1 + number % 3)) for number in range(240)]
    index(collection)
    flags = {"serve__cache_mb": 0, "ranking__candidates": candidates}
    with opened(collection, **flags) as one:
        index(collection, shards=SHARDS)
        with (
            shard_nodes(collection, *EACH, weights=settings(**flags).ranking) as sites,
            closing(BrokerEngine(collection, patient(**flags), [site.base for site in sites])) as engine,
        ):
            pairs = [(one.search(query), engine.search(query)) for query in queries]
    assert sum(found.total > 3 * candidates for found, _ in pairs) > 200
    assert [found.total for found, _ in pairs] == [found.total for _, found in pairs]
    assert all(found.missing_shards == () for _, found in pairs)
    common = sum(len({*urls(found)} & {*urls(merged)}) for found, merged in pairs)
    assert common >= 0.99 * sum(len(found.hits) for found, _ in pairs)


def test_all_shards_are_asked(broker: BrokerEngine) -> None:
    found = broker.search("harbour", size=100)
    assert (found.missing_shards, found.shards, found.total_is_exact) == ((), SHARDS, True)
    health = broker.cluster.health()
    assert (health.status, health.missing, len(health.nodes)) == ("ok", (), SHARDS)


def test_results_without_a_shard_are_partial_and_not_stored(collection: Collection, nodes: list[Site]) -> None:
    some = [site.base for site in nodes[:-1]]
    with closing(BrokerEngine(collection, patient(), some)) as engine:
        found = engine.search("harbour", size=100)
        assert (found.missing_shards, found.shards, found.total_is_exact) == ((SHARDS - 1,), SHARDS, False)
        assert 0 < found.total < 80
        assert len(found.hits) == found.total
        assert engine.fingerprint == ""
        assert engine.search("harbour", size=100).steps.keys() != {"cache"}
        assert engine.cluster.health().status == "partial"
        images = engine.media("harbour", "image")
        assert (images.missing_shards, images.shards, images.total_is_exact) == ((SHARDS - 1,), SHARDS, False)
        assert engine.news("harbour").missing_shards == (SHARDS - 1,)
        assert sum(count for _, count in engine.facets("harbour").sites) < 80


def test_complete_results_follow_when_the_shard_is_back(
    collection: Collection, nodes: list[Site], broker: BrokerEngine
) -> None:
    with ExitStack() as running, ExitStack() as stack:
        (last,) = running.enter_context(shard_nodes(collection, [3]))
        all_nodes = [*(site.base for site in nodes[:-1]), last.base]
        engine = stack.enter_context(closing(BrokerEngine(collection, patient(), all_nodes)))
        whole = engine.search("rope ship", size=100)
        assert whole.missing_shards == ()
        running.close()
        partial = engine.search("anchor sail", size=100)
        assert partial.missing_shards == (3,)
        assert engine.search("rope ship", size=100).total == whole.total, "the result cache has it"
        facets = engine.facets("anchor sail")
        running.enter_context(shard_nodes(collection, [3], port=last.port))
        wait_until(lambda: engine.cluster.health().status == "ok")
        assert plain(engine.search("anchor sail", size=100)) == plain(broker.search("anchor sail", size=100))
        assert partial.total < engine.search("anchor sail", size=100).total
        assert engine.facets("anchor sail") == broker.facets("anchor sail") != facets
        assert engine.media("anchor sail", "image").hits == broker.media("anchor sail", "image").hits


def test_without_any_shard_there_is_no_answer(collection: Collection) -> None:
    with closing(BrokerEngine(collection, patient(), ["http://127.0.0.1:9"])) as engine:
        with pytest.raises(ShardsUnavailable):
            engine.search("harbour")
        assert engine.cluster.health().status == "unavailable"


def test_while_a_node_has_other_weights_no_result_is_stored_and_the_log_names_the_node(
    collection: Collection, nodes: list[Site], caplog: pytest.LogCaptureFixture
) -> None:
    flags = {"ranking__title": 9.0}
    with ExitStack() as stack:
        other = stack.enter_context(shard_nodes(collection, [0], weights=settings(**flags).ranking))
        bases = [site.base for site in (*nodes[1:], *other)]
        engine = stack.enter_context(closing(BrokerEngine(collection, patient(), bases)))
        assert engine.fingerprint == ""
        for _ in range(2):
            assert engine.search("quay crew").steps.keys() != {"cache"}
        wait_until(lambda: "has other weights in [ranking]" in caplog.text)
        (named,) = [message for message in caplog.messages if "other weights" in message]
        assert f"node {other[0].base} has" in named
    with closing(BrokerEngine(collection, patient(), [site.base for site in nodes])) as engine:
        assert engine.fingerprint
        assert [engine.search("quay crew").steps.keys() == {"cache"} for _ in range(2)] == [False, True]


@dataclass
class MadeAvailability:
    """Nodes that have chosen shards of generations."""

    shards: dict[str, set[int]]

    def available(self, generation: str) -> set[int]:
        return self.shards.get(generation, set())


@pytest.mark.parametrize(
    ("counts", "having", "chosen"),
    [
        ((4, 8), (4, 4), 0),
        ((4, 8), (4, 7), 0),
        ((4, 8), (4, 8), 1),
        ((4, 8), (2, 4), 1),
        ((4, 8), (0, 4), 1),
        ((8, 4), (8, 2), 0),
        ((8, 4), (8, 4), 1),
        ((8, 4), (6, 3), 1),
        ((8, 4), (4, 1), 0),
        ((8, 4), (0, 0), 1),
    ],
)
def test_a_broker_changes_when_the_nodes_have_as_large_a_share_of_the_new_index(
    grown: Collection, shrunk: Collection, counts: tuple[int, int], having: tuple[int, int], chosen: int
) -> None:
    collection = grown if counts == (4, 8) else shrunk
    folders = Generations(collection.index, INDEX_KIND).complete()
    ids = [generation_id(folder) for folder in folders]
    made = MadeAvailability({name: set(range(number)) for name, number in zip(ids, having, strict=True)})
    remote = RemoteGenerations(collection, cast("Nodes", made), cast("FanOut", None))
    engine = cast("SearchEngine", SimpleNamespace(folder=folders[0]))
    assert remote.is_current(engine) is (chosen == 0), "a broker that searches the first generation"
    assert remote._best(None) == folders[chosen], "a broker that starts"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Its first generation has 4 shards, its second one 8."""
    return rebuilt(tmp_path_factory.mktemp("grown"), 4, 8)


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Its first generation has 8 shards, its second one 4."""
    return rebuilt(tmp_path_factory.mktemp("shrunk"), 8, 4)


def rebuilt(home: Path, before: int, after: int) -> Collection:
    collection = divided(home, 20, before)
    shelve(home, [Doc("http://new.test/", "A new harbour", "harbour")])
    index(collection, shards=after)
    return collection


def test_a_node_reads_new_weights_as_a_broker_does(collection: Collection, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(collection.home / "collection.json", home)
    (home / "index").symlink_to(collection.index)
    source = LiveShardSource(open_collection(home), [0], settings().ranking)
    before = source.weights
    (home / "periplus.toml").write_text("[ranking]\ntitle = 9.0\n")
    assert source.weights == weights_id(settings(ranking__title=9.0).ranking) != before
    with closing(source.open()) as opened:
        assert opened.weights == source.weights
    (home / "periplus.toml").write_text("[ranking]\ntitle = 'much'\n")
    with pytest.raises(PeriplusError):
        source.weights  # noqa: B018  # reads the file
    assert source.weights == opened.weights, "the last good weights stay"


def test_related_searches_take_one_request_to_each_shard(broker: BrokerEngine) -> None:
    found = urls(broker.search("rope ship"))
    before = sum(broker.cluster.counters().values())
    broker.related("rope ship", found)
    assert sum(broker.cluster.counters().values()) - before <= SHARDS
