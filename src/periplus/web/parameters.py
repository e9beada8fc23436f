"""Reads the query parameters of a request.

A number outside its range is clamped to the range. Any other invalid value raises `UsageError`, which becomes a 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from periplus.errors import UsageError
from periplus.model import SiteBoosts
from periplus.site.site_rules import ALL_SITES, NO_RULES, SiteRules, decode

QUERY_LENGTH = 2_048  # characters; the search box accepts no more, and the engine ignores the rest
URL_LENGTH = 4_096
PAGES = 100
SIZE = 10  # results on an HTML page
API_SIZE = 15  # results in a JSON document
MEDIA_SIZE = 30  # images or videos on a page, unless the reader has chosen a number
LARGEST_SIZE = 100
AGES = {"day": 1, "week": 7, "month": 31, "year": 365}  # in days, by the value of `time`
TYPES = ("html", "pdf", "text", "feed", "xml")  # values of `type`
SITE_POINTS = {"raise": 2.0, "lower": -2.0}  # added to the score: about the distance of the 1st and the 5th result
FILTERS = ("time", "lang", "type", "site")
TABS = ("images", "videos", "news", "pdf")  # values of `tab`; without it, the tab is Web
_NUMBER = re.compile(r"([+-]?)0*([0-9]+)")
_DIGITS = 9  # a longer number exceeds every range
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_MODES = ("auto", "and", "or")
_EXPORTS = {"rss": "/search.rss", "csv": "/search.csv", "json": "/api/search"}
_LABELS = {"page": "page number", "size": "page size", "lang": "language", "type": "file type"}
_LANGUAGE = re.compile(r"[a-z]{2,3}", re.IGNORECASE)
_HOST = re.compile(r"[^\s\x00-\x1f()\"/?#@]{1,253}")


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """The parameters of one search."""

    query: str
    page: int = 1
    size: int = SIZE
    explain: bool = False
    mode: str = "auto"
    exact: bool = False  # without spelling correction
    features: bool = False  # with weights and features; for the API
    usual_size: int = SIZE  # that this reader has chosen

    time: str = ""  # a filter: one of `AGES`
    lang: str = ""  # a filter: a language code
    type: str = ""  # a filter: one of `TYPES`
    site: str = ""  # a filter: a host, with its subdomains
    tab: str = ""  # one of `TABS`; empty: all pages

    sites: SiteRules = NO_RULES  # that the reader raises, lowers or blocks
    saved_sites: SiteRules = NO_RULES  # those in the cookie of this reader

    @property
    def filters(self) -> dict[str, str]:
        """The active filters by name."""
        return {name: value for name in FILTERS if (value := getattr(self, name))}

    @property
    def kept(self) -> dict[str, str]:
        """The parameters that the search box keeps for the next query: tab, filters, and unsaved rules about sites."""
        values = {"tab": self.tab, "sites": self.sites_value}
        return {name: value for name, value in values.items() if value} | self.filters

    @property
    def search_text(self) -> str:
        """The query with blocked sites and filters as operators; they come first, because a long query is cut off."""
        operators = self._operators
        return f"{operators} ({_with_pairs(self.query)})" if operators else self.query

    @property
    def site_boosts(self) -> SiteBoosts:
        """The points that raised and lowered sites get."""
        return tuple((host, SITE_POINTS[kind]) for host, kind in self.sites.rules if kind in SITE_POINTS)

    @property
    def sites_value(self) -> str:
        """The value of `sites` in URLs; empty when the saved rules apply."""
        return "" if self.sites == self.saved_sites else self.sites.encode() or ALL_SITES

    @property
    def _operators(self) -> str:
        values = {
            "after": since(self.time) if self.time else "",
            "lang": self.lang,
            "filetype": "pdf" if self.tab == "pdf" else self.type,
            "site": self.site,
        }
        blocked = [f"-site:{host}" for host in self.sites.hosts("block")]
        return " ".join([*blocked, *(f"{operator}:{value}" for operator, value in values.items() if value)])

    def without_filters(self, text: str) -> str:
        """A form of `search_text` that the engine gave, without the operators of the filters."""
        operators = self._operators
        if not operators or not text.startswith(f"{operators} "):
            return text
        text = text.removeprefix(f"{operators} ")
        return text[1:-1] if _is_one_group(text) else text

    def with_filters(self, **filters: str) -> SearchParameters:
        """The first page of this search with other filters; an empty value removes a filter."""
        changes: dict[str, Any] = filters
        return replace(self, page=1, **changes)

    def unfiltered(self) -> SearchParameters:
        """The first page of this search without filters."""
        return self.with_filters(**dict.fromkeys(FILTERS, ""))

    def without_blocked(self, excluded: Sequence[str]) -> tuple[str, ...]:
        """What the query itself excludes, of everything that a search excluded."""
        own = [f"site:{host}" for host in self.sites.hosts("block")]
        return tuple(excluded[len(own) :] if list(excluded[: len(own)]) == own else excluded)

    def link(self, page: int = 1, *, path: str = "/search", **changes: str | bool | SiteRules) -> str:
        """The URL of another result page, or of this search with other parameters; defaults are left out."""
        fields: dict[str, Any] = changes
        other = replace(self, page=page, **fields)
        sites = other.sites_value  # its characters need no encoding
        return f"{path}?{urlencode(other.form_fields)}{f'&sites={sites}' if sites else ''}"

    @property
    def form_fields(self) -> dict[str, str]:
        """The parameters of this page by name, without rules about sites; defaults are left out."""
        values = {"tab": self.tab} | self.filters
        values |= {"mode": self.mode if self.mode != _MODES[0] else "", "exact": "1" if self.exact else ""}
        is_usual = self.size == self.usual_size == SIZE  # otherwise a link shows the same page to other readers
        values |= {"size": "" if is_usual else str(self.size), "page": str(self.page) if self.page > 1 else ""}
        return {"q": self.query} | {name: value for name, value in values.items() if value}

    def export(self, form: str) -> str:
        """The URL of these results as "rss", "csv" or "json"; a feed always begins with the first page."""
        page = 1 if form == "rss" else self.page
        shown = replace(self, saved_sites=NO_RULES)  # a program has no cookie
        if form != "json" or not self.tab:
            return shown.link(page, path=_EXPORTS[form])
        if self.tab == "pdf":
            return shown.link(page, path=_EXPORTS[form], tab="", type="pdf")
        return shown.link(page, path=f"/api/{self.tab}", tab="")


def since(time: str) -> str:
    """The first day of the newest pages; *time* is one of `AGES`."""
    return f"{datetime.now(UTC).date() - timedelta(days=AGES.get(time, 0))}"


def _with_pairs(query: str) -> str:
    """The query without its parentheses if they do not match: `a) OR (b` would end the group that filters apply to."""
    depths = list(accumulate((character == "(") - (character == ")") for character in query))
    is_matched = not depths or (depths[-1] == 0 and min(depths) >= 0)
    return query if is_matched else query.replace("(", " ").replace(")", " ")


def _is_one_group(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depths = list(accumulate((character == "(") - (character == ")") for character in text))
    return depths[:1] == [1] and depths[-1] == 0 and 0 not in depths[:-1]


def read(parameters: Mapping[str, str], usual_size: int = SIZE, saved_sites: SiteRules = NO_RULES) -> SearchParameters:
    """Reads the search parameters from the query string.

    *usual_size* and *saved_sites*: results per page and rules about sites when the query string names none.
    """
    tab = _choice("tab", parameters.get("tab", ""), TABS)
    kind = _choice("type", parameters.get("type", ""), TYPES)
    return SearchParameters(
        parameters.get("q", "").strip(),
        _number("page", parameters.get("page", ""), 1, PAGES),
        _number("size", parameters.get("size", ""), usual_size, LARGEST_SIZE),
        _switch("explain", parameters.get("explain", "")),
        _choice("mode", parameters.get("mode", ""), _MODES) or _MODES[0],
        _switch("exact", parameters.get("exact", "")),
        _switch("features", parameters.get("features", "")),
        usual_size,
        _choice("time", parameters.get("time", ""), tuple(AGES)),
        _matching("lang", parameters.get("lang", "").lower(), _LANGUAGE, "a code such as en"),
        "" if tab == "pdf" else kind,
        _matching("site", parameters.get("site", "").lower(), _HOST, "a host such as example.org"),
        tab,
        _site_rules(parameters.get("sites", ""), saved_sites),
        saved_sites,
    )


def read_url(parameters: Mapping[str, str]) -> str:
    """Reads the URL of the page whose cached copy is requested."""
    url = parameters.get("url", "").strip()
    if not url:
        raise UsageError("missing URL", hint="Add it: /cached?url=https://example.org/.")
    if len(url) > URL_LENGTH:
        raise UsageError(f"the URL is too long ({len(url):,} characters)", f"the limit is {URL_LENGTH:,}")
    return url


def _site_rules(text: str, saved: SiteRules) -> SiteRules:
    if not text:
        return saved
    return NO_RULES if text == ALL_SITES else decode(text)


def _number(name: str, text: str, default: int, largest: int) -> int:
    if not text:
        return default
    found = _NUMBER.fullmatch(text)
    if not found:
        raise UsageError(f"invalid {_LABELS[name]} {_short(text)} (1-{largest})")
    sign, digits = found.groups()
    size = int(digits[:_DIGITS]) if len(digits) <= _DIGITS else largest
    return 1 if sign == "-" else min(max(size, 1), largest)


def _switch(name: str, text: str) -> bool:
    if text and text.lower() not in _SWITCH:
        raise UsageError(f"invalid value {_short(text)} for {name} (1 or 0)")
    return _SWITCH.get(text.lower(), False)


def _choice(name: str, text: str, choices: tuple[str, ...]) -> str:
    if text and text not in choices:
        raise UsageError(f"invalid {_LABELS.get(name, name)} {_short(text)} ({', '.join(choices)})")
    return text


def _matching(name: str, text: str, form: re.Pattern[str], expected: str) -> str:
    if text and not form.fullmatch(text):
        raise UsageError(f"invalid {_LABELS.get(name, name)} {_short(text)} ({expected})")
    return text


def _short(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
