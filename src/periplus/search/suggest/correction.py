"""Corrects the plain words of a query: the first correction of the speller, when the pages it finds speak for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from periplus.search.query.tree import And, Node, Word
from periplus.search.suggest.spelling import Choice, Correction, Speller, choose


class Corrected(NamedTuple):
    """Another reading of a query."""

    root: Node
    is_used: bool  # False: it is only suggested


def corrected(root: Node, speller: Speller, count: Callable[[Node], int]) -> Corrected | None:
    """The query that was probably meant; None when the query is right.

    *count* gives the number of pages that have all words of a query.
    """
    found = speller.corrections([str(node) for node in _parts(root) if _is_plain(node)])
    if not found or not found[0].is_shown:
        return None
    other = _replaced(root, found[0])
    choice = choose(found[0], count(root), count(other))
    return None if choice is Choice.KEEP else Corrected(other, choice is Choice.REPLACE)


def _replaced(root: Node, correction: Correction) -> Node:
    """The query with the words of a correction."""
    texts = {replacement.first: replacement.text.split() for replacement in correction.replacements}
    gone = {place for first, end, _ in correction.replacements for place in range(first, end)}
    nodes: list[Node] = []
    place = 0  # among the plain words
    for node in _parts(root):
        if not _is_plain(node):
            nodes.append(node)
            continue
        nodes += map(Word, texts[place]) if place in texts else () if place in gone else (node,)
        place += 1
    return And(tuple(nodes)) if len(nodes) > 1 else nodes[0]


def _parts(root: Node) -> tuple[Node, ...]:
    return root.nodes if isinstance(root, And) else (root,)


def _is_plain(node: Node) -> bool:
    return isinstance(node, Word) and node.text.isalpha()
