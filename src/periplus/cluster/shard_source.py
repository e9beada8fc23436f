"""Opens some shards of the live generation of a collection, for a shard node."""

from __future__ import annotations

from collections.abc import Collection as AnyOf
from collections.abc import Mapping
from contextlib import ExitStack

from periplus.cluster.protocol import weights_id
from periplus.config import FILE_NAME, Ranking, load
from periplus.errors import NoIndex, UsageError
from periplus.index.storage.shards import shard_count
from periplus.search.cache.result_cache import generation_id
from periplus.search.shards.open_shards import open_common, open_shard
from periplus.search.shards.port import Shard
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations


class IndexShards:
    """Some shards of one generation, open in this process."""

    def __init__(self, generation: Generation, chosen: AnyOf[int], weights: Ranking) -> None:
        """Closes the generation when it is closed itself."""
        self.id, self.number, self.weights = generation_id(generation.folder), generation.number, weights_id(weights)
        with ExitStack() as files:
            files.callback(generation.close)
            count = shard_count(generation.meta)
            _require(chosen, count)
            common = open_common(generation, chosen)
            files.callback(common.close)
            opened = {}
            for shard in chosen:
                opened[shard] = open_shard(common, shard, weights)
                files.callback(opened[shard].index.close)
            self.shards: Mapping[int, Shard] = opened
            self.documents = sum(shard.index.own_documents for shard in opened.values())
            self._files = files.pop_all()

    def close(self) -> None:
        """Closes the files."""
        self._files.close()


class LiveShardSource:
    """The live generation of a collection, and the current weights of its ranking."""

    def __init__(self, collection: Collection, chosen: AnyOf[int], weights: Ranking) -> None:
        self._home, self._generations = collection.home, Generations(collection.index, INDEX_KIND)
        self._chosen, self._weights = chosen, weights
        self._file_state = self._read_file_state()

    @property
    def weights(self) -> str:
        """Identifies the weights; reads `[ranking]` again when periplus.toml has changed."""
        state = self._read_file_state()
        if state != self._file_state:
            self._file_state = state  # a file that cannot be read is reported once
            self._weights = load(self._home).settings.ranking
        return weights_id(self._weights)

    def _read_file_state(self) -> tuple[int, int, int] | None:
        """Identifies the content of periplus.toml; None when there is no such file."""
        try:
            found = (self._home / FILE_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def live_id(self) -> str:
        """Identifies the live generation; empty when there is none."""
        live = self._generations.live()
        return "" if live is None else generation_id(live)

    def open(self) -> IndexShards:
        """Opens the shards of the live generation."""
        generation = self._generations.open_live()
        if generation is None:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
        return IndexShards(generation, self._chosen, self._weights)


def _require(chosen: AnyOf[int], count: int) -> None:
    """Raises `UsageError` unless the generation has the chosen shards; an index that is not divided has shard 0."""
    wrong = [shard for shard in chosen if shard >= max(count, 1)]
    if wrong:
        has = f"the index has the shards 0-{count - 1}" if count > 1 else "the index is not divided into shards"
        hint = "Set index.shards and build the index again, or choose other shards with --shards."
        raise UsageError(f"there is no shard {wrong[0]}", has, hint)
