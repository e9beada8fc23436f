"""Decides whether `-word` is an exclusion or an option, by how the indexed pages write it.

In `mplayer -vo`, 86 % of the pages that have both words write `-vo`. In `java -thread`, no page does. So `-vo` is an
option and is searched as typed, and `-thread` is an exclusion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from periplus.search.query.parser import ParsedQuery
from periplus.search.query.tree import SPACED_WORD, And, Node, Not, Phrase, Word
from periplus.text.code_tokens import code_tokens

_OPTION_SHARE = 0.1  # of the pages with the word; on 24,193 documentation pages, options had 0.11 or more, words 0.08
_MOST = 4  # exclusions that are looked up


def read_options(parsed: ParsedQuery, count: Callable[[Node], int]) -> ParsedQuery:
    """The query with options as phrases; *count* tells how many pages match a query."""
    if not isinstance(parsed.root, And):
        return parsed
    parts = parsed.root.nodes
    others = tuple(part for part in parts if not isinstance(part, Not))
    words = [part.node.text for part in parts if isinstance(part, Not) and isinstance(part.node, Word)]
    options = [word for word in words[:_MOST] if _is_option(word, others, count)]
    if not options:
        return parsed
    nodes = {Not(Word(word)): Phrase(f"-{word}") for word in options}
    hints = [
        f'Searched for the option -{word}, because pages write it so. -"{word}" excludes the word.' for word in options
    ]
    root = And(tuple(nodes.get(part, part) if isinstance(part, Not) else part for part in parts))
    return replace(parsed, root=root, hints=(*parsed.hints, *hints))


def _is_option(word: str, others: tuple[Node, ...], count: Callable[[Node], int]) -> bool:
    if len(SPACED_WORD.findall(word)) != 1 or code_tokens(f"-{word}") != f"-{word}".lower():
        return False  # the index cannot tell "-north-west" from "north-west"
    option = Phrase(f"-{word}")
    for within in (others, ()):  # when no page with the other words has the word, all pages decide
        if having := count(And((*within, Word(word)))):
            return count(And((*within, option))) >= _OPTION_SHARE * having
    return False
