"""Which of the words on a page are what it is about?

The page is read line by line. Clues give every line points: its length, how much of it is links, whether it stands in
something called a menu or an article. The main text is the run of lines with the most points, without those in it that
are surely something else, and with those outside it that are surely text. Nothing but the page itself is looked at, so
that reading it again gives the same.

The weights of the clues are those of a logistic regression on 444 pages whose main text is known: news, blogs and
documentation (`bench/parse.py` measures what comes of it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document

from periplus.parse.limits import TEXT
from periplus.parse.parts import APART, ASIDE, MAIN, PartMarker

Span = tuple[int, int]
_Numbers = NDArray[np.float64]
_Places = NDArray[np.int64]

# Each part of a page has a letter: link, aside, set apart, main, page header, figure, heading.
_RULES: dict[str, list[str]] = {
    "a": ["l"],
    ASIDE: ["a"],
    "nav": ["a"],
    "footer": ["a"],
    APART: ["s"],
    MAIN: ["m"],
    "article": ["m"],
    "header": ["p"],
    "figure": ["f"],
    "figcaption": ["f"],
    **{f"h{level}": ["h"] for level in range(1, 7)},
}
_LARGEST = {"a": 0.4, "s": 0.2, "p": 0.2}  # of all text: a larger part is the page itself, whatever its name
_SMALLEST_MAIN = 0.2  # of the plain text: a smaller part called so is one of many
_NEARLY_ALL = 0.8  # of what the largest such part holds: the smallest part that does is the main one

_START = -1.1
_FOR_LENGTH, _FOR_LENGTH_NEARBY = 0.67, 0.08  # times the logarithm of the characters
_FOR_LINKS, _FOR_LINKS_NEARBY = -0.5, -0.55  # times the share of the line that is link
_FOR_MAIN = 1.65  # times the share of the plain text that the main part holds; against a line outside it
_FOR_PART = {"a": -1.9, "s": -2.6, "p": -3.0, "f": -3.0, "h": -1.45}
_DEEPEST = {"a": 2, "s": 2}  # parts within parts that count; of others one
_LONG = 200  # characters from which a line weighs no more in a run
_SURELY_NOT, _SURELY = -1.1, 2.2  # points
_DECIMALS = 6  # of points: processors differ in the last ones


class Body(NamedTuple):
    """The words of a page, and which of them are its main text."""

    text: str  # a space between two words, a line for each block
    main: tuple[Span, ...]  # where in the text; empty when nothing stands out


class BodyReader:
    """Reads the bodies of the pages of one crawl."""

    def __init__(self) -> None:
        self._marker = PartMarker()

    def read(self, document: Document) -> Body:
        """The words of a document, whose parts are renamed on the way."""
        self._marker.mark(document)
        return choose(*document.to_annotated_text(_RULES))


def main_text(text: str, main: Sequence[Span]) -> str:
    """The main text, or all of it when nothing stands out."""
    return "\n".join([text[start:end] for start, end in main]) if main else text


def choose(text: str, spans: list[tuple[int, int, str]]) -> Body:
    """The body whose rendered *text* has parts at these *spans*."""
    rendered = text.split("\n")
    stripped = list(map(str.strip, rendered))
    words = list(filter(None, stripped))
    if not words:
        return Body("", ())
    if "\xa0" in text:
        words = [" ".join(line.split()) if "\xa0" in line else line for line in words]
    lines = _Lines(_lengths(rendered), np.fromiter(map(bool, stripped), np.bool_, len(stripped)))
    return Body("\n".join(words)[:TEXT].rstrip(), _runs(lines.chosen(_grouped(spans)), _lengths(words)))


def _lengths(lines: list[str]) -> _Places:
    return np.fromiter(map(len, lines), np.int64, len(lines))


def _grouped(spans: list[tuple[int, int, str]]) -> dict[str, list[Span]]:
    groups: dict[str, list[Span]] = {}
    for start, end, letter in spans:
        groups.setdefault(letter, []).append((start, end))
    return groups


def _runs(chosen: NDArray[np.bool_], lengths: _Places) -> tuple[Span, ...]:
    """Where the chosen lines lie in the text that all lines make together."""
    ends = np.cumsum(lengths + 1) - 1
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, lasts = edges[::2], edges[1::2] - 1
    pairs = zip((ends[firsts] - lengths[firsts]).tolist(), ends[lasts].tolist(), strict=True)
    return tuple([(start, min(end, TEXT)) for start, end in pairs if start < TEXT])


class _Lines:
    """The lines of one rendered page that hold words."""

    def __init__(self, lengths: _Places, kept: NDArray[np.bool_]) -> None:
        ends = np.cumsum(lengths + 1) - 1
        self._total = int(ends[-1])
        self._ends, self._lengths = ends[kept], lengths[kept]
        self._starts = self._ends - self._lengths

    def chosen(self, groups: dict[str, list[Span]]) -> NDArray[np.bool_]:
        """For each line, whether it is main text."""
        points = np.round(self._points(groups), _DECIMALS)
        chosen = points > _SURELY
        first, last = _best_run(np.tanh(points / 2) * np.sqrt(np.minimum(self._lengths, _LONG)))
        chosen[first:last] |= points[first:last] > _SURELY_NOT
        return chosen

    def _points(self, groups: dict[str, list[Span]]) -> _Numbers:
        links = self._links(self._part("l", groups))
        logarithms = np.log1p(self._lengths)
        points: _Numbers = _START + _FOR_LENGTH * logarithms + _FOR_LENGTH_NEARBY * _neighbours(logarithms)
        points += _FOR_LINKS * links + _FOR_LINKS_NEARBY * _neighbours(links)
        plain = self._lengths * (1 - links)
        for letter, worth in _FOR_PART.items():
            if letter in groups:
                depth = self._part(letter, groups).depth(len(points))
                points += worth * np.minimum(depth, _DEEPEST.get(letter, 1))
                if letter == "a":
                    plain[depth > 0] = 0.0
        mains = self._part("m", groups)
        return points + _for_main(mains, plain) if len(mains.firsts) else points

    def _part(self, letter: str, groups: dict[str, list[Span]]) -> _Part:
        places = np.array(groups.get(letter, []), np.int64).reshape(-1, 2)
        largest = _LARGEST.get(letter)
        if largest is not None:
            places = places[places[:, 1] - places[:, 0] < largest * self._total]
        firsts = np.searchsorted(self._ends, places[:, 0], "right")
        lasts = np.searchsorted(self._starts, places[:, 1], "left")
        there = firsts < lasts
        return _Part(places[there, 0], places[there, 1], firsts[there], lasts[there])

    def _links(self, links: _Part) -> _Numbers:
        """The share of each line that is link."""
        linked: _Numbers = np.zeros(len(self._lengths))
        first = links.firsts
        if len(first):
            inside = np.minimum(links.ends, self._ends[first]) - np.maximum(links.starts, self._starts[first])
            linked += np.bincount(first, inside, len(linked))
            for number in np.flatnonzero(links.lasts - first > 1):
                last = links.lasts[number] - 1
                linked[first[number] + 1 : last] = self._lengths[first[number] + 1 : last]
                linked[last] += min(links.ends[number], self._ends[last]) - self._starts[last]
        shares: _Numbers = np.minimum(linked / self._lengths, 1.0)
        return shares


class _Part(NamedTuple):
    """The spans of one kind of part: their characters, and the lines from the first to before the last."""

    starts: _Places
    ends: _Places
    firsts: _Places
    lasts: _Places

    def depth(self, lines: int) -> _Places:
        """In how many of the spans each line stands."""
        begun = np.bincount(self.firsts, minlength=lines + 1) - np.bincount(self.lasts, minlength=lines + 1)
        return np.cumsum(begun)[:lines]


def _neighbours(numbers: _Numbers) -> _Numbers:
    around = np.zeros(len(numbers))
    around[1:] += numbers[:-1]
    around[:-1] += numbers[1:]
    return around


def _for_main(mains: _Part, plain: _Numbers) -> _Numbers:
    """What each line gets for standing in the part that holds most of the plain text, if one does."""
    before = np.concatenate(([0.0], np.cumsum(plain)))
    shares = (before[mains.lasts] - before[mains.firsts]) / (before[-1] or 1.0)
    most = shares.max()
    if most < _SMALLEST_MAIN:
        return np.zeros(len(plain))
    sizes = np.where(shares >= _NEARLY_ALL * most, mains.lasts - mains.firsts, len(plain) + 1)
    chosen = int(sizes.argmin())
    points: _Numbers = np.full(len(plain), -_FOR_MAIN * shares[chosen])
    points[mains.firsts[chosen] : mains.lasts[chosen]] *= -1
    return points


def _best_run(weights: _Numbers) -> Span:
    """The first and last line of the run that weighs most."""
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    gains = sums - np.minimum.accumulate(sums)
    last = int(gains.argmax())
    return int(sums[: last + 1].argmin()), last
