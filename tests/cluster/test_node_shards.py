"""A node keeps a generation open as long as brokers may ask about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.made_nodes import NEVER, MadeGeneration, MadeShard, MadeSource
from periplus.cluster.node_shards import NodeShards, ShardNotServed
from periplus.errors import DamagedFile

OLD, NEW = "aa" * 32, "bb" * 32


class Clock:
    """Goes when the test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def generation(name: str, number: int) -> MadeGeneration:
    return MadeGeneration([MadeShard(0, name), MadeShard(2, name)], name, number=number)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source() -> MadeSource:
    return MadeSource(generation(OLD, 1))


@pytest.fixture
def node(source: MadeSource, clock: Clock) -> Iterator[NodeShards]:
    node = NodeShards(source, NEVER, clock)
    yield node
    node.close()


def test_a_node_has_only_its_shards_of_its_generation(node: NodeShards) -> None:
    with node.opened(OLD, 2) as shard:
        assert shard.facts().shard == 2
    for name, number in ((OLD, 1), (NEW, 2), ("", 0)):
        with pytest.raises(ShardNotServed), node.opened(name, number):
            pass
    assert node.facts().shards == (0, 2)


def test_the_earlier_generation_stays_for_brokers_that_have_not_changed_yet(
    node: NodeShards, source: MadeSource, clock: Clock
) -> None:
    old, source.live = source.live, generation(NEW, 2)
    node.check()
    assert node.facts().generations == (NEW, OLD)
    clock.now = 59
    node.facts(in_use=OLD)
    node.check()
    clock.now = 100
    node.check()
    with node.opened(OLD, 0) as shard:
        assert shard.facts().generation == OLD
    clock.now = 161
    node.check()
    assert node.facts().generations == (NEW,)
    assert old.is_closed
    assert not source.live.is_closed


def test_a_request_under_way_keeps_its_generation_open(node: NodeShards, source: MadeSource, clock: Clock) -> None:
    old, source.live = source.live, generation(NEW, 2)
    with node.opened(OLD, 0):
        node.check()
        clock.now = 100
        node.check()
        assert node.facts().generations == (NEW,)
        assert not old.is_closed
    assert old.is_closed


def test_a_roll_back_makes_the_open_generation_live_again(node: NodeShards, source: MadeSource) -> None:
    old, source.live = source.live, generation(NEW, 2)
    node.check()
    source.live = old
    node.check()
    assert node.facts().generations == (OLD, NEW)
    assert node.live is old


def test_new_weights_take_the_place_of_the_old_ones_at_once(node: NodeShards, source: MadeSource) -> None:
    old, source.weights = source.live, "new"
    source.live = MadeGeneration([MadeShard(0, OLD)], OLD, "new")
    with node.opened(OLD, 2):
        node.check()
        assert (node.facts().weights, node.facts().generations) == (("new",), (OLD,))
        assert node.live is source.live
        was_closed = old.is_closed  # while a request is under way
    assert (was_closed, old.is_closed) == (False, True)
    node.check()
    assert not source.live.is_closed


def test_an_earlier_generation_keeps_its_weights_and_the_node_says_so(node: NodeShards, source: MadeSource) -> None:
    source.weights, source.live = "new", MadeGeneration([MadeShard(0, NEW)], NEW, "new")
    node.check()
    assert (node.facts().weights_of(NEW), node.facts().weights_of(OLD)) == ("new", "made")
    assert node.facts().weights_of("cc" * 32) == ""


def test_a_generation_that_a_broker_searches_outlasts_later_ones(
    node: NodeShards, source: MadeSource, clock: Clock
) -> None:
    for number in range(2, 6):
        source.live = generation(f"{number:064}", number)
        clock.now += 10
        node.facts(in_use=OLD)
        node.check()
        assert OLD in node.facts().generations
    assert len(node.facts().generations) == 3


def test_a_node_keeps_at_most_three_generations(node: NodeShards, source: MadeSource) -> None:
    first = source.live
    for number in range(2, 6):
        source.live = generation(f"{number:064}", number)
        node.check()
    assert node.facts().generations == tuple(f"{number:064}" for number in (5, 4, 3))
    assert first.is_closed


def test_a_generation_that_cannot_be_opened_leaves_the_last_one(
    node: NodeShards, source: MadeSource, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged() -> MadeGeneration:
        raise DamagedFile("shard-0 is damaged")

    source.live = generation(NEW, 2)
    monkeypatch.setattr(source, "open", damaged)
    node.check()
    node.check()
    assert node.facts().generations == (OLD,)
    assert caplog.text.count("still serving generation 1") == 1
