"""The parsed query: a tree of words, phrases, operators and groups.

`str` of a tree is the query in the query language. Parsed again, it is the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import UNSPACED, pieces

SPACED_WORD = re.compile(f"[^\\W_{UNSPACED}]+")
# -v, -O2, --verbose, -std=c11, -Wl,-s, -fPIC, -fno-common, -Wall and -Wunused-label are options; -car is an exclusion.
OPTION = (
    r'-(?:-+[^\W_][^\s()"]*|[A-Za-z0-9]|[A-Za-z]\d+|[^\W_][^\s()"=,:]*[=,][^\s()"]*'
    r'|f[A-Z]{2,}|[fmW]no-[^\s()"]+|W(?:all|error|extra|pedantic|[a-z]+(?:-[a-z]+)+))(?=[\s()"]|$)'
)
_IS_OPTION = re.compile(OPTION)


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
    """Only pages of this host and its subdomains, and only below this path."""

    host: str
    path: str = ""  # begins with a slash, or with a port; compared word by word

    def __str__(self) -> str:
        return f"site:{self.host}{self.path}"


@dataclass(frozen=True, slots=True)
class Field:
    """Only pages with this property: `intitle:word`, `filetype:pdf`, `before:2024-05`."""

    operator: str  # one of `operators.OPERATORS`, except `site`
    value: str

    def __str__(self) -> str:
        return f'{self.operator}:"{self.value}"' if " " in self.value else f"{self.operator}:{self.value}"


@dataclass(frozen=True, slots=True)
class Required:
    """`+word`: partial matches have it, too, and it counts although it is a stop word."""

    node: Node

    def __str__(self) -> str:
        return f"+({self.node})" if str(self.node)[0] in "+-" else f"+{_grouped(self.node)}"


@dataclass(frozen=True, slots=True)
class Not:
    """Pages that must not match."""

    node: Node

    def __str__(self) -> str:
        text = f"-{_grouped(self.node)}"
        return f"-({self.node})" if _IS_OPTION.match(text) else text


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


Node = Word | Phrase | Site | Field | Required | Not | And | Or
_STRICT = Not | Site | Field | Required  # apply to partial matches, too


def has_positive(node: Node) -> bool:
    """Whether a query has something to search for; exclusions alone do not count."""
    match node:
        case Not():
            return False
        case Required(inner):
            return has_positive(inner)
        case And(nodes):
            return any(map(has_positive, nodes))
        case Or(nodes):
            return all(map(has_positive, nodes))
        case _:
            return True


def loosened(node: Node) -> Node:
    """The query for partial matches: any of its words suffices; exclusions, operators and `+words` still apply.

    A word of several terms ("heat-resistant") is split, because pages also write "heat resistant". Code-like tokens are
    searched as a whole too. Text without spaces is split into pieces.
    """
    parts = node.nodes if isinstance(node, And) else (node,)
    strict = tuple(part for part in parts if isinstance(part, _STRICT))
    loose = [term for part in parts if not isinstance(part, _STRICT) for term in _terms(part)]
    required = [part.node for part in strict if isinstance(part, Required)]
    if not loose or len(loose) + len(required) < 2:
        return node
    return And((Or((*loose, *required)), *strict)) if strict else Or(tuple(loose))


def widened(node: Node, variants: Mapping[str, Sequence[str]]) -> Node:
    """The query for partial matches in which another spelling of a word suffices, too."""
    match node:
        case Or(nodes):
            words = {part.text for part in nodes if isinstance(part, Word)}
            more = [form for word, forms in variants.items() if word in words for form in forms if form not in words]
            return Or((*nodes, *map(Word, more)))
        case And(nodes):
            return And(tuple(widened(part, variants) if isinstance(part, Or) else part for part in nodes))
        case Word(text) if variants.get(text):
            return Or((node, *map(Word, variants[text])))
        case _:
            return node


def _terms(node: Node) -> list[Node]:
    if not isinstance(node, Word):
        return [node]
    terms = SPACED_WORD.findall(node.text) + pieces(node.text)
    whole: list[Node] = [node] if code_tokens(node.text) else []
    if len(terms) + len(whole) < 2:
        return [node]
    return [*whole, *map(Word, terms)]


def wanted_words(node: Node) -> list[str]:
    """The words and phrases to find, in order; snippets and score bonuses use them."""
    match node:
        case Word(text) | Phrase(text) | Field("intitle", text):
            return [text]
        case Required(inner):
            return wanted_words(inner)
        case And(nodes) | Or(nodes):
            return [word for part in nodes for word in wanted_words(part)]
        case _:
            return []


def has_only_words(node: Node) -> bool:
    """Whether a query has only words and phrases, so that every match has one of them."""
    match node:
        case Word() | Phrase():
            return True
        case And(nodes) | Or(nodes):
            return all(map(has_only_words, nodes))
        case _:
            return False


def excluded(node: Node) -> list[str]:
    """What pages must not have, in order, as shown to the user."""
    match node:
        case Not(inner):
            return [str(inner)]
        case Required(inner):
            return excluded(inner)
        case And(nodes) | Or(nodes):
            return [text for part in nodes for text in excluded(part)]
        case _:
            return []


def restricts_site(node: Node) -> bool:
    """Whether a query has `site:`."""
    match node:
        case Site():
            return True
        case And(nodes) | Or(nodes):
            return any(map(restricts_site, nodes))
        case _:
            return False


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, And | Or) else str(node)
