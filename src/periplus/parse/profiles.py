"""Which sites are read by rules of their own, and what do the rules pick out?

A profile names parts of a page by CSS selectors. It is chosen by the host, or by the program that made the page. Links
are not its business: a page leads wherever it leads, whatever is taken for its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from turbohtml import Document, Element

from periplus.config import SiteProfile
from periplus.parse.facts import add_categories
from periplus.parse.limits import HEADING, HEADINGS, TEXT, TITLE, squeeze
from periplus.parse.maintext import Body

READY = {
    "mediawiki": SiteProfile(
        generator="MediaWiki",
        title="#firstHeading",
        body="#mw-content-text",
        categories="#mw-normal-catlinks li a, #catlinks li a",
        remove=[
            ".mw-editsection, .mw-jump-link, .mw-empty-elt, .mw-cite-backlink, .mw-indicators",
            "sup.reference, ol.references, .reflist, .refbegin, .citation-needed-content",
            "table, .infobox, .navbox, .vertical-navbox, .sidebar, .metadata, .ambox, .hatnote, .dablink",
            "#toc, .toc, .noprint, .printfooter, .thumbcaption .magnify, #siteSub, #contentSub",
        ],
    )
}
_HOSTS_REMEMBERED = 50_000
_LEVELS = {f"h{level}": [str(level)] for level in range(1, 7)}


class Profiles:
    """The profiles of a collection: the ready ones, changed and joined by those of its configuration."""

    def __init__(self, given: Mapping[str, SiteProfile]) -> None:
        merged = {name: _merged(READY.get(name), given.get(name)) for name in {**given, **READY}}
        self._by_host = [(_any_of(profile.hosts), profile) for profile in merged.values() if profile.hosts]
        self._by_generator = {profile.generator: profile for profile in merged.values() if profile.generator}
        self._known: dict[str, SiteProfile | None] = {}

    def find(self, host: str, generator: str) -> SiteProfile | None:
        """The profile for a page of *host* that *generator* made; the host decides first."""
        if host not in self._known:
            if len(self._known) >= _HOSTS_REMEMBERED:
                self._known.clear()
            self._known[host] = next((profile for hosts, profile in self._by_host if hosts.fullmatch(host)), None)
        found = self._known[host]
        if found is None and generator:
            return next((profile for start, profile in self._by_generator.items() if generator.startswith(start)), None)
        return found


def _merged(ready: SiteProfile | None, given: SiteProfile | None) -> SiteProfile:
    if ready is None or given is None:
        return ready or given or SiteProfile()
    return ready.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


class Excerpt:
    """What a profile picks out of one document; made before the tree is changed, read after its links were."""

    def __init__(self, profile: SiteProfile, document: Document) -> None:
        title = document.select_one(profile.title) if profile.title else None
        self.title = squeeze(title.to_text(), TITLE) if title is not None else ""
        names: dict[str, None] = {}
        add_categories(names, (element.text for element in _selected(document, profile.categories)))
        self.categories = tuple(names)
        self._body = document.select_one(profile.body) if profile.body else document.root
        self._removed = [element for selector in profile.remove for element in _selected(document, selector)]

    def read(self) -> tuple[Body, tuple[str, ...]] | None:
        """The text and its headings, without those that nothing follows; None when the page has no such body."""
        if self._body is None:
            return None
        for element in self._removed:
            element.extract()
        lines = _without_empty_headings(*self._body.to_annotated_text(_LEVELS))
        text = "\n".join(line for line, _ in lines)[:TEXT].rstrip()
        headings = [squeeze(line, HEADING) for line, level in lines if level][:HEADINGS]
        return Body(text, ((0, len(text)),) if text else (), 0.0), tuple(headings)


def _selected(document: Document, selector: str) -> list[Element]:
    return document.select(selector) if selector else []


def _without_empty_headings(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[str, int]]:
    """The lines of a text with their level as a heading, 0 for none; a heading stays when something is below it."""
    levels = {start: int(level) for start, _, level in spans}
    kept: list[tuple[str, int]] = []
    position = len(text) + 1
    for line in reversed(text.split("\n")):
        position -= len(line) + 1
        words = " ".join(line.split())
        level = levels.get(position, 0)
        if words and (not level or (kept and (kept[-1][1] == 0 or kept[-1][1] > level))):
            kept.append((words, level))
    return kept[::-1]
