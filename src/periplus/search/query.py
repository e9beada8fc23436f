"""What did the person who typed this mean?

An own grammar, because tantivy's parser can be crashed by text; caps apply before anything is parsed. A mistake is
never an error: the query is read as plain words and a hint says why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from periplus.url import Canonicalizer, host_of

_LONGEST = 2048  # characters
_MOST_TERMS = 64
_DEEPEST = 16
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
    _MINUS.4: /-+(?=[^\s()\-]|\()/
    SITE.3: /site:[^\s()"]+/i
    PHRASE.3: /"[^"]*"/
    WORD: /[^\s()"]+/
    %ignore /\s+/
"""
_EMPTY_GROUP = re.compile(r"\(\s*\)")
_LONE_MINUS = re.compile(r"(?<!\S)-+(?=[\s)]|$)")
_QUOTED = re.compile(r'"[^"]*"')
_TERM = re.compile(r'(?<![^\s()"])(?:OR|AND)(?![^\s()"])|([^\W_]+)')  # the group is empty for an operator
_WORD = re.compile(r"[^\W_]+")
_CUT_OFF = re.compile(r'(?:(?<![^\s()"])(?:OR|AND|-+)|[\s(])*$')  # what a query cannot end with
_MARKS = re.compile(r'[()"]')
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:@]*)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word as typed; it may hold several terms, which must then stand side by side."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must stand side by side."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Site:
    """Only pages of this host or of hosts below this domain."""

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
    """A query as understood: nothing when it holds no word."""

    root: Node | None
    hints: tuple[str, ...] = ()

    @property
    def understood(self) -> str:
        """The query, written out in its own language."""
        return str(self.root) if self.root is not None else ""


def parse_query(text: str) -> ParsedQuery:
    """Read a query; whatever cannot be read as typed is read as words."""
    text, hints = _capped(text.encode("utf-8", "replace").decode())  # half a character cannot be looked for
    text, more = _tidied(text)
    hints += more
    try:
        root = _Reader().transform(_parser().parse(text))
    except LarkError:
        hints.append("OR, AND and - need a word on each side; the query was read as plain words.")
        root = _plain(text)
    if root is not None and not has_positive(root):
        hints.append("A query needs a word that is wanted: exclusions alone, or beside OR, match nearly every page.")
        root = None
    elif root is None:
        hints.append("The query holds no word.")
    return ParsedQuery(root, tuple(hints))


def has_positive(node: Node) -> bool:
    """Whether a query asks for anything; exclusions alone do not."""
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
    """The same query with any wanted word sufficing instead of all; exclusions and site: still hold.

    A word of several terms ("heat-resistant") is taken apart, because pages write it in other ways, too.
    """
    parts = node.nodes if isinstance(node, And) else (node,)
    strict = tuple(part for part in parts if isinstance(part, Not | Site))
    loose = tuple(piece for part in parts if not isinstance(part, Not | Site) for piece in _pieces(part))
    if len(loose) < 2:
        return node
    return And((Or(loose), *strict)) if strict else Or(loose)


def _pieces(node: Node) -> list[Node]:
    terms = _WORD.findall(node.text) if isinstance(node, Word) else []
    return [Word(term) for term in terms] if len(terms) > 1 else [node]


def wanted_words(node: Node) -> list[str]:
    """The words and phrases asked for, in order: what snippets show and bonuses look for."""
    match node:
        case Word(text) | Phrase(text):
            return [text]
        case And(nodes) | Or(nodes):
            return [word for part in nodes for word in wanted_words(part)]
        case _:
            return []


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, And | Or) else str(node)


def _capped(text: str) -> tuple[str, list[str]]:
    hints = []
    if len(text) > _LONGEST:
        text = _closed(text[:_LONGEST])
        hints.append(f"Only the first {_LONGEST:,} characters were read.")
    found = [term.start() for term in _TERM.finditer(text) if term[1]]
    if len(found) > _MOST_TERMS:
        text = _closed(text[: found[_MOST_TERMS]])
        hints.append(f"Only the first {_MOST_TERMS} words were read.")
    return text, hints


def _closed(text: str) -> str:
    """A query that was cut, with what was open at the cut closed, so that the rest still means what it did."""
    if text.count('"') % 2:
        text += '"'
    text = _CUT_OFF.sub("", text)
    bare = _QUOTED.sub("", text)
    return text + ")" * (bare.count("(") - bare.count(")"))


def _tidied(text: str) -> tuple[str, list[str]]:
    """Mend what can be mended without guessing: quotation marks, parentheses, a minus that stands alone."""
    hints = []
    if text.count('"') % 2:
        start, _, rest = text.rpartition('"')
        text = f"{start} {rest}"
        hints.append("A quotation mark is not closed; it was ignored.")
    text = _QUOTED.sub(lambda phrase: _without_parentheses(phrase[0]), text)
    depth = _depth(text)
    if depth is None or depth > _DEEPEST:
        text = _without_parentheses(text)
        why = "do not match" if depth is None else f"are nested deeper than {_DEEPEST}"
        hints.append(f"The parentheses {why}; they were ignored.")
    text = _LONE_MINUS.sub(" ", text)
    while (emptied := _EMPTY_GROUP.sub(" ", text)) != text:
        text = emptied
    return text, hints


def _without_parentheses(text: str) -> str:
    return text.replace("(", " ").replace(")", " ")


def _depth(text: str) -> int | None:
    """How deep parentheses nest; None when they do not match."""
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
        bare = piece.lstrip("-")
        if bare and bare not in {"OR", "AND"}:
            word = _site(bare[5:]) if bare[:5].lower() == "site:" and bare[5:] else Word(bare)
            if word is not None:
                words.append(Not(word) if piece.startswith("-") else word)
    return _joined(And, words)


def _site(text: str) -> Node | None:
    """The host that a person means who writes a host, a pattern or a whole address."""
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
    return Lark(_GRAMMAR, parser="lalr", lexer="basic")  # the same text is the same token everywhere


class _Reader(Transformer[Token, Node | None]):
    """From lark's tree to ours; phrases without a word vanish."""

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
