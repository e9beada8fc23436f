"""Prepares one page of results for the template: entries, page links, counts and suggestions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from periplus.model import Hit, Results
from periplus.web.display import Piece, breadcrumb, cached_link, day, moment, page_link, pieces, visible, web_link
from periplus.web.explanations import ScoreReasons, reasons
from periplus.web.parameters import PAGES, SearchParameters

_OTHERS_SHOWN = 10
_NUMBERS_SHOWN = 9
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_BADGES = {"application/pdf": "PDF", "text/plain": "Text", "text/markdown": "Text", "application/json": "JSON"}
_OPERATOR = re.compile(r"(?<!\S)(?:-\S+|[a-z]+:\S+|AND|OR|NOT)(?!\S)|[\"()]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One result, ready for the template."""

    link: str  # empty when the URL is not http or https: shown, but not linked
    title: str
    host: str
    crumbs: tuple[str, ...]
    snippet: tuple[Piece, ...]
    badge: str
    language: str
    day: str
    moment: str
    cached: str
    about: str  # link to the page about this page
    reasons: ScoreReasons
    others: tuple[tuple[str, str], ...]  # link and text of other URLs with the same content
    others_left_out: int
    more: str  # link to the same search with site:host
    is_partial: bool  # the page has only some of the words


def entries(parameters: SearchParameters, hits: Sequence[Hit]) -> list[Entry]:
    """The hits, ready for the template."""
    return [_entry(parameters, hit) for hit in hits]


def _entry(parameters: SearchParameters, hit: Hit) -> Entry:
    host, crumbs = breadcrumb(hit.url)
    same_site = f"{parameters.query} site:{hit.host}"
    return Entry(
        link=web_link(hit.url),
        title=visible(hit.title).strip() or visible(hit.url),
        host=host or visible(hit.host),
        crumbs=crumbs,
        snippet=tuple(pieces(hit.snippet, hit.highlights)),
        badge=_BADGES.get(hit.mime, ""),
        language=hit.language if _LANGUAGE.fullmatch(hit.language) else "",
        day=day(hit.fetched_at),
        moment=moment(hit.fetched_at),
        cached=cached_link(hit.url, parameters.query),
        about=page_link("/page", hit.url, q=parameters.query),
        reasons=reasons(hit.score, hit.explain),
        others=tuple((web_link(url), visible(url)) for url in hit.same_content[:_OTHERS_SHOWN]),
        others_left_out=max(len(hit.same_content) - _OTHERS_SHOWN, 0),
        more="" if "site:" in parameters.query else parameters.link(query=same_site),
        is_partial=not hit.all_words,
    )


@dataclass(frozen=True, slots=True)
class Paging:
    """The links below the results; an empty link is not shown."""

    previous: str
    numbers: tuple[tuple[int, str], ...]
    next: str


def paging(parameters: SearchParameters, results: Results) -> Paging:
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


def last_page(results: Results) -> int:
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
    pages = "No page has" if not complete else "1 page has" if complete == 1 else f"{complete:,} pages have"
    return f"{pages} all your words, {results.total - complete:,} some"


def understood(results: Results) -> str:
    """The query as the engine interpreted it, if that differs from the typed query."""
    return results.understood if results.understood.split() != results.query.split() else ""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Links to similar searches when nothing was found; an empty link is not shown."""

    any_word: str
    plain: str
    plain_query: str


def suggestions(parameters: SearchParameters) -> Suggestions:
    """Searches that find more than this one."""
    plain = " ".join(_OPERATOR.sub(" ", parameters.query).split())
    several = len(plain.split()) > 1
    return Suggestions(
        any_word=parameters.link(mode="or") if several and parameters.mode != "or" else "",
        plain=parameters.link(query=plain) if plain and plain.split() != parameters.query.split() else "",
        plain_query=plain,
    )
