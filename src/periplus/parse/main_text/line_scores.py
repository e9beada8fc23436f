"""Extracts the main text of a page: what is left without menus, footers and other boilerplate?

`choose` scores every line of the visible text by its length, its share of links and the part of the page around it
(`main_text/parts.py`). The main text is the run of lines with the highest total score. Lines in the run with a low
score are removed, and lines outside it with a very high score are added. A heading needs text below it.
`bench/parsing/fit.py` fits the weights with a logistic regression on pages whose main text is known; `bench/parse.py`
measures the result on these and other pages. The result depends on the page alone, so parsing the page again gives the
same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document

from periplus.parse.limits import TEXT
from periplus.parse.main_text.lead_ins import lead_ins
from periplus.parse.main_text.parts import BOILERPLATE, FRAME, MAIN, NAVIGATION, SECONDARY, PartMarker

Span = tuple[int, int]
_Numbers = NDArray[np.float64]
_Places = NDArray[np.int64]

# Each kind of part has a letter: link, navigation, boilerplate, secondary, frame, main, heading.
RULES: dict[str, list[str]] = {
    "a": ["l"],
    NAVIGATION: ["n"],
    "aside": ["n"],
    BOILERPLATE: ["b"],
    SECONDARY: ["s"],
    "figure": ["s"],
    "figcaption": ["s"],
    FRAME: ["f"],
    MAIN: ["m"],
    "article": ["m"],
    **{f"h{level}": ["h"] for level in range(1, 7)},
}
_LARGEST = {"n": 0.4, "b": 0.4, "s": 0.2, "f": 0.2}  # share of the text: a larger part is content, whatever its name
_DEEPEST = {"n": 1, "b": 1, "s": 2, "f": 2, "h": 1}  # nested parts that count
_SMALLEST_MAIN = 0.2  # share of the text without links: a smaller "main" part is one of many teasers
_NEARLY_ALL = 0.8  # of the text in the largest "main" part: the smallest part with that much is the main part

# The points of a line are the sum of its features times these weights.
WEIGHTS = {
    "always": 0.88,
    "length": 0.23,  # the logarithm of the number of characters
    "lengths nearby": 0.12,  # of the lines before and after
    "links": -1.16,  # the share of link text
    "links nearby": -0.6,
    "main": 0.83,  # the main part's share of the text without links; negative outside it
    "navigation": -1.86,  # the depth in parts of this kind, up to _DEEPEST
    "boilerplate": -4.23,
    "secondary": -2.6,
    "frame": -1.81,
    "heading": -1.19,
    "lead-in": -4.37,  # "Read also: ..."
}
_WEIGHTS = np.array(list(WEIGHTS.values()))
_LONG = 200  # characters: longer lines weigh no more in a run
_LOWEST_RUN = 3.0  # the total weight of a run; a line of 60 characters has up to 8
_SURELY_NOT, _PROBABLY, _SURELY = -0.5, 1.0, 2.2  # points; navigation and boilerplate need _PROBABLY
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
        return choose(*document.to_annotated_text(RULES))


def choose(text: str, spans: list[tuple[int, int, str]]) -> Body:
    """Choose the main text of a rendered *text* with parts at these *spans*."""
    lines = Lines(text, spans)
    if not lines.words:
        return Body("", (), 0.0)
    return Body("\n".join(lines.words)[:TEXT].rstrip(), _runs(lines.chosen(), _lengths(lines.words)), lines.linked)


def _lengths(lines: list[str]) -> _Places:
    return np.fromiter(map(len, lines), np.int64, len(lines))


def _runs(chosen: NDArray[np.bool_], lengths: _Places) -> tuple[Span, ...]:
    """The spans of the chosen lines in the joined text."""
    ends = np.cumsum(lengths + 1) - 1
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, lasts = edges[::2], edges[1::2] - 1
    pairs = zip((ends[firsts] - lengths[firsts]).tolist(), ends[lasts].tolist(), strict=True)
    return tuple([(start, min(end, TEXT)) for start, end in pairs if start < TEXT])


class Lines:
    """The non-empty lines of one rendered page, and the parts that contain them."""

    def __init__(self, text: str, spans: list[tuple[int, int, str]]) -> None:
        rendered = text.split("\n")
        stripped = list(map(str.strip, rendered))
        self.words = list(filter(None, stripped))
        if "\xa0" in text:
            self.words = [" ".join(line.split()) if "\xa0" in line else line for line in self.words]
        if not self.words:
            return
        lengths, kept = _lengths(rendered), np.fromiter(map(bool, stripped), np.bool_, len(stripped))
        ends = np.cumsum(lengths + 1) - 1
        self.ends, self._lengths = ends[kept], lengths[kept]
        self.starts = self.ends - self._lengths
        starts, stops, letters = zip(*spans, strict=True) if spans else ((), (), ())
        self._span_starts, self._span_ends = np.array(starts, np.int64), np.array(stops, np.int64)
        self._letters = np.frombuffer("".join(letters).encode(), np.uint8)
        self._firsts = np.searchsorted(self.ends, self._span_starts, "right")
        self._lasts = np.searchsorted(self.starts, self._span_ends, "left")
        self._filled = self._firsts < self._lasts
        self._links, self.linked = self._link_shares()
        self._plain = self._lengths * (1 - self._links)
        self._sums, self._plain_sums = _sums(self._lengths), _sums(self._plain)
        self._depths = {letter: self._depth(letter) for letter in _DEEPEST}

    def chosen(self) -> NDArray[np.bool_]:
        """For each line, whether it is main text."""
        points = np.round(_WEIGHTS @ self.features(), _DECIMALS)
        chosen = points > _SURELY
        first, last = _best_run(np.tanh(points / 2) * np.sqrt(np.minimum(self._lengths, _LONG)))
        chosen[first:last] |= points[first:last] > _SURELY_NOT
        chosen[self._asides() & (points <= _PROBABLY)] = False
        chosen[_without_text(np.flatnonzero(self._depths["h"]).tolist(), chosen)] = False
        return chosen

    def features(self) -> _Numbers:
        """The features of each line, in the order of the weights; one row per feature."""
        rows = np.zeros((len(_WEIGHTS), len(self._lengths)))
        logarithms = np.log1p(self._lengths)
        rows[0] = 1
        rows[1], rows[2] = logarithms, _neighbours(logarithms)
        rows[3], rows[4] = self._links, _neighbours(self._links)
        mains = self._part("m")
        if len(mains):
            rows[5] = _for_main(self._firsts[mains], self._lasts[mains], np.where(self._asides(), 0.0, self._plain))
        for row, (letter, deepest) in enumerate(_DEEPEST.items(), start=6):
            rows[row] = np.minimum(self._depths[letter], deepest)
        rows[-1, lead_ins(self.words)] = 1
        return rows

    def _asides(self) -> NDArray[np.bool_]:
        return (self._depths["n"] + self._depths["b"]) > 0

    def _part(self, letter: str) -> _Places:
        """The spans of one kind of part that contain lines and are not too large for their kind."""
        found = np.flatnonzero((self._letters == ord(letter)) & self._filled)
        if letter not in _LARGEST or not len(found):
            return found
        # Menus are long lists of links. Other parts are compared by their text without links.
        sums = self._sums if letter == "n" else self._plain_sums
        sizes = sums[self._lasts[found]] - sums[self._firsts[found]]
        small: _Places = found[sizes <= _LARGEST[letter] * sums[-1]]
        return small

    def _depth(self, letter: str) -> _Places:
        """For each line, the number of parts of one kind that contain it."""
        spans, count = self._part(letter), len(self._lengths) + 1
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
        inside = np.minimum(ends, self.ends[first]) - np.maximum(starts, self.starts[first])
        linked = np.bincount(first, inside, len(self._lengths))
        for number in np.flatnonzero(last - first > 1):
            final = last[number] - 1
            linked[first[number] + 1 : final] = self._lengths[first[number] + 1 : final]
            linked[final] += min(ends[number], self.ends[final]) - self.starts[final]
        shares: _Numbers = np.minimum(linked / self._lengths, 1.0)
        return shares, float(shares @ self._lengths / self._lengths.sum())


def _neighbours(numbers: _Numbers) -> _Numbers:
    around = np.zeros(len(numbers))
    around[1:] += numbers[:-1]
    around[:-1] += numbers[1:]
    return around


def _sums(numbers: _Numbers | _Places) -> _Numbers:
    """The sum of the numbers before each place, and of all."""
    return np.concatenate(([0.0], np.cumsum(numbers)))


def _for_main(firsts: _Places, lasts: _Places, plain: _Numbers) -> _Numbers:
    """The share of text in the main part, negative for lines outside it; 0 if no part is large enough."""
    sums = _sums(plain)
    shares = (sums[lasts] - sums[firsts]) / (sums[-1] or 1.0)
    most = shares.max()
    if most < _SMALLEST_MAIN:
        return np.zeros(len(plain))
    chosen = int(np.where(shares >= _NEARLY_ALL * most, lasts - firsts, len(plain) + 1).argmin())
    inside: _Numbers = np.full(len(plain), -shares[chosen])
    inside[firsts[chosen] : lasts[chosen]] *= -1
    return inside


def _without_text(headings: list[int], chosen: NDArray[np.bool_]) -> list[int]:
    """The headings without a chosen line before the next heading; headings in a row share the text below them."""
    before = [0, *np.cumsum(chosen).tolist()]
    end, has_text, empty = len(chosen), False, []
    for heading in reversed(headings):
        if end > heading + 1:
            has_text = before[end] > before[heading + 1]
        if not has_text:
            empty.append(heading)
        end = heading
    return empty


def _best_run(weights: _Numbers) -> Span:
    """The start and end of the run of lines with the highest weight; empty if that is low, as on a page of links."""
    sums = _sums(weights)
    gains = sums - np.minimum.accumulate(sums)
    last = int(gains.argmax())
    if gains[last] < _LOWEST_RUN:
        return 0, 0
    return int(sums[: last + 1].argmin()), last
