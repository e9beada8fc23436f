"""Extracts the main text of a page: what is left without menus, footers and other boilerplate?

`choose` scores every line of the visible text by its length, its share of links and the elements around it. The main
text is the run of lines with the highest total score. Lines in the run with a very low score are removed, and lines
outside it with a very high score are added. The weights come from a logistic regression on 444 news, blog and
documentation pages whose main text is known; `bench/parse.py` measures the result. The result depends on the page
alone, so parsing the page again gives the same.

`PartMarker` classifies elements by their names: ``class="sidebar"``, ``id="main-content"``, ``role="navigation"``. It
tells three kinds apart: boilerplate (menus, footers, comments), secondary text (captions, bylines, lists of links) and
main content. It renames each such element to one tag per kind, so that turbohtml renders the text with its parts in one
pass.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document

from periplus.parse.limits import TEXT

ASIDE, APART, MAIN = "aside", "address", "main"  # tags
_NONE = ""
_WEAK = frozenset({_NONE, APART})
_NAMED = ("div", "section", "header", "figure", "dl", "dialog", "ul", "ol", "table", "td", "form")
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
# fmt: off
_VOCABULARIES = {
    MAIN: frozenset({
        "articlebody", "articlecontent", "articletext", "bodycontent", "contentbody", "entrycontent", "mainbody",
        "maincontent", "mwcontenttext", "postbody", "postcontent", "storybody", "storycontent",
    }),
    ASIDE: frozenset({
        "ad", "addthis", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "comment",
        "commentlist", "comments", "consent", "contentinfo", "cookie", "cookies", "copyright", "disclaimer", "disqus",
        "footer", "gdpr", "headerlink", "jumbotron", "login", "masthead", "menu", "menus", "modal", "nav", "navbar",
        "navfooter", "navheader", "navi", "navigation", "navigationbar", "newsletter", "noprint", "outbrain", "overlay",
        "pager", "pagination", "paywall", "popular", "popup", "promo", "promotion", "recommendation", "recommendations",
        "recommended", "related", "respond", "share", "sharebar", "sharing", "sidebar", "sidebarwrapper", "sidenav",
        "signup", "skip", "social", "sponsor", "sponsored", "submenu", "subscribe", "subscription", "taboola",
        "tagcloud", "teaser", "teasers", "toc", "toolbar", "topbar", "trending",
    }),
    APART: frozenset({
        "aside", "author", "bar", "bio", "bottom", "button", "byline", "caption", "carousel", "credit", "credits",
        "date", "dropdown", "extra", "foot", "form", "gallery", "head", "header", "hidden", "icon", "image", "img",
        "info", "language", "left", "link", "links", "list", "logo", "media", "meta", "more", "next", "options", "prev",
        "previous", "rating", "reply", "right", "rss", "search", "secondary", "slider", "sub", "tag", "tags", "time",
        "tools", "top", "user", "video", "widget", "widgets",
    }),
}
_ROLES = {
    "alert": ASIDE, "alertdialog": ASIDE, "banner": ASIDE, "complementary": ASIDE, "contentinfo": ASIDE,
    "dialog": ASIDE, "main": MAIN, "menu": ASIDE, "menubar": ASIDE, "navigation": ASIDE, "search": ASIDE,
    "toolbar": ASIDE,
}
# fmt: on
_PROPERTIES = {"articleBody": MAIN, "text": MAIN}
_NAMES_REMEMBERED = 20_000


class PartMarker:
    """Renames elements by the kind of part; caches the kind by name, because the pages of a site share names."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def mark(self, document: Document) -> None:
        """Rename every block whose role or name matches a kind of part."""
        _mark_roles(document)
        known, classify = self._known, self._classify
        if len(known) > _NAMES_REMEMBERED:
            known.clear()
        for element in document.iter_elements(_NAMED):
            names, part = element.attr("class"), _NONE
            if names:
                part = known[names] if names in known else classify(names)
            if part in _WEAK and (name := element.attr("id")):
                part = (known[name] if name in known else classify(name)) or part
            if part:
                element.tag = part

    def _classify(self, names: str) -> str:
        words = [word.lower() for word in _WORDS.split(names) if word]
        candidates = {*words, *map(str.__add__, words, words[1:])}
        matches = (part for part, vocabulary in _VOCABULARIES.items() if not candidates.isdisjoint(vocabulary))
        part = self._known[names] = next(matches, _NONE)
        return part


def _mark_roles(document: Document) -> None:
    for element in document.select("[role], [itemprop]"):
        part = _PROPERTIES.get(element.attr("itemprop") or "") or _ROLES.get(element.attr("role") or "")
        if part and element.tag in _NAMED:
            element.tag = part


Span = tuple[int, int]
_Numbers = NDArray[np.float64]
_Places = NDArray[np.int64]

# Each kind of part has a letter: link, aside (boilerplate), secondary, main, heading.
_RULES: dict[str, list[str]] = {
    "a": ["l"],
    ASIDE: ["a"],
    "nav": ["a"],
    "footer": ["a"],
    APART: ["s"],
    MAIN: ["m"],
    "article": ["m"],
    "header": ["s"],
    "figure": ["s"],
    "figcaption": ["s"],
    **{f"h{level}": ["h"] for level in range(1, 7)},
}
_LARGEST = {"a": 0.4, "s": 0.2}  # share of all text: a larger part is the content itself, whatever its name
_SMALLEST_MAIN = 0.2  # share of the text without links: a smaller "main" part is one of many teasers
_NEARLY_ALL = 0.8  # of the text in the largest "main" part: the smallest part with that much is the main part

_INTERCEPT = -1.1
_FOR_LENGTH, _FOR_LENGTH_NEARBY = 0.67, 0.08  # times the logarithm of the line's length in characters
_FOR_LINKS, _FOR_LINKS_NEARBY = -0.5, -0.55  # times the share of link text in the line
_FOR_MAIN = 1.65  # times the main part's share of the text without links; subtracted from lines outside it
_FOR_ASIDE, _FOR_APART, _FOR_HEADING = -1.9, -2.6, -1.45
_DEEPEST = 2  # nested parts that count
_LONG = 200  # characters: longer lines weigh no more in a run
_SURELY_NOT, _PROBABLY, _SURELY = -1.1, 1.0, 2.2  # points; boilerplate needs _PROBABLY
_DECIMALS = 6  # of points: processors differ in the last ones


class Body(NamedTuple):
    """The text of a page, and the spans of its main text."""

    text: str  # single spaces between words, one line per block
    main: tuple[Span, ...]  # positions in the text; empty when no line is chosen
    linked: float  # the share of link text


class BodyReader:
    """Extracts text and main text from the pages of one crawl."""

    def __init__(self) -> None:
        self._marker = PartMarker()

    def read(self, document: Document) -> Body:
        """Extract the body of a document; renames the elements of its parts."""
        self._marker.mark(document)
        return choose(*document.to_annotated_text(_RULES))


def choose(text: str, spans: list[tuple[int, int, str]]) -> Body:
    """Choose the main text of a rendered *text* with parts at these *spans*."""
    rendered = text.split("\n")
    stripped = list(map(str.strip, rendered))
    words = list(filter(None, stripped))
    if not words:
        return Body("", (), 0.0)
    if "\xa0" in text:
        words = [" ".join(line.split()) if "\xa0" in line else line for line in words]
    lines = _Lines(_lengths(rendered), np.fromiter(map(bool, stripped), np.bool_, len(stripped)), spans)
    return Body("\n".join(words)[:TEXT].rstrip(), _runs(lines.chosen(), _lengths(words)), lines.linked)


def _lengths(lines: list[str]) -> _Places:
    return np.fromiter(map(len, lines), np.int64, len(lines))


def _runs(chosen: NDArray[np.bool_], lengths: _Places) -> tuple[Span, ...]:
    """The spans of the chosen lines in the joined text."""
    ends = np.cumsum(lengths + 1) - 1
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, lasts = edges[::2], edges[1::2] - 1
    pairs = zip((ends[firsts] - lengths[firsts]).tolist(), ends[lasts].tolist(), strict=True)
    return tuple([(start, min(end, TEXT)) for start, end in pairs if start < TEXT])


class _Lines:
    """The non-empty lines of one rendered page, and the parts that contain them."""

    def __init__(self, lengths: _Places, kept: NDArray[np.bool_], spans: list[tuple[int, int, str]]) -> None:
        ends = np.cumsum(lengths + 1) - 1
        self._total = int(ends[-1])
        self._ends, self._lengths = ends[kept], lengths[kept]
        self._starts = self._ends - self._lengths
        starts, stops, letters = zip(*spans, strict=True) if spans else ((), (), ())
        self._span_starts, self._span_ends = np.array(starts, np.int64), np.array(stops, np.int64)
        self._letters = np.frombuffer("".join(letters).encode(), np.uint8)
        self._firsts = np.searchsorted(self._ends, self._span_starts, "right")
        self._lasts = np.searchsorted(self._starts, self._span_ends, "left")
        self._links, self.linked = self._link_shares()

    def chosen(self) -> NDArray[np.bool_]:
        """For each line, whether it is main text."""
        asides = self._depth(self._part("a"))
        points = np.round(self._points(asides), _DECIMALS)
        chosen = points > _SURELY
        first, last = _best_run(np.tanh(points / 2) * np.sqrt(np.minimum(self._lengths, _LONG)))
        chosen[first:last] |= points[first:last] > _SURELY_NOT
        chosen[(asides > 0) & (points <= _PROBABLY)] = False
        return chosen

    def _points(self, asides: _Places) -> _Numbers:
        logarithms = np.log1p(self._lengths)
        points: _Numbers = _INTERCEPT + _FOR_LENGTH * logarithms + _FOR_LENGTH_NEARBY * _neighbours(logarithms)
        points += _FOR_LINKS * self._links + _FOR_LINKS_NEARBY * _neighbours(self._links)
        points += _FOR_ASIDE * np.minimum(asides, _DEEPEST)
        points += _FOR_APART * np.minimum(self._depth(self._part("s")), _DEEPEST)
        points += _FOR_HEADING * np.minimum(self._depth(self._part("h")), 1)
        mains = self._part("m")
        if len(mains):
            plain = np.where(asides > 0, 0.0, self._lengths * (1 - self._links))
            points += _for_main(self._firsts[mains], self._lasts[mains], plain)
        return points

    def _part(self, letter: str) -> _Places:
        """The spans of one kind of part that contain lines and are not too large for their kind."""
        found = np.flatnonzero(self._letters == ord(letter))
        sizes = self._span_ends[found] - self._span_starts[found]
        right = (self._firsts[found] < self._lasts[found]) & (sizes < _LARGEST.get(letter, 2) * self._total)
        return found[right]

    def _depth(self, spans: _Places) -> _Places:
        """For each line, the number of spans that contain it."""
        count = len(self._lengths) + 1
        if not len(spans):
            return np.zeros(count - 1, np.int64)
        changes = np.bincount(self._firsts[spans], minlength=count) - np.bincount(self._lasts[spans], minlength=count)
        return np.cumsum(changes)[:-1]

    def _link_shares(self) -> tuple[_Numbers, float]:
        """The share of link text in each line, and in the whole text."""
        links = self._part("l")
        starts, ends, first, last = (
            column[links] for column in (self._span_starts, self._span_ends, self._firsts, self._lasts)
        )
        inside = np.minimum(ends, self._ends[first]) - np.maximum(starts, self._starts[first])
        linked = np.bincount(first, inside, len(self._lengths))
        for number in np.flatnonzero(last - first > 1):
            final = last[number] - 1
            linked[first[number] + 1 : final] = self._lengths[first[number] + 1 : final]
            linked[final] += min(ends[number], self._ends[final]) - self._starts[final]
        shares: _Numbers = np.minimum(linked / self._lengths, 1.0)
        return shares, float(shares @ self._lengths / self._lengths.sum())


def _neighbours(numbers: _Numbers) -> _Numbers:
    around = np.zeros(len(numbers))
    around[1:] += numbers[:-1]
    around[:-1] += numbers[1:]
    return around


def _for_main(firsts: _Places, lasts: _Places, plain: _Numbers) -> _Numbers:
    """The points of each line for being inside or outside the main part; 0 if no part is large enough."""
    before = np.concatenate(([0.0], np.cumsum(plain)))
    shares = (before[lasts] - before[firsts]) / (before[-1] or 1.0)
    most = shares.max()
    if most < _SMALLEST_MAIN:
        return np.zeros(len(plain))
    chosen = int(np.where(shares >= _NEARLY_ALL * most, lasts - firsts, len(plain) + 1).argmin())
    points: _Numbers = np.full(len(plain), -_FOR_MAIN * shares[chosen])
    points[firsts[chosen] : lasts[chosen]] *= -1
    return points


def _best_run(weights: _Numbers) -> Span:
    """The start and end of the run of lines with the highest weight."""
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    gains = sums - np.minimum.accumulate(sums)
    last = int(gains.argmax())
    return int(sums[: last + 1].argmin()), last
