"""Parses the query language: words, "phrases", -exclusions, +words, --options, OR, AND, parentheses and operators.

Periplus has its own grammar, because some texts crash tantivy's parser. Length limits apply before parsing. A syntax
mistake is never an error: the query is parsed as plain words, and a hint says why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from periplus.search.query.operators import NAMES, hint_about, read_operator
from periplus.search.query.tree import (
    OPTION,
    SPACED_WORD,
    And,
    Field,
    Node,
    Not,
    Or,
    Phrase,
    Required,
    Site,
    Word,
    excluded,
    has_positive,
)
from periplus.text.unspaced import UNSPACED

_MAX_LENGTH = 2048  # characters
_MAX_TERMS = 64
_MAX_DEPTH = 16  # nested parentheses
_SITES_FIRST = re.compile(r'(?:-site:[^\s()"]{1,253}\s+){1,50}')  # blocked by the reader; they count as no words
_BRACKETED = r'\[[^\s()"\[\]]+(?:\s+[^\s()"\[\]]+)+\][.,:;]*(?=[\s()"]|$)'  # [Errno 2]
_GRAMMAR = rf"""
    start: _any?
    _any: either | both | _item
    either: _branch (_OR _branch)+
    _branch: both | _item
    both: _item (_AND? _item)+
    _item: exclusion | requirement | _wanted
    exclusion: _MINUS _wanted
    requirement: _PLUS _wanted
    _wanted: PHRASE | OPERATOR | OPTION | BRACKETED | WORD | "(" _any ")"
    _OR.4: /OR(?=[\s()"]|$)/
    _AND.4: /AND(?=[\s()"]|$)/
    _MINUS.4: /-(?=[^\s()\-])|-+(?=[("])/
    _PLUS.4: /\+(?=[^\s)+\-])/
    OPTION.5: /{OPTION}/
    OPERATOR.3: /(?:{NAMES}):(?:"[^"]*"|[^\s()"]+)/i
    PHRASE.3: /"[^"]*"/
    BRACKETED.3: /{_BRACKETED}/
    WORD: /[^\s()"]+/
    %ignore /\s+/
"""
_EMPTY_GROUP = re.compile(r"\(\s*\)")
_LONE_MINUS = re.compile(r"(?<!\S)-+(?=[\s)]|$)")
_OPEN_BRACKETS = re.compile(  # nothing closes them
    rf'(?<![^\s()"])(?![-+]*{_BRACKETED})[-+\[]*\[(?=[^\s()"\]]*(?:[\s()"]|$))'
)
_QUOTED = re.compile(r'"[^"]*"')
_TERM = re.compile(
    rf'(?<![^\s()"])(?:OR|AND)(?![^\s()"])|([{UNSPACED}]|{SPACED_WORD.pattern})'
)  # an operator leaves the group empty
_CUT_OFF = re.compile(r'(?:(?<![^\s()"])(?:OR|AND|-+)|[\s(])*$')  # what a query cannot end with
_OPTION = re.compile(OPTION)
_OPERATOR = re.compile(rf"(?:{NAMES}):.+", re.IGNORECASE)
_MARKS = re.compile(r'[()"]')
_PIECE = re.compile(rf"[-+]*{_BRACKETED}|\S+")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query; *root* is None when the query has no word to search for."""

    root: Node | None
    hints: tuple[str, ...] = ()

    @property
    def understood(self) -> str:
        """The parsed query as text, in the query language."""
        return str(self.root) if self.root is not None else ""

    @property
    def excluded(self) -> tuple[str, ...]:
        """What pages must not have, as shown to the user."""
        return tuple(excluded(self.root)) if self.root is not None else ()


def parse_query(text: str) -> ParsedQuery:
    """Parses a query; on a syntax error, parses it as plain words."""
    text, hints = _truncated(text.encode("utf-8", "replace").decode())  # a lone surrogate becomes a question mark
    text, more = _repaired(text)
    builder = _TreeBuilder(hints + more)
    try:
        root = builder.transform(_parser().parse(text))
    except LarkError:
        builder.hint("OR and AND need a word on each side, - needs a word after it; searched for plain words instead.")
        root = builder.plain(text)
    if root is not None and not has_positive(root):
        root = _as_options(root)
        if has_positive(root):
            builder.hint("The query has no other word, so the words with a minus were searched as typed.")
        else:
            builder.hint("Add a word to search for; -foo only excludes.")
            root = None
    elif root is None:
        builder.hint("The query has no word.")
    return ParsedQuery(root, tuple(builder.hints))


def _as_options(root: Node) -> Node:
    """`-word` is an option in a query that has nothing else to search for."""
    match root:
        case Not(Word(text)):
            return Word(f"-{text}")
        case And(nodes):
            return And(tuple(map(_as_options, nodes)))
        case _:
            return root


def _truncated(text: str) -> tuple[str, list[str]]:
    sites = _SITES_FIRST.match(text)
    first, text = (sites[0], text[sites.end() :]) if sites else ("", text)
    hints = []
    if len(text) > _MAX_LENGTH:
        text = _closed(text[:_MAX_LENGTH])
        hints.append(f"Only the first {_MAX_LENGTH:,} characters were used.")
    found = [term.start() for term in _TERM.finditer(text) if term[1]]
    if len(found) > _MAX_TERMS:
        text = _closed(text[: found[_MAX_TERMS]])
        hints.append(f"Only the first {_MAX_TERMS} words were used.")
    return first + text, hints


def _closed(text: str) -> str:
    """Closes the quotation marks and parentheses of a truncated query, so that the rest keeps its meaning."""
    if text.count('"') % 2:
        text += '"'
    text = _CUT_OFF.sub("", text)
    bare = _QUOTED.sub("", text)
    return text + ")" * (bare.count("(") - bare.count(")"))


def _repaired(text: str) -> tuple[str, list[str]]:
    """Removes unmatched quotation marks and parentheses, and a minus without a word."""
    hints = []
    if text.count('"') % 2:
        start, _, rest = text.rpartition('"')
        text = f"{start} {rest}"
        hints.append("Ignored an unclosed quotation mark.")
    text = _QUOTED.sub(lambda phrase: _without_parentheses(phrase[0]), text)
    depth = _depth(text)
    if depth is None or depth > _MAX_DEPTH:
        text = _without_parentheses(text)
        which = "unmatched parentheses" if depth is None else f"parentheses nested deeper than {_MAX_DEPTH}"
        hints.append(f"Ignored {which}.")
    text = _LONE_MINUS.sub(" ", _OPEN_BRACKETS.sub(lambda found: found[0].replace("[", ""), text))
    while (emptied := _EMPTY_GROUP.sub(" ", text)) != text:
        text = emptied
    return text, hints


def _without_parentheses(text: str) -> str:
    return text.replace("(", " ").replace(")", " ")


def _depth(text: str) -> int | None:
    """The depth of nested parentheses; None when they do not match."""
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
        if depth < 0:
            return None
    return deepest if depth == 0 else None


def _joined(kind: type[And] | type[Or], nodes: list[Node]) -> Node | None:
    flat: list[Node] = []
    for node in nodes:
        flat += node.nodes if isinstance(node, kind) else [node]
    return kind(tuple(flat)) if len(flat) > 1 else flat[0] if flat else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="basic")  # "basic" makes a token independent of its context


class _TreeBuilder(Transformer[Token, Node | None]):
    """Turns lark's tree into query nodes, and collects hints; drops phrases without a word and wrong operators."""

    def __init__(self, hints: list[str]) -> None:
        super().__init__()
        self.hints = hints

    def hint(self, text: str) -> None:
        if text and text not in self.hints:
            self.hints.append(text)

    def plain(self, text: str) -> Node | None:
        """The words of a query with a syntax error; exclusions and operators still apply."""
        words: list[Node] = []
        for piece in map(_one_line, _PIECE.findall(_MARKS.sub(" ", text))):
            bare = piece if _OPTION.match(piece) else piece.lstrip("-+")
            if bare and bare not in {"OR", "AND"}:
                node = self.OPERATOR(bare) if _OPERATOR.fullmatch(bare) else self.WORD(bare)
                if node is not None:
                    words.append(Not(node) if piece[0] == "-" != bare[0] else node)
        return _joined(And, words)

    def start(self, parts: list[Node | None]) -> Node | None:
        return parts[0] if parts else None

    def either(self, parts: list[Node | None]) -> Node | None:
        return _joined(Or, [part for part in parts if part is not None])

    def both(self, parts: list[Node | None]) -> Node | None:
        return _joined(And, [part for part in parts if part is not None])

    def exclusion(self, parts: list[Node | None]) -> Node | None:
        inner = parts[0].node if isinstance(parts[0], Required) else parts[0]
        return inner.node if isinstance(inner, Not) else Not(inner) if inner is not None else None

    def requirement(self, parts: list[Node | None]) -> Node | None:
        inner = parts[0]
        return inner if isinstance(inner, Not | Site | Field | Required | None) else Required(inner)

    def PHRASE(self, token: str) -> Node | None:  # noqa: N802 - lark calls it by the name of the terminal
        words = _one_line(token[1:-1])
        return Phrase(words) if words else None

    def OPERATOR(self, token: str) -> Node | None:  # noqa: N802
        name, _, value = token.partition(":")
        node, hint = read_operator(name, value.strip('"'))
        self.hint(hint)
        return node

    def OPTION(self, token: str) -> Node:  # noqa: N802
        return Word(str(token))

    def BRACKETED(self, token: str) -> Node:  # noqa: N802
        return Word(_one_line(token))

    def WORD(self, token: str) -> Node | None:  # noqa: N802
        self.hint(hint_about(token))
        return Word(str(token)) if token.strip("-") else None
