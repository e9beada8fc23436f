"""Writes the first periplus.toml of a collection: the settings that most people change, each with a comment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from periplus.config import Settings

_TEXT = """\
# Settings of this collection. `periplus config show --origin` lists all of them with their values;
# docs/reference/settings.md explains them. Lines that begin with # have the default.

[identity]
# URL or e-mail address of the operator, sent with every request, so that webmasters can reach you.
contact = {contact}

[scope]
# Where crawls start. A URL that you add is fetched by the next crawl.
seeds = {seeds}
# Regular expressions of hosts to crawl. Empty: the hosts of the seeds.
{hosts}
# Regular expressions; one must match somewhere in path and query. Empty: every path.
# paths = []
# Maximum number of links from a seed.
# depth = {depth}
# Maximum number of URLs per registrable domain.
# pages_per_domain = {pages_per_domain}

[politeness]
# Seconds between two requests to a host. A longer Crawl-delay in robots.txt counts.
# delay = {delay:g}

[site]
# Name of the search site.
{name}
"""


@dataclass(frozen=True, slots=True)
class FirstSettings:
    """The settings of a new collection."""

    contact: str
    seeds: Sequence[str]
    hosts: Sequence[str]  # regular expressions; empty: the hosts of the seeds
    name: str  # of the search site; empty: the default


def settings_text(first: FirstSettings) -> str:
    """The text of periplus.toml."""
    usual = Settings()
    return _TEXT.format(
        contact=_toml(first.contact),
        seeds=_listed(first.seeds),
        hosts=f"hosts = {_listed(first.hosts)}" if first.hosts else "# hosts = []",
        depth=usual.scope.depth,
        pages_per_domain=usual.scope.pages_per_domain,
        delay=usual.politeness.delay,
        name=f"name = {_toml(first.name)}" if first.name else f"# name = {_toml(usual.site.name)}",
    )


def _listed(texts: Sequence[str]) -> str:
    """A TOML array, one text a line."""
    return "[\n" + "".join(f"    {_toml(text)},\n" for text in texts) + "]" if texts else "[]"


def _toml(text: str) -> str:
    """A TOML string; JSON escapes the same characters, and DEL besides."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
