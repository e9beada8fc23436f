"""Reads and writes a reader's rules about sites: which to raise, to lower or to block.

A rule is a kind and a host, and applies to the subdomains of the host, too. A URL has the rules as
`raise:docs.python.org,block:spam.example`; a text file has `raise docs.python.org`, one rule a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from periplus.errors import UsageError
from periplus.url import Canonicalizer, host_of

KINDS = ("raise", "lower", "block")
MOST = 50  # rules of one reader
LONGEST = 2_000  # characters of all rules as text; a cookie has room for about 4,000
ALL_SITES = "all"  # the value in a URL for no rules, where other rules are saved
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_RULE = re.compile(rf"({'|'.join(KINDS)}):(.+)")
_LINE = re.compile(r"([A-Za-z]+)[:\s]\s*(\S+)")


@dataclass(frozen=True)
class SiteRules:
    """The rules of one reader: kind by host."""

    rules: tuple[tuple[str, str], ...] = ()  # host and kind

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def by_host(self) -> dict[str, str]:
        """The kinds by host."""
        return dict(self.rules)

    def hosts(self, kind: str) -> list[str]:
        """The hosts with rules of this kind."""
        return [host for host, other in self.rules if other == kind]

    def rule_for(self, host: str) -> tuple[str, str]:
        """Host and kind of the rule that applies to a host: of the longest name; empty texts when none does."""
        while host and host not in self.by_host:
            host = host.partition(".")[2]
        return host, self.by_host.get(host, "")

    def changed(self, host: str, kind: str) -> SiteRules:
        """The rules with another rule for this host; an empty *kind* removes its rule."""
        kept = tuple(rule for rule in self.rules if rule[0] != host)
        return SiteRules((*kept, (host, kind)) if kind else kept)

    def encode(self, separator: str = ",", sign: str = ":") -> str:
        """The rules as text, such as `raise:docs.python.org,block:spam.example`."""
        return separator.join(f"{kind}{sign}{host}" for host, kind in self.rules)

    @property
    def lines(self) -> str:
        """The rules as a text file."""
        return "".join(f"{line}\n" for line in self.encode("\n", " ").splitlines())


NO_RULES = SiteRules()


def is_host(text: str) -> bool:
    """Whether a rule can name this host: no IPv6 address, no capitals."""
    return _HOST.fullmatch(text) is not None


def joined(rules: SiteRules, more: SiteRules) -> SiteRules:
    """Both sets of rules, the later rule of each host; raises `UsageError` when they exceed the limits."""
    return decode(SiteRules(tuple((rules.by_host | more.by_host).items())).encode())


def decode(text: str, separator: str = ",") -> SiteRules:
    """Reads rules that this site has written; raises `UsageError` for anything else."""
    if len(text) > LONGEST:
        raise UsageError(f"the rules about sites are too long ({len(text):,} characters)", f"the limit is {LONGEST:,}")
    return _limited(_read_rule(part, part) for part in text.split(separator) if part)


def read_lines(text: str) -> SiteRules:
    """Reads the rules of a text file; errors name the line. Blank lines and lines with # are left out."""
    return decode(_limited(_rules_of_lines(text)).encode())


def typed_host(text: str) -> str:
    """The host that a reader has typed, as a name, a pattern such as *.example.org or a URL; empty if it is none."""
    bare = text.strip().removeprefix("*.")
    url = Canonicalizer().canonical(bare if "://" in bare else f"http://{bare}/")
    host = host_of(url) if url else ""
    return host if is_host(host) else ""


def _rules_of_lines(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        rule = line.strip()
        if not rule or rule.startswith("#"):
            continue
        found = _LINE.fullmatch(rule)
        plain = f"{found[1].lower()}:{typed_host(found[2])}" if found else ""
        yield _read_rule(plain, rule, f"line {number}: ")


def _read_rule(text: str, shown: str, where: str = "") -> tuple[str, str]:
    found = _RULE.fullmatch(text)
    if found is None or not is_host(found[2]):
        short = shown if len(shown) <= 60 else f"{shown[:60]}…"
        raise UsageError(
            f'{where}"{short}" is no rule about a site', "write raise, lower or block and a host such as example.org"
        )
    return found[2], found[1]


def _limited(rules: Iterable[tuple[str, str]]) -> SiteRules:
    """The rules, the last one of each host; raises `UsageError` when they are too many."""
    by_host = dict(rules)
    if len(by_host) > MOST:
        raise UsageError(f"{len(by_host)} rules about sites", f"the limit is {MOST}")
    return SiteRules(tuple(by_host.items()))
