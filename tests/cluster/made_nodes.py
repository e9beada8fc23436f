"""Shard nodes with made shards: real HTTP on loopback, no index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import cast

from periplus.cluster.node_app import create_node_app
from periplus.cluster.node_shards import NodeShards
from periplus.config import Serving
from periplus.search.shards.port import Shard, ShardFacts, Term
from web.serving import Site, serving

GENERATION = "aa" * 32
NEVER = 3600.0  # seconds between two looks at the generation


@dataclass
class MadeShard:
    """Answers some of the requests of the port."""

    number: int
    generation: str = GENERATION
    before: Callable[[], object] = lambda: None  # runs first: waits, or fails
    hangs_on: Mapping[str, Event] = field(default_factory=dict)  # by URL: what `find` waits for
    asked: list[object] = field(default_factory=list)

    def facts(self) -> ShardFacts:
        return ShardFacts(self.number, self.generation, documents=10 + self.number, hosts=1, newest=0, damage="")

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        self.asked.append(terms)
        self.before()
        return [self.number] * len(terms)

    def find(self, url: str) -> int | None:
        self.before()
        if url in self.hangs_on:
            self.hangs_on[url].wait()
        return self.number if url == "http://here.test/" else None


@dataclass
class MadeGeneration:
    """Some open shards."""

    made: Sequence[MadeShard]
    id: str = GENERATION
    weights: str = "made"
    number: int = 1
    documents: int = 7
    is_closed: bool = False

    @property
    def shards(self) -> Mapping[int, Shard]:
        return {one.number: cast("Shard", one) for one in self.made}

    def close(self) -> None:
        self.is_closed = True


@dataclass
class MadeSource:
    """A collection whose live generation the test chooses."""

    live: MadeGeneration
    weights: str = "made"

    def live_id(self) -> str:
        return self.live.id

    def open(self) -> MadeGeneration:
        return self.live


@dataclass
class MadeNode:
    """A node that is being served."""

    site: Site
    shards: NodeShards
    made: list[MadeShard]


@contextmanager
def served_nodes(*numbers: Sequence[int], token: str = "", timeout: float = 2.0) -> Iterator[list[MadeNode]]:
    """One node for each list of shards; *timeout*: the setting `serve.node_timeout` of the nodes."""
    with ExitStack() as stack:
        nodes = []
        for shards in numbers:
            made = [MadeShard(number) for number in shards]
            opened = stack.enter_context(closing(NodeShards(MadeSource(MadeGeneration(made)), NEVER)))
            settings = Serving.model_validate({"node_token": token, "node_timeout": timeout})
            site = stack.enter_context(serving(create_node_app(opened, settings)))
            nodes.append(MadeNode(site, opened, made))
        yield nodes
