"""Site profiles: CSS selectors for the title, body and categories of certain sites.

The host chooses the profile, or else the generator of the page. Profiles do not affect links, which come from the whole
page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from turbohtml import Document, Element

from periplus.config import SiteProfile
from periplus.parse.html.facts import add_categories
from periplus.parse.limits import HEADING, HEADINGS, TEXT, TITLE, squeeze
from periplus.parse.main_text.line_scores import Body

BUILT_IN = {
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
_MAX_CACHED_HOSTS = 50_000
_LEVELS = {f"h{level}": [str(level)] for level in range(1, 7)}


class Profiles:
    """The profiles of a collection: the built-in ones, overridden and extended by its configuration."""

    def __init__(self, given: Mapping[str, SiteProfile]) -> None:
        merged = {name: _merged(BUILT_IN.get(name), given.get(name)) for name in {**given, **BUILT_IN}}
        self._by_host = [(_any_of(profile.hosts), profile) for profile in merged.values() if profile.hosts]
        self._by_generator = {profile.generator: profile for profile in merged.values() if profile.generator}
        self._known: dict[str, SiteProfile | None] = {}

    def find(self, host: str, generator: str) -> SiteProfile | None:
        """The profile for a page of *host* made by *generator*; the host takes precedence."""
        if host not in self._known:
            if len(self._known) >= _MAX_CACHED_HOSTS:
                self._known.clear()
            self._known[host] = next((profile for hosts, profile in self._by_host if hosts.fullmatch(host)), None)
        found = self._known[host]
        if found is None and generator:
            return next((profile for start, profile in self._by_generator.items() if generator.startswith(start)), None)
        return found


def _merged(built_in: SiteProfile | None, given: SiteProfile | None) -> SiteProfile:
    if built_in is None or given is None:
        return built_in or given or SiteProfile()
    return built_in.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


class Excerpt:
    """The parts of one document that a profile selects.

    Create it before the tree is changed; call `read`, which removes elements, after the links are extracted.
    """

    def __init__(self, profile: SiteProfile, document: Document) -> None:
        title = document.select_one(profile.title) if profile.title else None
        self.title = squeeze(title.to_text(), TITLE) if title is not None else ""
        names: dict[str, None] = {}
        add_categories(names, (element.text for element in _selected(document, profile.categories)))
        self.categories = tuple(names)
        self._body = document.select_one(profile.body) if profile.body else document.root
        self._removed = [element for selector in profile.remove for element in _selected(document, selector)]

    def read(self) -> tuple[Body, tuple[str, ...]] | None:
        """The text and its headings, without headings of empty sections; None if the body selector matches nothing."""
        body = self.cleaned_body()
        if body is None:
            return None
        lines = _without_empty_headings(*body.to_annotated_text(_LEVELS))
        text = "\n".join(line for line, _ in lines)[:TEXT].rstrip()
        headings = [squeeze(line, HEADING) for line, level in lines if level][:HEADINGS]
        return Body(text, ((0, len(text)),) if text else (), 0.0), tuple(headings)

    def cleaned_body(self) -> Element | None:
        """The element with the text, without the elements that the profile removes; None if no element matches."""
        for element in self._removed if self._body is not None else ():
            element.extract()
        return self._body


def _selected(document: Document, selector: str) -> list[Element]:
    return document.select(selector) if selector else []


def _without_empty_headings(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[str, int]]:
    """The lines of a text with their heading level, 0 for text; drops headings of empty sections."""
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
