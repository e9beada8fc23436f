"""The search engine of a broker: interprets queries with the common files, and asks shards on other machines.

Broker and nodes change to a new generation at different moments. The broker changes when the nodes have at least as
large a share of the live generation as of the one that it searches: 4 of 8 shards are less than 4 of 4. When they have
nothing of that, it takes the generation of which they have the largest share.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from periplus.cluster.fan_out import FanOut
from periplus.cluster.nodes import OTHER_GENERATION, Nodes, NodeState
from periplus.cluster.protocol import weights_id
from periplus.cluster.remote_shards import RemoteShards
from periplus.config import Ranking, Settings
from periplus.errors import NoIndex, PeriplusError
from periplus.index.storage.shards import shard_count
from periplus.search.cache.result_cache import generation_id
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.search.shards.open_shards import open_common
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations, number_of, read_meta
from periplus.web.health import Cluster, ClusterHealth, NodeHealth


class RemoteGenerations:
    """Opens engines over the shards of a generation on other machines."""

    def __init__(self, collection: Collection, nodes: Nodes, fan_out: FanOut) -> None:
        self._collection, self._nodes, self._fan_out = collection, nodes, fan_out
        self._generations = Generations(collection.index, INDEX_KIND)
        self.generation, self.shards = "", 1  # id of the generation that was opened last, and its number of shards

    def open(self, settings: Settings) -> SearchEngine:
        """Opens the generation that the nodes can search best."""
        folder = self._best(None)
        with ExitStack() as undo:
            generation = Generation(folder, INDEX_KIND)
            undo.callback(generation.close)
            common, name = open_common(generation), generation_id(folder)
            undo.callback(common.close)
            shards = max(common.shards, 1)
            group = RemoteShards(self._fan_out, name, shards, settings.serve.node_timeout, undo.pop_all().close)
        with ExitStack() as undo:
            undo.callback(group.close)
            engine = SearchEngine(self._collection, common, group, settings)
            undo.pop_all()
        self.generation, self.shards = name, shards
        self._nodes.use(name, shards, weights_id(settings.ranking))
        return engine

    def is_current(self, engine: SearchEngine) -> bool:
        """Whether there is no better generation to search."""
        return self._best(engine.folder) == engine.folder

    def may_store(self, weights: Ranking) -> bool:
        """Whether all nodes select candidates with these weights, in this release."""
        return self._nodes.rank_alike(self.generation, weights_id(weights))

    @property
    def missing(self) -> tuple[int, ...]:
        """The shards that no node can search now."""
        return tuple(sorted(set(range(self.shards)) - self._nodes.available(self.generation)))

    def problem_of(self, state: NodeState) -> str:
        """Why a node that is up gets no requests; empty: it gets some."""
        return "" if self.generation in state.generations else OTHER_GENERATION

    def _best(self, current: Path | None) -> Path:
        """The live generation, unless the nodes have a smaller share of it than of the *current* one."""
        live = self._generations.live()
        if live is None:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
        shares = self._shares()
        own = 0.0 if current is None else shares.get(current, 0.0)
        if shares.get(live, 0.0) >= own > 0 or not shares:
            return live
        if current is not None and own:
            return current
        return max(shares, key=lambda folder: (shares[folder], folder == live, number_of(folder)))

    def _shares(self) -> dict[Path, float]:
        """How much of each generation the nodes can search, between 0 and 1."""
        shares = {}
        for folder in self._generations.complete():
            with suppress(OSError, PeriplusError):  # removed meanwhile, or damaged
                shards = max(shard_count(read_meta(folder, INDEX_KIND)), 1)
                shares[folder] = len(self._nodes.available(generation_id(folder))) / shards
        return shares


class BrokerEngine(ReloadingEngine):
    """A search engine over shards on other machines, with a result cache; safe to share between threads."""

    def __init__(self, collection: Collection, settings: Settings, urls: Sequence[str]) -> None:
        """*urls*: of the shard nodes."""
        with ExitStack() as opened:
            token, ca_file = settings.serve.node_token.get_secret_value(), settings.fetch.ca_file
            self._nodes = Nodes(urls, token, ca_file, settings.serve.node_timeout)
            opened.callback(self._nodes.close)
            fan_out = FanOut(self._nodes)
            opened.callback(fan_out.close)
            self._nodes.start()
            self._remote = RemoteGenerations(collection, self._nodes, fan_out)
            super().__init__(collection, settings, source=self._remote)
            self._connections = opened.pop_all()

    @property
    def fingerprint(self) -> str:
        """As of every engine; empty while a shard is missing, so that nothing is stored."""
        return "" if self._remote.missing else super().fingerprint

    @property
    def cluster(self) -> Cluster:
        """The state of the nodes, for health check and metrics."""
        return Cluster(self._health, self._nodes.figures)

    def close(self) -> None:
        """Closes files and connections; no search may be running."""
        super().close()
        self._connections.close()

    def _health(self) -> ClusterHealth:
        nodes = [
            NodeHealth(state.url, state.is_up, state.problem or self._remote.problem_of(state), state.shards)
            for state in self._nodes.states()
        ]
        return ClusterHealth(self._remote.shards, self._remote.missing, tuple(nodes))
