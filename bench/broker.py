"""Measures the CPU time of a broker for a search, by the number of shards; the nodes give answers made in advance."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from harness.background import started
from harness.options import numbers
from harness.report import report
from harness.tiny import add_tiny
from periplus.cluster.fan_out import FanOut
from periplus.cluster.nodes import Nodes
from periplus.cluster.remote_shards import RemoteShards
from periplus.config import Ranking
from periplus.search.interpret import Mode, Search
from periplus.search.query.tree import Word
from periplus.search.query_language import QueryLanguage
from periplus.search.ranking import Ranker, Scored
from periplus.search.shards.counts import ShardCounts
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.port import MatchSet, ShardSearch, Term
from scaling.canned_nodes import GENERATION, TERMS

ROUNDS = ("frequencies", "candidates", "snippets")
RESULTS = 10
_SECONDS = 30.0  # for the answers to one round of questions
_REQUEST = ShardSearch("boats", "auto", ("boats",), (), (("en", 1.0),), frozenset())
_TERMS = [Term(f"field{number}", "boats") for number in range(TERMS)]


class _Counts(ShardCounts):
    """Interprets nothing: the question is always the same."""

    def __init__(self) -> None:
        """There are no files."""

    def scored_request(self, search: Search) -> ShardSearch:
        del search
        return _REQUEST

    def request(self, search: Search) -> ShardSearch:
        return self.scored_request(search)._replace(frequencies=())


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument(
        "--shards", type=numbers, default=[4, 16, 64, 128], metavar="N,...", help="shards (4,16,64,128)"
    )
    parser.add_argument("--searches", type=int, default=200, help="searches of each number of shards (%(default)s)")
    add_tiny(parser, shards=[1, 3], searches=3)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    found = [measured(shards, options.searches) for shards in options.shards]
    by_round = {name: [one[name] for one in found] for name in ROUNDS}
    totals = [sum(one.values()) for one in found]
    return {
        "bench": "broker",
        "searches": options.searches,
        "shards": options.shards,
        **{f"{name}_ms": [round(value, 3) for value in values] for name, values in by_round.items()},
        "search_ms": [round(total, 3) for total in totals],
        "ms_per_shard": round(totals[-1] / options.shards[-1], 4),
    }


def measured(shards: int, searches: int) -> dict[str, float]:
    """CPU milliseconds of each round of a search, the median of all searches."""
    with broker(shards) as group:
        ranker = Ranker(group, _Counts(), Ranking())
        spent: dict[str, list[float]] = {name: [] for name in ROUNDS}
        for _ in range(searches + 1):
            timed(spent["frequencies"], lambda: group.ask(lambda shard: shard.frequencies(_TERMS)))
            found = timed(spent["candidates"], lambda: ranker.ranked(_search(), RESULTS)).found[:RESULTS]
            timed(spent["snippets"], lambda found=found: _snippets(group, found))  # type: ignore[misc]
    return {name: sorted(times[1:])[searches // 2] for name, times in spent.items()}  # the first one connects


def _search() -> Search:
    return Search(Word("boats"), Mode.AUTO, ["boats"], {}, QueryLanguage({"en": 1.0}, frozenset()), {})


def _snippets(group: TrackedShards, found: list[Scored]) -> None:
    wanted = [one.number for one in found]
    group.ask(lambda shard: shard.hits(_REQUEST, wanted, MatchSet.RESULTS), {one.shard for one in found})


def timed(spent: list[float], work: Callable[[], Any]) -> Any:
    """Do the work in this thread, and add its CPU time in milliseconds to *spent*."""
    began = time.thread_time()
    answer = work()
    spent.append(1e3 * (time.thread_time() - began))
    return answer


@contextmanager
def broker(shards: int) -> Iterator[TrackedShards]:
    """A broker of so many shards, each on a node of its own."""
    program = [sys.executable, "-m", "scaling.canned_nodes", str(shards)]
    with started(["env", f"PYTHONPATH={Path(__file__).parent}", *program]) as canned:
        nodes = Nodes([f"http://127.0.0.1:{port}" for port in canned.first_line.split()], timeout=_SECONDS)
        nodes.start(_SECONDS)
        with closing(nodes), closing(FanOut(nodes)) as fan_out:
            yield TrackedShards(RemoteShards(fan_out, GENERATION, shards, _SECONDS))


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
