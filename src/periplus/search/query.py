"""Parses the query language: words, "phrases", -exclusions, --options, OR, AND, parentheses and site:.

Periplus has its own grammar, because some texts crash tantivy's parser. Length limits apply before parsing. A syntax
mistake is never an error: the query is parsed as plain words, and a hint says why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import UNSPACED, pieces
from periplus.url import Canonicalizer, host_of

_MAX_LENGTH = 2048  # characters
_MAX_TERMS = 64
_MAX_DEPTH = 16  # nested parentheses
_GRAMMAR = r"""
    start: _any?
    _any: either | both | _item
    either: _branch (_OR _branch)+
    _branch: both | _item
    both: _item (_AND? _item)+
    _item: exclusion | _wanted
    exclusion: _MINUS _wanted
    _wanted: PHRASE | SITE | WORD | "(" _any ")"
    _OR.4: /OR(?=[\s()"]|$)/
    _AND.4: /AND(?=[\s()"]|$)/
    _MINUS.4: /-(?=[^\s()\-])|-+(?=[("])/
    SITE.3: /site:[^\s()"]+/i
    PHRASE.3: /"[^"]*"/
    WORD: /[^\s()"]+/
    %ignore /\s+/
"""
_EMPTY_GROUP = re.compile(r"\(\s*\)")
_LONE_MINUS = re.compile(r"(?<!\S)-+(?=[\s)]|$)")
_QUOTED = re.compile(r'"[^"]*"')
_SPACED_WORD = re.compile(f"[^\\W_{UNSPACED}]+")
_TERM = re.compile(
    rf'(?<![^\s()"])(?:OR|AND)(?![^\s()"])|([{UNSPACED}]|{_SPACED_WORD.pattern})'
)  # an operator leaves the group empty
_OPTION = re.compile(r'\s*-[^\W_][^\s()":]*\s*')  # a query of nothing else than `-word`
_CUT_OFF = re.compile(r'(?:(?<![^\s()"])(?:OR|AND|-+)|[\s(])*$')  # what a query cannot end with
_LONG_OPTION = re.compile(r"--+[^\W_]")
_MARKS = re.compile(r'[()"]')
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:@]*)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word as typed; a word of several terms, such as `heat-resistant`, matches them side by side."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must be adjacent and in order."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Site:
    """Only pages of this host and its subdomains."""

    host: str

    def __str__(self) -> str:
        return f"site:{self.host}"


@dataclass(frozen=True, slots=True)
class Not:
    """Pages that must not match."""

    node: Node

    def __str__(self) -> str:
        return f"-{_grouped(self.node)}"


@dataclass(frozen=True, slots=True)
class And:
    """Every part must match."""

    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        return " ".join(map(_grouped, self.nodes))


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part must match."""

    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        return " OR ".join(str(node) if isinstance(node, And) else _grouped(node) for node in self.nodes)


Node = Word | Phrase | Site | Not | And | Or


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query; *root* is None when the query has no word to search for."""

    root: Node | None
    hints: tuple[str, ...] = ()

    @property
    def understood(self) -> str:
        """The parsed query as text, in the query language."""
        return str(self.root) if self.root is not None else ""


def parse_query(text: str) -> ParsedQuery:
    """Parses a query; on a syntax error, parses it as plain words."""
    text, hints = _truncated(text.encode("utf-8", "replace").decode())  # a lone surrogate becomes a question mark
    text, more = _repaired(text)
    hints += more
    if _OPTION.fullmatch(text):
        return ParsedQuery(Word(text.strip()), tuple(hints))
    try:
        root = _TreeBuilder().transform(_parser().parse(text))
    except LarkError:
        hints.append("OR and AND need a word on each side, - needs a word after it; searched for plain words instead.")
        root = _plain(text)
    if root is not None and not has_positive(root):
        hints.append("Add a word to search for; -foo only excludes.")
        root = None
    elif root is None:
        hints.append("The query has no word.")
    return ParsedQuery(root, tuple(hints))


def has_positive(node: Node) -> bool:
    """Whether a query has a word to search for; exclusions alone do not count."""
    match node:
        case Not():
            return False
        case And(nodes):
            return any(map(has_positive, nodes))
        case Or(nodes):
            return all(map(has_positive, nodes))
        case _:
            return True


def loosened(node: Node) -> Node:
    """The same query with OR between its words; exclusions and site: still apply.

    A word of several terms ("heat-resistant") is split, because pages also write "heat resistant". Code-like tokens are
    searched as a whole too. Text without spaces is split into pieces.
    """
    parts = node.nodes if isinstance(node, And) else (node,)
    strict = tuple(part for part in parts if isinstance(part, Not | Site))
    loose = tuple(term for part in parts if not isinstance(part, Not | Site) for term in _terms(part))
    if len(loose) < 2:
        return node
    return And((Or(loose), *strict)) if strict else Or(loose)


def _terms(node: Node) -> list[Node]:
    if not isinstance(node, Word):
        return [node]
    terms = _SPACED_WORD.findall(node.text) + pieces(node.text)
    if len(terms) < 2:
        return [node]
    whole: list[Node] = [node] if code_tokens(node.text) else []
    return [*whole, *map(Word, terms)]


def wanted_words(node: Node) -> list[str]:
    """The words and phrases to find, in order; snippets and score bonuses use them."""
    match node:
        case Word(text) | Phrase(text):
            return [text]
        case And(nodes) | Or(nodes):
            return [word for part in nodes for word in wanted_words(part)]
        case _:
            return []


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, And | Or) else str(node)


def _truncated(text: str) -> tuple[str, list[str]]:
    hints = []
    if len(text) > _MAX_LENGTH:
        text = _closed(text[:_MAX_LENGTH])
        hints.append(f"Only the first {_MAX_LENGTH:,} characters were used.")
    found = [term.start() for term in _TERM.finditer(text) if term[1]]
    if len(found) > _MAX_TERMS:
        text = _closed(text[: found[_MAX_TERMS]])
        hints.append(f"Only the first {_MAX_TERMS} words were used.")
    return text, hints


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
    text = _LONE_MINUS.sub(" ", text)
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


def _plain(text: str) -> Node | None:
    words: list[Node] = []
    for piece in _MARKS.sub(" ", text).split():
        bare = piece if _LONG_OPTION.match(piece) else piece.lstrip("-")
        if bare and bare not in {"OR", "AND"}:
            word = _site(bare[5:]) if bare[:5].lower() == "site:" and bare[5:] else Word(bare)
            if word is not None:
                words.append(Not(word) if piece[0] == "-" != bare[0] else word)
    return _joined(And, words)


def _site(text: str) -> Node | None:
    """The host in the argument of site:, which may be a host, a pattern such as *.example.org, or a URL."""
    found = _HOST.match(text.lower())
    host = found[1].strip("*.") if found else ""
    if not host.isascii():
        address = Canonicalizer().canonical(f"http://{host}/")
        host = host_of(address) if address is not None else host
    return Site(host) if host else None


def _joined(kind: type[And] | type[Or], nodes: list[Node]) -> Node | None:
    flat: list[Node] = []
    for node in nodes:
        flat += node.nodes if isinstance(node, kind) else [node]
    return kind(tuple(flat)) if len(flat) > 1 else flat[0] if flat else None


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="basic")  # "basic" makes a token independent of its context


class _TreeBuilder(Transformer[Token, Node | None]):
    """Turns lark's tree into query nodes; drops phrases without a word."""

    def start(self, parts: list[Node | None]) -> Node | None:
        return parts[0] if parts else None

    def either(self, parts: list[Node | None]) -> Node | None:
        return _joined(Or, [part for part in parts if part is not None])

    def both(self, parts: list[Node | None]) -> Node | None:
        return _joined(And, [part for part in parts if part is not None])

    def exclusion(self, parts: list[Node | None]) -> Node | None:
        inner = parts[0]
        return inner.node if isinstance(inner, Not) else Not(inner) if inner is not None else None

    def PHRASE(self, token: Token) -> Node | None:  # noqa: N802 - lark calls it by the name of the terminal
        words = " ".join(token[1:-1].split())
        return Phrase(words) if words else None

    def SITE(self, token: Token) -> Node | None:  # noqa: N802
        return _site(token[5:])

    def WORD(self, token: Token) -> Node | None:  # noqa: N802
        return Word(str(token)) if token.strip("-") else None
