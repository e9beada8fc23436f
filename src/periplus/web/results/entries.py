"""Prepares one page of results for the template: entries, page links and counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

from periplus.model import Hit, Results
from periplus.parse.language import name_of
from periplus.web.display import Piece, breadcrumb, moment, pieces, short_day, shortened, visible, web_link
from periplus.web.parameters import PAGES, SearchParameters
from periplus.web.results.grouping import Grouped, grouped
from periplus.web.results.site_choices import site_choices

_OTHERS_SHOWN = 2  # the page about the page has all of them
_NUMBERS_SHOWN = 9
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_BADGES = {
    "application/pdf": "PDF",
    "text/plain": "Text",
    "text/markdown": "Text",
    "application/json": "JSON",
    "application/rss+xml": "Feed",
    "application/atom+xml": "Feed",
    "application/xml": "XML",
    "text/xml": "XML",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One result, ready for the template."""

    link: str  # empty when the URL is not http or https: shown, but not linked
    title: str
    host: str
    crumbs: tuple[str, ...]
    snippet: tuple[Piece, ...]
    badge: str
    language: str  # for the `lang` attribute; empty for English, the language of the site
    language_name: str  # shown when most results are in another language
    day: str  # the date that the page states
    moment: str
    missing: tuple[str, ...]  # words of the query that the page lacks
    is_partial: bool  # the page has only some of the words
    is_indented: bool  # below a better result of the same host
    others: tuple[tuple[str, str], ...]  # link and text of other URLs with the same content
    others_left_out: int
    site_link: str  # to the same search on this site; empty when the search has a site already
    site_more: int  # results of this site that this page does not show; 0: unknown, or none
    is_last: bool  # the last of several results of its host
    about: tuple[tuple[str, str], ...]  # text and link of the pages about this result
    site_choices: tuple[tuple[str, str], ...]  # text and value of `sites`: raise, lower or block the site


def entries(parameters: SearchParameters, hits: Sequence[Hit], site_counts: Mapping[str, int]) -> list[Entry]:
    """The hits, grouped by host; *site_counts* are the numbers of results by host."""
    languages = Counter(hit.language for hit in hits).most_common(1)
    usual = languages[0][0] if languages else ""
    is_news = parameters.tab == "news"  # results in the order of their dates are not grouped
    shown = [Grouped(hit, is_indented=False, is_last=False) for hit in hits] if is_news else grouped(hits)
    return [_entry(parameters, one, usual, _more(one.hit, hits, site_counts)) for one in shown]


def _more(hit: Hit, hits: Sequence[Hit], site_counts: Mapping[str, int]) -> int:
    """The number of results of a site that this page does not show."""
    shown = sum(other.host == hit.host or other.host.endswith(f".{hit.host}") for other in hits)
    return max(site_counts.get(hit.host, 0) - shown, 0)


def _entry(parameters: SearchParameters, one: Grouped, usual: str, more: int) -> Entry:
    hit = one.hit
    host, crumbs = breadcrumb(hit.url)
    language = hit.language if _LANGUAGE.fullmatch(hit.language) else ""
    restricted = parameters.site or "site:" in parameters.query
    return Entry(
        link=web_link(hit.url),
        title=visible(hit.title).strip() or visible(hit.url),
        host=host or visible(hit.host),
        crumbs=crumbs,
        snippet=tuple(pieces(hit.snippet, hit.highlights)),
        badge=_BADGES.get(hit.mime, ""),
        language="" if language == "en" else language,
        language_name=name_of(language) if hit.language != usual else "",
        day=short_day(hit.date or 0.0),
        moment=moment(hit.date or 0.0),
        missing=tuple(map(visible, hit.missing)),
        is_partial=not hit.all_words,
        is_indented=one.is_indented,
        others=tuple((web_link(url), shortened(url)) for url in hit.same_content[:_OTHERS_SHOWN]),
        others_left_out=max(len(hit.same_content) - _OTHERS_SHOWN, 0),
        site_link="" if restricted else parameters.link(site=hit.host),
        site_more=more,
        is_last=one.is_last,
        about=_about(parameters, hit.url),
        site_choices=site_choices(parameters.sites, hit.host),
    )


def _about(parameters: SearchParameters, url: str) -> tuple[tuple[str, str], ...]:
    encoded = urlencode({"url": url}, safe="/:", errors="replace")  # a shorter page than with all signs encoded
    query = urlencode({"q": parameters.query}, errors="replace")
    why = ("Why this result?", f"{parameters.link(path='/why')}&{encoded}")
    return (
        ("Cached copy", f"/cached?{encoded}&{query}"),
        *(() if parameters.tab == "news" else (why,)),  # news are not ordered by score
        ("Pages like this", f"/like?{encoded}"),
        ("About this page", f"/page?{encoded}&{query}"),
        ("Inspect", f"/inspect?{encoded}"),
    )


@dataclass(frozen=True, slots=True)
class Paging:
    """The links below the results; an empty link is not shown."""

    previous: str
    numbers: tuple[tuple[int, str], ...]
    next: str


class Listed(Protocol):
    """One page of results of any kind."""

    @property
    def total(self) -> int:
        """The number of results."""
        ...

    @property
    def total_is_exact(self) -> bool:
        """False: `total` is a lower bound."""
        ...

    @property
    def page(self) -> int:
        """The number of this page, from 1."""
        ...

    @property
    def size(self) -> int:
        """Results per page."""
        ...

    @property
    def hits(self) -> Sequence[object]:
        """The results of this page."""
        ...


def paging(parameters: SearchParameters, results: Listed) -> Paging:
    """Links to the result pages around this one."""
    page = results.page
    last = last_page(results)
    first_shown = max(1, min(page - _NUMBERS_SHOWN // 2, last - _NUMBERS_SHOWN + 1))
    shown = range(first_shown, min(first_shown + _NUMBERS_SHOWN, last + 1))
    return Paging(
        previous=parameters.link(min(page - 1, last)) if page > 1 else "",
        numbers=tuple((number, parameters.link(number)) for number in shown) if last > 1 else (),
        next=parameters.link(page + 1) if page < last else "",
    )


def last_page(results: Listed) -> int:
    """The last page that gets a link; when the total is a lower bound, one more page may exist."""
    counted = -(-results.total // results.size)
    if not results.total_is_exact and len(results.hits) == results.size:
        counted = max(counted, results.page + 1)
    return min(max(counted, 1), PAGES)


def count(results: Results) -> str:
    """The number of results, apart for pages with all and with some words; "At least" for a lower bound."""
    noun = "result" if results.total == 1 else "results"
    if not results.total_is_exact:
        return f"At least {results.total:,} {noun}"
    complete = results.with_all_words
    if complete == results.total:
        return f"{results.total:,} {noun}"
    if not complete:
        return f"No page has all your words. {results.total:,} partial match{'' if results.total == 1 else 'es'}"
    pages = "1 page has" if complete == 1 else f"{complete:,} pages have"
    return f"{pages} all your words, {results.total - complete:,} some"


def missing_everywhere(results: Results) -> tuple[str, ...]:
    """The words that all results on the page lack, when no page has all words."""
    if results.with_all_words or not results.hits:
        return ()
    first, *others = results.hits
    return tuple(visible(word) for word in first.missing if all(word in hit.missing for hit in others))


def understood(parameters: SearchParameters, results: Results) -> str:
    """The query as the engine interpreted it, if that differs from the typed query."""
    text = parameters.without_filters(results.understood)
    return text if text.split() != parameters.query.split() else ""
