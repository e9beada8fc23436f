"""Orders the pages that match a query: candidates of all shards, block by block, by their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

from periplus.config import Ranking
from periplus.model import Hit, SiteBoosts
from periplus.search.interpret import Search, timed
from periplus.search.open_index import Numbers
from periplus.search.query.tree import restricts_site
from periplus.search.scoring.score import ordered, score_parts, scores_of
from periplus.search.shards.counts import ShardCounts
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.merge import Block, MergedCandidates
from periplus.search.shards.port import MatchSet, ShardCandidates


class Scored(NamedTuple):
    """A page that matches the query."""

    number: int  # of the document in the index
    host: int
    features: Numbers  # in the order of `FEATURES`
    crowding: float  # what it loses to better results of its host
    block: int  # of candidates; all pages of a block come before those of the next
    shard: int = 0
    boost: float = 0.0  # what the reader adds to the scores of this site


class Ranked(NamedTuple):
    """The best results of a search in order."""

    found: list[Scored]
    total: int  # number of matches
    with_all_words: int  # number of those that match the query as a whole


class Ranker:
    """Ranks the pages of all shards."""

    def __init__(self, group: TrackedShards, counts: ShardCounts, weights: Ranking) -> None:
        self._group, self._counts, self.weights = group, counts, weights

    def ranked(self, search: Search, depth: int, site_boosts: SiteBoosts = ()) -> Ranked:
        """The matches of a query in order, at least *depth* of them as long as there are more.

        *site_boosts* reorder the candidates of each block; they select no other candidates.
        """
        request, blocks = self._counts.scored_request(search), 1
        while True:
            spent = dict[str, float]()
            with timed(spent, "all"):
                answers = self._group.ask(lambda shard, most=blocks: shard.candidates(request, most, site_boosts))  # type: ignore[misc]
            _add_steps(search.steps, spent["all"], answers)
            with search.step("features"):
                merged = MergedCandidates(answers, blocks)
                found = self._scored(merged, depth, crowded=is_crowded(search))
            if len(found) >= depth or merged.is_complete:
                return Ranked(found, merged.total, merged.with_all_words)
            blocks *= 2

    def hits(self, found: Sequence[Scored], search: Search, match_set: MatchSet, *, explain: bool) -> tuple[Hit, ...]:
        """The results with snippets and scores; those of missing shards are left out."""
        if not found:
            return ()
        request, numbers = self._counts.request(search), [one.number for one in found]
        answers = self._group.ask(lambda shard: shard.hits(request, numbers, match_set), {one.shard for one in found})
        made = {shard: iter(hits) for shard, hits in answers.items()}
        shown = [(next(made[one.shard]), self.parts(one)) for one in found if one.shard in made]
        return tuple(replace(hit, score=sum(parts.values()), explain=parts if explain else {}) for hit, parts in shown)

    def parts(self, one: Scored) -> dict[str, float]:
        """The parts of the score of a page; their sum is the score."""
        return score_parts(one.features, self.weights, one.crowding, one.boost)

    def _scored(self, merged: MergedCandidates, depth: int, *, crowded: bool) -> list[Scored]:
        """The candidates of as many blocks as are needed; blocks without candidates are not numbered."""
        found: list[Scored] = []
        blocks = (block for block in merged.blocks() if len(block.numbers))
        for number, block in enumerate(blocks):
            if len(found) >= depth:
                break
            found += self._of_block(block, number, crowded=crowded)
        return found

    def _of_block(self, block: Block, number: int, *, crowded: bool) -> list[Scored]:
        """The candidates of one block, best first."""
        scores = scores_of(block.features, self.weights)
        is_boosted = len(block.boosts) > 0
        scores = scores + block.boosts if is_boosted else scores
        order, losses = ordered(scores, block.numbers, block.hosts.tolist(), self.weights, crowded=crowded)
        columns = (block.numbers[order].tolist(), block.hosts[order].tolist())
        boosts = (block.boosts[order].tolist(),) if is_boosted else ()
        shards = block.shards[order].tolist()
        return list(map(Scored, *columns, block.features[order], losses.tolist(), repeat(number), shards, *boosts))


def _add_steps(steps: dict[str, float], seconds: float, answers: Mapping[int, ShardCandidates]) -> None:
    """Divides the seconds that the shards took together among their steps."""
    spent = dict[str, float]()
    for answer in answers.values():
        for name, own in answer.steps.items():
            spent[name] = spent.get(name, 0.0) + own
    total = sum(spent.values())
    for name, own in spent.items():
        steps[name] = steps.get(name, 0.0) + (seconds * own / total if total else 0.0)


def is_crowded(search: Search) -> bool:
    """Whether results lose to better results of their host: not when the query names a site."""
    return not restricts_site(search.root)
