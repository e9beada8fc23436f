"""Parses robots.txt and decides whether it allows a URL.

The parser follows RFC 9309 and accepts the misspelled keys that Google's parser accepts. The matcher is our own: every
refusal names the line that caused it. Files in UTF-16 are read, and bytes of a damaged byte order mark before a key are
ignored, because a site expects that its rules are obeyed. Two habits of Google's parser are left out, since the RFC
does not have them: `Allow: /a/index.html` does not allow `/a/` as well, and escaped letters (`%62`) equal the letters.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

_MAX_FILE_BYTES = 500 * 1024  # RFC 9309 requires crawlers to read at least so much
_MAX_LINE_BYTES = 16_664  # as in Google's parser: eight times the longest URL
_MAX_WILDCARDS = 1_000  # rules with `*` matched exactly; each of them costs time for every URL
_SHOWN = 200  # characters of a line in reports
_EMPTY_BYTES, _RULE_BYTES, _WILDCARD_BYTES, _SITEMAP_BYTES = 1_000, 200, 250, 8  # of memory, without the text

_MAX_BYTES_PER_NUL = 4  # of UTF-16 without a byte order mark: half of the file may be other characters than ASCII
_NOT_ASCII = bytes(range(0x80, 0x100))
_JUNK = b" \t\n\r\x0b\f\0" + _NOT_ASCII  # before a key: blanks, and byte order marks, whole or damaged

_AGENT_KEYS = ("user-agent", "useragent", "user agent")
_ALLOW_KEYS = ("allow",)
_DISALLOW_KEYS = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_SITEMAP_KEYS = ("sitemap", "site-map")
_DELAY_KEYS = ("crawl-delay", "crawldelay", "crawl delay")

_TOKEN = re.compile("[A-Za-z_-]*")
_NUMBER = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_UNNORMALIZED = re.compile(r"%([0-9A-Fa-f]{2})?|[^!#&(-)+-;=?-\[\]_a-z~]")  # what has several spellings


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched, and the line that decides."""

    allowed: bool
    line: str = ""  # as written in the file; empty when no rule matches
    line_number: int = 0  # counted from 1; 0 when no line of the file decided


_NO_RULE = RobotsVerdict(True)
_ROBOTS_TXT_ITSELF = RobotsVerdict(True, "RFC 9309: /robots.txt itself is always allowed")


class _Wildcard(NamedTuple):
    """A rule with `*`, or with `$` at its end."""

    length: int  # of the rule as written: the longest match decides
    needle: str  # its longest fixed part: most URLs do not contain it, and are rejected at once
    pieces: list[str]  # the fixed parts, in order; the first one starts the path
    anchored: bool  # whether the last piece ends the path
    verdict: RobotsVerdict


@dataclass(slots=True)
class _Group:
    """The rules for one user agent, merged from all its groups in the file."""

    named: bool = False
    rules: list[tuple[str, RobotsVerdict]] = field(default_factory=list)
    crawl_delay: float | None = None


@dataclass(slots=True)
class _OpenGroups:
    """The groups that the next rule or delay belongs to.

    User-agent lines without a rule between them share the rules that follow, even with other lines between them (RFC
    9309, section 2.2.4). The RFC does not define Crawl-delay. A delay belongs to the User-agent lines right above it,
    because files are written that way.
    """

    _rule_groups: list[_Group] = field(default_factory=list)
    _delay_groups: list[_Group] = field(default_factory=list)
    _had_rule: bool = False
    _had_delay: bool = False

    def add(self, groups: list[_Group]) -> None:
        """Open the groups of a User-agent line that apply to this crawler."""
        if self._had_rule or self._had_delay:
            self._delay_groups = []
        if self._had_rule:
            self._rule_groups = []
        self._had_rule = self._had_delay = False
        self._rule_groups += groups
        self._delay_groups += groups

    def for_rule(self) -> list[_Group]:
        """Return the groups that an Allow or Disallow line belongs to."""
        self._had_rule = True
        return self._rule_groups

    def for_delay(self) -> list[_Group]:
        """Return the groups that a Crawl-delay line belongs to."""
        self._had_delay = True
        return self._delay_groups


class Robots:
    """The rules of one robots.txt that apply to this crawler."""

    __slots__ = ("_default", "_lengths", "_prefixes", "_wildcards", "crawl_delay", "sitemaps")

    def __init__(self, group: _Group, sitemaps: tuple[str, ...] = (), default: RobotsVerdict = _NO_RULE) -> None:
        self.crawl_delay = group.crawl_delay  # seconds; None when the file sets none
        self.sitemaps = sitemaps
        self._default = default
        self._prefixes: dict[str, RobotsVerdict] = {}
        wildcards: dict[str, RobotsVerdict] = {}
        for pattern, verdict in group.rules:
            if "*" not in pattern and not pattern.endswith("$"):
                _add_rule(self._prefixes, pattern, verdict)
            elif len(wildcards) < _MAX_WILDCARDS or pattern in wildcards:
                _add_rule(wildcards, pattern, verdict)
            elif not verdict.allowed:  # too many wildcards: refuse more than the rule does, never less
                _add_rule(self._prefixes, pattern.partition("*")[0].rstrip("$"), verdict)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wildcards = sorted(map(_wildcard, wildcards.items()), key=_sort_key)

    @classmethod
    def parse(cls, body: bytes, agent: str = "periplus") -> Self:
        """Parse *body* and keep the rules for the product token *agent*."""
        ours, everyone = _Group(), _Group()
        sitemaps: dict[str, None] = {}
        open_groups = _OpenGroups()
        for number, line, key, value in _directives(body):
            if key.startswith(_AGENT_KEYS):
                open_groups.add(_matching_groups(value, agent, ours, everyone))
            elif key.startswith(_SITEMAP_KEYS):
                sitemaps[value.encode("latin-1").decode(errors="replace")] = None
            elif key.startswith(_ALLOW_KEYS + _DISALLOW_KEYS):
                if groups := open_groups.for_rule():
                    verdict = RobotsVerdict(key.startswith(_ALLOW_KEYS), line.decode(errors="replace")[:_SHOWN], number)
                    for group in groups:
                        group.rules.append((_pattern(value), verdict))
            elif key.startswith(_DELAY_KEYS):
                for group in open_groups.for_delay():
                    group.crawl_delay = _longer_delay(group.crawl_delay, value)
        return cls(ours if ours.named else everyone, tuple(sitemaps))

    @classmethod
    def for_status(cls, status: int, body: bytes = b"") -> Self:
        """Return the rules that follow from a response; status 0 means that there was no response."""
        if 200 <= status < 300:
            return cls.parse(body)
        if 300 <= status < 500 and status != 429:
            why = f"robots.txt returned {status}: everything is allowed"
            return cls(_Group(), default=RobotsVerdict(True, why))
        why = f"robots.txt returned {status}" if status else "robots.txt is unreachable"
        return cls(_Group(), default=RobotsVerdict(False, f"{why}: nothing is allowed"))

    @property
    def rules(self) -> list[RobotsVerdict]:
        """The lines that apply to this crawler, in the order of the file."""
        found = {*self._prefixes.values(), *(rule.verdict for rule in self._wildcards)}
        return sorted(found, key=lambda verdict: verdict.line_number)

    @property
    def default(self) -> RobotsVerdict:
        """The verdict for paths that no line matches."""
        return self._default

    def memory_bytes(self) -> int:
        """Estimate the memory that these rules take."""
        size = sys.getsizeof
        total = _EMPTY_BYTES + sum(map(size, self.sitemaps)) + _SITEMAP_BYTES * len(self.sitemaps)
        for prefix, verdict in self._prefixes.items():
            total += _RULE_BYTES + size(prefix) + size(verdict.line)
        for rule in self._wildcards:
            total += _WILDCARD_BYTES + size(rule.verdict.line) + size(rule.pieces) + sum(map(size, rule.pieces))
        return total

    def verdict(self, url_path: str) -> RobotsVerdict:
        """Decide about a path with its query: the longest matching rule wins, and Allow wins over Disallow."""
        latin1 = url_path if url_path.isascii() else url_path.encode("utf-8", "replace").decode("latin-1")
        path = _normalized(latin1) or "/"
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
        return _ROBOTS_TXT_ITSELF if path == "/robots.txt" else found


def _directives(body: bytes) -> Iterator[tuple[int, bytes, str, str]]:
    """Yield number, text, lower-case key and value of every line that has the form of a directive."""
    if len(body) >= _MAX_FILE_BYTES:  # the file may be truncated, and half a rule has another meaning
        body = body[: max(body.rfind(b"\n", 0, _MAX_FILE_BYTES), body.rfind(b"\r", 0, _MAX_FILE_BYTES), 0)]
    for number, raw in enumerate(_without_utf16(body).splitlines(), start=1):
        line = raw[:_MAX_LINE_BYTES].partition(b"#")[0].lstrip(_JUNK).rstrip()
        key, colon, value = line.partition(b":")
        if not colon:
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        # Latin-1 keeps every byte, so a path in any encoding can be escaped byte by byte.
        yield number, line, key.strip().decode("latin-1").lower(), value.strip().decode("latin-1")


def _without_utf16(body: bytes) -> bytes:
    """Re-encode a file in UTF-16 or UTF-32 as UTF-8; its keys are ASCII, so every second byte or more is NUL."""
    nuls = body.count(b"\0")
    marked = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not nuls or (not marked and nuls * _MAX_BYTES_PER_NUL < len(body)):
        return body
    if marked:
        text = body.decode("utf-16", "ignore")
    else:
        start = body.lstrip(_NOT_ASCII)  # a damaged byte order mark may have an odd length
        text = start.decode("utf-16-be" if start.startswith(b"\0") else "utf-16-le", "ignore")
    return text.replace("\0", "").encode()  # of UTF-32, every second character is NUL


def _matching_groups(value: str, agent: str, ours: _Group, everyone: _Group) -> list[_Group]:
    """Return the groups that a User-agent line opens for this crawler; `Foo Bar` and `Foo/1.0` mean `Foo`."""
    token = _TOKEN.match(value)
    if value == "*" or value.startswith(("* ", "*\t")):
        group = everyone
    elif token and token[0] and token[0].lower() == agent.lower():
        group = ours
    else:
        return []
    group.named = True
    return [group]


def _longer_delay(delay: float | None, value: str) -> float | None:
    number = _NUMBER.match(value)
    return max(delay or 0.0, float(number[0])) if number else delay


def _pattern(value: str) -> str:
    """Normalize the path of a rule; only `*` and a final `$` keep their special meaning."""
    path, anchor = (value[:-1], "$") if value.endswith("$") else (value, "")
    return "*".join(_normalized(piece) for piece in path.split("*")) + anchor


def _normalized(path: str) -> str:
    return _UNNORMALIZED.sub(_escape, path) if _UNNORMALIZED.search(path) else path


def _escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return f"%{ord(match[0]):02X}"
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _add_rule(rules: dict[str, RobotsVerdict], pattern: str, verdict: RobotsVerdict) -> None:
    """Add a rule; of two rules with one pattern Allow wins, then the first. An empty pattern is ignored."""
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


def _sort_key(rule: _Wildcard) -> tuple[int, bool]:
    """Sort the longest rules first, Allow before Disallow."""
    return -rule.length, not rule.verdict.allowed


def _matches(path: str, pieces: list[str], anchored: bool) -> bool:
    """Match the fixed parts from left to right; taking the first occurrence of each part needs no backtracking."""
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
