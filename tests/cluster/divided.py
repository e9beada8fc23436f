"""A small collection with a divided index, and shard nodes over it in this process."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from periplus.cluster.node_app import create_node_app
from periplus.cluster.node_shards import NodeShards
from periplus.cluster.shard_source import LiveShardSource
from periplus.config import Ranking, Serving
from periplus.model import Image
from periplus.store.collection import Collection
from search.library import Doc, index, settings, shelve
from web.serving import Site, serving

SHARDS = 4
_WORDS = ("harbour", "ship", "rope", "anchor", "sail", "pilot", "light", "quay", "tide", "chart", "crew", "storm")
_DAY = 86_400.0


def made_docs(count: int, seed: int = 5) -> list[Doc]:
    """Pages of some sites about the same few things, with dates and images."""
    chosen = random.Random(seed)
    docs = []
    for number in range(count):
        title, text = (" ".join(chosen.choices(_WORDS, k=size)) for size in (3, 60))
        docs.append(
            Doc(
                f"http://site{number % 7}.test/{chosen.choice(_WORDS)}/{number}",
                f"{title} {number}",
                f"{text}. Page {number} of the pilot book.",
                headings=(title,),
                language="en",
                at=1_700_000_000.0 + number * _DAY,
                published=1_690_000_000.0 + number * _DAY,
                images=(Image(f"http://site{number % 7}.test/{number}.png", f"{title} drawing"),),
            )
        )
    return docs


def divided(home: Path, count: int = 80, shards: int = SHARDS) -> Collection:
    """A collection whose index has shards."""
    collection = shelve(home, made_docs(count), reparsed=True)
    index(collection, shards=shards)
    return collection


@contextmanager
def shard_nodes(
    collection: Collection, *chosen: Sequence[int], weights: Ranking | None = None, port: int = 0
) -> Iterator[list[Site]]:
    """One node for each list of shards; *port*: of a single node, 0 is a free one."""
    with ExitStack() as stack:
        sites = []
        for shards in chosen:
            source = LiveShardSource(collection, shards, weights or settings().ranking)
            opened = stack.enter_context(closing(NodeShards(source)))
            sites.append(stack.enter_context(serving(create_node_app(opened, Serving()), port)))
        yield sites
