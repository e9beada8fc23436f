"""Which of the words on a page are what it is about?

The page is read line by line. Clues give every line points: its length, how much of it is links, whether it stands in
something called a menu or an article. The main text is the run of lines with the most points, without those in it that
are surely something else, and with those outside it that are surely text. Nothing but the page itself is looked at, so
that reading it again gives the same.

The weights of the clues are those of a logistic regression on 444 pages whose main text is known: news, blogs and
documentation (`bench/parse.py` measures what comes of it).

What do the names of elements suggest about the text in them?

Authors name the parts of their pages: ``class="sidebar"``, ``id="main-content"``, ``role="navigation"``. Three kinds
are told apart: what stands aside of the text (menus, footers, comments), what is set apart in it (captions, bylines,
lists of links), and what is the text itself. Such an element is renamed to the one that HTML has for it, so that text
can be rendered with its parts in one pass.
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
    """Renames the parts of pages; remembers what names mean, because the pages of a site use the same ones."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def mark(self, document: Document) -> None:
        """Give every block whose role or name suggests a part the tag of that part."""
        _mark_roles(document)
        known, learn = self._known, self._learn
        if len(known) > _NAMES_REMEMBERED:
            known.clear()
        for element in document.iter_elements(_NAMED):
            names, part = element.attr("class"), _NONE
            if names:
                part = known[names] if names in known else learn(names)
            if part in _WEAK and (name := element.attr("id")):
                part = (known[name] if name in known else learn(name)) or part
            if part:
                element.tag = part

    def _learn(self, names: str) -> str:
        words = [word.lower() for word in _WORDS.split(names) if word]
        said = {*words, *map(str.__add__, words, words[1:])}
        suggested = (part for part, vocabulary in _VOCABULARIES.items() if not said.isdisjoint(vocabulary))
        part = self._known[names] = next(suggested, _NONE)
        return part


def _mark_roles(document: Document) -> None:
    for element in document.select("[role], [itemprop]"):
        said = _PROPERTIES.get(element.attr("itemprop") or "") or _ROLES.get(element.attr("role") or "")
        if said and element.tag in _NAMED:
            element.tag = said


Span = tuple[int, int]
_Numbers = NDArray[np.float64]
_Places = NDArray[np.int64]

# Each kind of part has a letter: link, aside, set apart, main, heading.
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
_LARGEST = {"a": 0.4, "s": 0.2}  # of all text: a larger part is the page itself, whatever its name
_SMALLEST_MAIN = 0.2  # of the plain text: a smaller part called so is one of many
_NEARLY_ALL = 0.8  # of what the largest such part holds: the smallest part that does is the main one

_START = -1.1
_FOR_LENGTH, _FOR_LENGTH_NEARBY = 0.67, 0.08  # times the logarithm of the characters
_FOR_LINKS, _FOR_LINKS_NEARBY = -0.5, -0.55  # times the share of the line that is link
_FOR_MAIN = 1.65  # times the share of the plain text that the main part holds; against a line outside it
_FOR_ASIDE, _FOR_APART, _FOR_HEADING = -1.9, -2.6, -1.45
_DEEPEST = 2  # parts within parts that count
_LONG = 200  # characters from which a line weighs no more in a run
_SURELY_NOT, _PROBABLY, _SURELY = -1.1, 1.0, 2.2  # points; what stands aside is taken only if it is probable
_DECIMALS = 6  # of points: processors differ in the last ones


class Body(NamedTuple):
    """The words of a page, and which of them are its main text."""

    text: str  # a space between two words, a line for each block
    main: tuple[Span, ...]  # where in the text; empty when nothing stands out
    linked: float  # the share of the text that is links


class BodyReader:
    """Reads the bodies of the pages of one crawl."""

    def __init__(self) -> None:
        self._marker = PartMarker()

    def read(self, document: Document) -> Body:
        """The words of a document, whose parts are renamed on the way."""
        self._marker.mark(document)
        return choose(*document.to_annotated_text(_RULES))


def choose(text: str, spans: list[tuple[int, int, str]]) -> Body:
    """The body whose rendered *text* has parts at these *spans*."""
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
    """Where the chosen lines lie in the text that all lines make together."""
    ends = np.cumsum(lengths + 1) - 1
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, lasts = edges[::2], edges[1::2] - 1
    pairs = zip((ends[firsts] - lengths[firsts]).tolist(), ends[lasts].tolist(), strict=True)
    return tuple([(start, min(end, TEXT)) for start, end in pairs if start < TEXT])


class _Lines:
    """The lines of one rendered page that hold words, and the parts of the page they stand in."""

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
        points: _Numbers = _START + _FOR_LENGTH * logarithms + _FOR_LENGTH_NEARBY * _neighbours(logarithms)
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
        """The spans of one kind of part that hold lines and are not too large for what they claim to be."""
        found = np.flatnonzero(self._letters == ord(letter))
        sizes = self._span_ends[found] - self._span_starts[found]
        right = (self._firsts[found] < self._lasts[found]) & (sizes < _LARGEST.get(letter, 2) * self._total)
        return found[right]

    def _depth(self, spans: _Places) -> _Places:
        """In how many of the spans each line stands."""
        count = len(self._lengths) + 1
        if not len(spans):
            return np.zeros(count - 1, np.int64)
        changes = np.bincount(self._firsts[spans], minlength=count) - np.bincount(self._lasts[spans], minlength=count)
        return np.cumsum(changes)[:-1]

    def _link_shares(self) -> tuple[_Numbers, float]:
        """The share of each line that is link, and that of the whole text."""
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
    """What each line gets for standing in the part that holds most of the plain text, if one of these does."""
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
    """The first and last line of the run that weighs most."""
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    gains = sums - np.minimum.accumulate(sums)
    last = int(gains.argmax())
    return int(sums[: last + 1].argmin()), last
