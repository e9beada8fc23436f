"""Opens the shards of a generation in this process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from periplus.config import Ranking
from periplus.index.storage.shards import files_for_shards
from periplus.search.open_index import CommonFiles, OpenIndex
from periplus.search.shards.group import LocalShards
from periplus.search.shards.index_shard import IndexShard
from periplus.store.generations import Generation


def open_common(generation: Generation, shards: Iterable[int] = ()) -> CommonFiles:
    """Open what all shards share, for a process that has the files of some shards only; the caller closes it."""
    generation.keep_only(files_for_shards(list(shards), generation.files))
    return CommonFiles(generation)


def open_shard(common: CommonFiles, shard: int, weights: Ranking) -> IndexShard:
    """Open one shard of a generation; the caller closes its index."""
    return _opened(common, shard if common.shards else None, weights)


def open_local(generation: Generation, weights: Ranking) -> tuple[CommonFiles, LocalShards, list[IndexShard]]:
    """Open all shards of a generation; closing the group closes all files, and the generation."""
    with ExitStack() as undo:
        undo.callback(generation.close)
        common = CommonFiles(generation)
        undo.callback(common.close)
        shards = []
        for number in range(max(common.shards, 1)):
            shards.append(open_shard(common, number, weights))
            undo.callback(shards[-1].index.close)
        return common, LocalShards(shards, undo.pop_all().close), shards


def _opened(common: CommonFiles, shard: int | None, weights: Ranking) -> IndexShard:
    index = OpenIndex(common, shard)
    with ExitStack() as undo:
        undo.callback(index.close)
        opened = IndexShard(index, weights)
        undo.pop_all()
    return opened
