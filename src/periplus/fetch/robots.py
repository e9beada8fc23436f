"""What does this site let us fetch?

RFC 9309, with the typing errors that Google's parser forgives. The matcher is our own because every refusal has to name
the line behind it. Two habits of Google's are left out, since the RFC does not share them: `Allow: /a/index.html` does
not open `/a/` as well, and escaped letters (`%62`) are the letters.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

_LONGEST_FILE = 500 * 1024  # bytes that RFC 9309 asks a crawler to read
_LONGEST_LINE = 16_664  # bytes of a line that Google reads: eight times the longest URL
_MOST_WILDCARDS = 1_000  # rules with a star that are matched as written, since each costs time for every URL
_SHOWN = 200  # characters of a line kept for the person who asks
_EMPTY_BYTES, _RULE_BYTES, _WILDCARD_BYTES, _SITEMAP_BYTES = 1_000, 200, 250, 8  # of memory, beside their texts

_AGENT_KEYS = ("user-agent", "useragent", "user agent")
_ALLOW_KEYS = ("allow",)
_DISALLOW_KEYS = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_SITEMAP_KEYS = ("sitemap", "site-map")
_DELAY_KEYS = ("crawl-delay", "crawldelay", "crawl delay")

_TOKEN = re.compile("[A-Za-z_-]*")
_NUMBER = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_RESPELLED = re.compile(r"%([0-9A-Fa-f]{2})?|[^!#&(-)+-;=?-\[\]_a-z~]")  # what may have several spellings


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched, and the line that says so."""

    allowed: bool
    line: str = ""  # as written in the file; empty when no rule matches
    line_number: int = 0  # counted from 1; 0 when no line of the file decided


_NO_RULE = RobotsVerdict(True)
_ALWAYS = RobotsVerdict(True, "RFC 9309: /robots.txt itself is always allowed")


class _Wildcard(NamedTuple):
    """A rule with a star, or with a dollar sign at its end."""

    length: int  # of the rule as written: the longest match decides
    needle: str  # its longest fixed part: most URLs do not hold it, and need no closer look
    pieces: list[str]  # the fixed parts, in order; the first one starts the path
    anchored: bool  # whether the last piece ends the path
    verdict: RobotsVerdict


@dataclass(slots=True)
class _Group:
    """What one user agent is told, merged from all its places in the file."""

    named: bool = False
    rules: list[tuple[str, RobotsVerdict]] = field(default_factory=list)
    crawl_delay: float | None = None


@dataclass(slots=True)
class _Addressees:
    """The groups that a line is for.

    Names with no rule between them share the rules that follow, whatever other lines are between them (RFC 9309,
    section 2.2.4). The RFC knows no delays: a delay is for the names right above it, because that is what files mean.
    """

    _ruled: list[_Group] = field(default_factory=list)
    _delayed: list[_Group] = field(default_factory=list)
    _had_rule: bool = False
    _had_delay: bool = False

    def add(self, groups: list[_Group]) -> None:
        """A User-agent line opens these groups for us."""
        if self._had_rule or self._had_delay:
            self._delayed = []
        if self._had_rule:
            self._ruled = []
        self._had_rule = self._had_delay = False
        self._ruled += groups
        self._delayed += groups

    def of_rule(self) -> list[_Group]:
        """The groups that an Allow or Disallow line is for."""
        self._had_rule = True
        return self._ruled

    def of_delay(self) -> list[_Group]:
        """The groups that a Crawl-delay line is for."""
        self._had_delay = True
        return self._delayed


class Robots:
    """The rules of one robots.txt that concern us."""

    __slots__ = ("_default", "_lengths", "_prefixes", "_wildcards", "crawl_delay", "sitemaps")

    def __init__(self, group: _Group, sitemaps: tuple[str, ...] = (), default: RobotsVerdict = _NO_RULE) -> None:
        self.crawl_delay = group.crawl_delay  # seconds; None when the file asks for none
        self.sitemaps = sitemaps
        self._default = default
        self._prefixes: dict[str, RobotsVerdict] = {}
        wildcards: dict[str, RobotsVerdict] = {}
        for pattern, verdict in group.rules:
            if "*" not in pattern and not pattern.endswith("$"):
                _keep(self._prefixes, pattern, verdict)
            elif len(wildcards) < _MOST_WILDCARDS or pattern in wildcards:
                _keep(wildcards, pattern, verdict)
            elif not verdict.allowed:  # too many to try them all: refuse more than asked, never less
                _keep(self._prefixes, pattern.partition("*")[0].rstrip("$"), verdict)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wildcards = sorted(map(_wildcard, wildcards.items()), key=_rank)

    @classmethod
    def parse(cls, body: bytes, agent: str = "periplus") -> Self:
        """The rules in *body* for the product token *agent*."""
        ours, everyone = _Group(), _Group()
        sitemaps: dict[str, None] = {}
        addressees = _Addressees()
        for number, line, key, value in _records(body):
            if key.startswith(_AGENT_KEYS):
                addressees.add(_addressed(value, agent, ours, everyone))
            elif key.startswith(_SITEMAP_KEYS):
                sitemaps[value.encode("latin-1").decode(errors="replace")] = None
            elif key.startswith(_ALLOW_KEYS + _DISALLOW_KEYS):
                if groups := addressees.of_rule():
                    verdict = RobotsVerdict(key.startswith(_ALLOW_KEYS), line.decode(errors="replace")[:_SHOWN], number)
                    for group in groups:
                        group.rules.append((_pattern(value), verdict))
            elif key.startswith(_DELAY_KEYS):
                for group in addressees.of_delay():
                    group.crawl_delay = _longer(group.crawl_delay, value)
        return cls(ours if ours.named else everyone, tuple(sitemaps))

    @classmethod
    def for_status(cls, status: int, body: bytes = b"") -> Self:
        """The rules that an answer implies; status 0 means that there was none."""
        if 200 <= status < 300:
            return cls.parse(body)
        if 300 <= status < 500 and status != 429:
            why = f"robots.txt answered {status}: everything is allowed"
            return cls(_Group(), default=RobotsVerdict(True, why))
        why = f"robots.txt answered {status}" if status else "robots.txt is unreachable"
        return cls(_Group(), default=RobotsVerdict(False, f"{why}: nothing is allowed"))

    @property
    def rules(self) -> list[RobotsVerdict]:
        """The lines that concern us, in the order of the file."""
        found = {*self._prefixes.values(), *(rule.verdict for rule in self._wildcards)}
        return sorted(found, key=lambda verdict: verdict.line_number)

    @property
    def default(self) -> RobotsVerdict:
        """What holds where no line does."""
        return self._default

    def memory_bytes(self) -> int:
        """An estimate of the memory that these rules take."""
        size = sys.getsizeof
        total = _EMPTY_BYTES + sum(map(size, self.sitemaps)) + _SITEMAP_BYTES * len(self.sitemaps)
        for prefix, verdict in self._prefixes.items():
            total += _RULE_BYTES + size(prefix) + size(verdict.line)
        for rule in self._wildcards:
            total += _WILDCARD_BYTES + size(rule.verdict.line) + size(rule.pieces) + sum(map(size, rule.pieces))
        return total

    def verdict(self, url_path: str) -> RobotsVerdict:
        """Whether this path with its query may be fetched: the longest matching rule decides, Allow before Disallow."""
        bytewise = url_path if url_path.isascii() else url_path.encode("utf-8", "replace").decode("latin-1")
        path = _respelled(bytewise) or "/"
        found, longest = self._default, 0
        for length in self._lengths:
            verdict = self._prefixes.get(path[:length])
            if verdict is not None and length <= len(path):
                found, longest = verdict, length
                break
        for length, needle, pieces, anchored, verdict in self._wildcards:
            if length < longest:
                break
            if needle in path and (length > longest or verdict.allowed) and _matches(path, pieces, anchored):
                found = verdict
                break
        return _ALWAYS if path == "/robots.txt" else found


def _records(body: bytes) -> Iterator[tuple[int, bytes, str, str]]:
    """Number, text, lower-case key and value of every line that has the form of a rule."""
    if len(body) >= _LONGEST_FILE:  # perhaps cut while it was fetched, and half a rule would say something else
        body = body[: max(body.rfind(b"\n", 0, _LONGEST_FILE), body.rfind(b"\r", 0, _LONGEST_FILE), 0)]
    for number, raw in enumerate(body.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        line = raw[:_LONGEST_LINE].partition(b"#")[0].strip()
        key, colon, value = line.partition(b":")
        if not colon:
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        # Latin-1 keeps every byte, so that a path in any encoding can be escaped byte by byte.
        yield number, line, key.strip().decode("latin-1").lower(), value.strip().decode("latin-1")


def _addressed(value: str, agent: str, ours: _Group, everyone: _Group) -> list[_Group]:
    """The groups that one User-agent line opens for us; `Foo Bar` and `Foo/1.0` are read as `Foo`."""
    token = _TOKEN.match(value)
    if value == "*" or value.startswith(("* ", "*\t")):
        group = everyone
    elif token and token[0] and token[0].lower() == agent.lower():
        group = ours
    else:
        return []
    group.named = True
    return [group]


def _longer(delay: float | None, value: str) -> float | None:
    number = _NUMBER.match(value)
    return max(delay or 0.0, float(number[0])) if number else delay


def _pattern(value: str) -> str:
    """A rule's path in the one spelling that is compared; only stars and a last dollar sign keep their meaning."""
    path, anchor = (value[:-1], "$") if value.endswith("$") else (value, "")
    return "*".join(_respelled(piece) for piece in path.split("*")) + anchor


def _respelled(path: str) -> str:
    return _RESPELLED.sub(_escape, path) if _RESPELLED.search(path) else path


def _escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return f"%{ord(match[0]):02X}"
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _keep(rules: dict[str, RobotsVerdict], pattern: str, verdict: RobotsVerdict) -> None:
    """Of two rules with one pattern Allow wins, then the first; an empty pattern says nothing."""
    if pattern and (pattern not in rules or (verdict.allowed and not rules[pattern].allowed)):
        rules[pattern] = verdict


def _wildcard(rule: tuple[str, RobotsVerdict]) -> _Wildcard:
    pattern, verdict = rule
    first, *others = pattern.removesuffix("$").split("*")
    anchored = pattern.endswith("$")
    last = others[-1:] if anchored else []
    middle = others[:-1] if anchored else others
    pieces = [first, *(piece for piece in middle if piece), *last]
    return _Wildcard(len(pattern), max(pieces, key=len), pieces, anchored, verdict)


def _rank(rule: _Wildcard) -> tuple[int, bool]:
    """The longest first, Allow before Disallow."""
    return -rule.length, not rule.verdict.allowed


def _matches(path: str, pieces: list[str], anchored: bool) -> bool:
    """Taking every piece at its first place is always right for stars, and never goes back."""
    first, *others = pieces
    if not others:
        return path == first if anchored else path.startswith(first)
    if not path.startswith(first):
        return False
    position = len(first)
    last = others.pop() if anchored else ""
    for piece in others:
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return path.endswith(last) and len(path) - len(last) >= position
