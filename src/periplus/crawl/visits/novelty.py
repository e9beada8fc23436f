"""Rates a page during the crawl: does it add anything new to its host, and how good is it?

`NoveltyDetector` keeps a bounded memory of each recent host: the lines of its pages, and the simhashes of the newest
pages. Of a host whose pages have all been new for long, it compares one page in 16 and assumes that the others are
new. Such a page is compared with others only if few of its lines are new. One worker fetches all pages of a host, so it
sees every near duplicate within the host. Other code finds duplicates between hosts: the same bytes in
`store/catalog/catalog.sql`, near duplicates when an index is built.

`crawl_quality` computes six scores from 0 to 1. Links on good pages of good hosts are fetched first
(`frontier/priority.py`). The quality used for ranking is computed from the full text, in `parse/quality.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import compress
from math import log
from typing import NamedTuple

import numpy as np

from periplus.crawl.visits.link_intake import LinkIntake
from periplus.model import Copy, CrawlQuality, Novelty, Page, QueuedUrl
from periplus.store.catalog.batch import PendingBatch
from periplus.text.simhash import lines_of, phrase_of, quick_simhash, words_of

_LONG_TEXT, _SHORT_TEXT = 3_000, 100  # characters with a length score of 1 and 0
_LENGTH_RANGE = log(_LONG_TEXT / _SHORT_TEXT)
_GOOD_DENSITY = 0.15  # characters of text for each byte of the document
_LINK_LENGTH = 25  # characters of text that a link takes
_HOSTS_SCORED = 20_000  # kept in memory
_PRIOR_SCORE = 0.5  # of a host without known pages
_PRIOR_PAGES = 2  # weight of the prior score


def crawl_quality(page: Page, size: int, *, is_new: bool) -> CrawlQuality:
    """Score a page of *size* bytes by what the crawl knows of it."""
    length = len(page.text)
    if not length:
        return CrawlQuality(title=float(bool(page.title)))
    return CrawlQuality(
        text=min(length / (size or 1) / _GOOD_DENSITY, 1.0),
        length=min(max(log(length / _SHORT_TEXT) / _LENGTH_RANGE, 0.0), 1.0),
        links=max(1.0 - _LINK_LENGTH * len(page.links) / length, 0.0),
        title=1.0 if page.title else 0.0,
        language=1.0 if page.language else 0.0,
        news=1.0 if is_new else 0.0,
    )


class HostQualities:
    """The mean quality of the hosts of one worker."""

    def __init__(self, stored: Callable[[str], tuple[int, CrawlQuality]]) -> None:
        """*stored* returns how many pages of a host earlier runs counted, and their mean scores."""
        self._stored = stored
        self._hosts: OrderedDict[str, tuple[int, float]] = OrderedDict()  # pages, and the sum of their scores

    def count(self, host: str, score: float) -> float:
        """Add the score of a page; returns the new mean of its host."""
        known = self._hosts.pop(host, None)
        if known is None:
            pages, mean = self._stored(host)
            known = pages + _PRIOR_PAGES, pages * mean.score + _PRIOR_PAGES * _PRIOR_SCORE
            if len(self._hosts) >= _HOSTS_SCORED:
                self._hosts.popitem(last=False)
        pages, total = self._hosts[host] = known[0] + 1, known[1] + score
        return total / pages


NEAR = 6  # bits in which the simhashes of near duplicates differ at most
_MAX_LENGTH_DIFFERENCE = 0.03  # of two near duplicates, as a part of the longer one
_MIN_VOTES = 24  # that a simhash is built from; with fewer, pages match by chance
_HOSTS_COMPARED = 512  # kept in memory
_TITLES = 256  # kept for each host
_SAME_TITLE = 32  # pages kept for each title
_LINES = 1 << 14  # slots for lines of each host; a new line replaces one that was seen once
_MARK = np.uint16  # fingerprint of a line; one line in 8,000 is mistaken for another
_USED, _SEEN_AGAIN = _MARK(1), _MARK(2)
_NEW_LETTERS = 12  # that make a page new
_NEW_LETTERS_OF_A_COPY = 200  # that make a near duplicate new
_FEW_LETTERS = 400  # in new lines, up to which their words are compared as well
_IN_TITLE, _TITLE, _PHRASE = b"#", b"=", b"-"  # prefixes for words of titles, titles and phrases: no line has them
_TRUSTED = 32  # credit from which on most pages are assumed to be new
_ONE_IN = 16  # pages of a trusted host is compared


class Comparison(NamedTuple):
    """What a page adds to the pages of its host."""

    novelty: Novelty
    copy: Copy | None = None  # the page that it nearly duplicates
    is_repeat: bool = False  # another page has the same title and text, numbers included
    is_certain: bool = True  # False: the page was not compared


_ASSUMED_NEW = Comparison(Novelty.NEW, is_certain=False)


class _Additions(NamedTuple):
    """What a page has that no page of its host had before."""

    letters: int  # in new lines, or in new words where few lines are new
    phrase: bool  # a line is new, numbers and dates aside
    title: bool  # the title is new, numbers and dates aside
    title_word: bool  # the title has a new word
    is_repeat: bool  # nothing is new: another page has the same title and text


class _Known(NamedTuple):
    """A page that later pages are compared with."""

    signature: int
    length: int  # characters of text
    url: str

    def is_as_long_as(self, length: int) -> bool:
        return abs(self.length - length) <= _MAX_LENGTH_DIFFERENCE * max(self.length, length)


class NoveltyDetector:
    """Compares each page of one worker with the earlier pages of its host."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _HostMemory] = OrderedDict()

    def compare(self, host: str, url: str, page: Page, *, trusting: bool = True) -> Comparison:
        """Compare a page with earlier pages of its host, and remember it; *trusting*: or assume that it is new."""
        memory = self._hosts.get(host)
        if memory is None:
            memory = self._hosts[host] = _HostMemory()
            if len(self._hosts) > _HOSTS_COMPARED:
                self._hosts.popitem(last=False)
        else:
            self._hosts.move_to_end(host)
        return memory.compare(url, page, trusting=trusting)


class _HostMemory:
    """The lines and simhashes of one host's pages."""

    def __init__(self) -> None:
        self._lines = np.zeros(_LINES, _MARK)
        self._pages: OrderedDict[str, list[_Known]] = OrderedDict()  # by title
        self._credit = 0  # plus 1 for each new page, halved by every other page
        self._seen = 0  # pages

    def compare(self, url: str, page: Page, *, trusting: bool) -> Comparison:
        self._seen += 1
        trusting = trusting and self._credit >= _TRUSTED
        if trusting and self._seen % _ONE_IN:
            return _ASSUMED_NEW
        new = self.learn(page)
        is_new_enough = trusting and new.letters >= _NEW_LETTERS_OF_A_COPY
        copy = None if is_new_enough else self.near_duplicate(url, page)
        novelty = _novelty_of(new, is_copy=copy is not None, has_parameters="?" in url)
        self._credit = min(self._credit + 1, 2 * _TRUSTED) if novelty is Novelty.NEW else self._credit // 2
        return Comparison(novelty, copy, new.is_repeat)

    def learn(self, page: Page) -> _Additions:
        """Remember the lines and the title of a page; returns what is new in them."""
        whole, title = b"%d" % hash((page.title, page.text)), _title_marks(page.title)
        lines = lines_of(f"{page.title}\n{page.description}\n{page.text}")
        new = self._new_of(lines.union(title, (whole,)))
        new_lines = [line for line in new if line in lines]
        letters, has_phrase = self._count_new(new_lines)
        new_title = title.intersection(new)
        has_title_word = any(mark.startswith(_IN_TITLE) for mark in new_title)
        return _Additions(letters, has_phrase, bool(new_title), has_title_word, whole not in new)

    def _count_new(self, lines: list[bytes]) -> tuple[int, bool]:
        """Count the letters of new lines, and tell whether any line is new apart from numbers and dates.

        A few new lines may be known words in another order, as in a filtered list or on another day of a calendar.
        Then only words count that such lines have not had twice. (Once is too few: a day repeats words of its month.)
        """
        letters = sum(map(len, lines))
        if letters > _FEW_LETTERS or not letters:
            return letters, bool(letters)
        words = words_of(lines)
        once = self._new_of(words)
        again = self._new_of(frozenset([b"+" + word for word in words.difference(once)]))
        phrases = self._new_of(frozenset([_PHRASE + phrase_of(line) for line in lines]))
        return sum(map(len, once)) + sum(map(len, again)) - len(again), bool(phrases)

    def _new_of(self, lines: frozenset[bytes]) -> list[bytes]:
        """The lines that were not seen before; each line has two possible slots."""
        if not lines:
            return []
        hashes = np.fromiter(map(hash, lines), np.int64, len(lines))
        marks = (hashes >> 40).astype(_MARK) & ~_SEEN_AGAIN | _USED
        places, others = hashes & (_LINES - 1), (hashes >> 20) & (_LINES - 1)
        here, there = self._lines[places], self._lines[others]
        is_here, is_there = here & ~_SEEN_AGAIN == marks, there & ~_SEEN_AGAIN == marks
        self._lines[places[is_here]] |= _SEEN_AGAIN
        self._lines[others[is_there]] |= _SEEN_AGAIN
        is_new = ~(is_here | is_there)
        if not is_new.any():
            return []
        stays = (here != 0) & ((there == 0) | (here & _SEEN_AGAIN != 0))
        self._lines[np.where(stays, others, places)[is_new]] = marks[is_new]
        return list(compress(lines, is_new.tolist()))

    def near_duplicate(self, url: str, page: Page) -> Copy | None:
        """The most similar page of the same title, if similar enough; otherwise the page is remembered."""
        signature, votes = quick_simhash(page.text)
        if votes < _MIN_VOTES:
            return None
        length = len(page.text)
        others = [one for one in self._pages.get(page.title, ()) if one.url != url and one.is_as_long_as(length)]
        bits, original = min([((signature ^ one.signature).bit_count(), one.url) for one in others], default=(65, ""))
        if bits <= NEAR:
            return Copy(url, original, bits)
        self._remember(page.title, _Known(signature, length, url))
        return None

    def _remember(self, title: str, page: _Known) -> None:
        """Keep a page, among the newest 32 of its title and the 256 titles seen last."""
        pages = self._pages.pop(title, [])[1 - _SAME_TITLE :]
        self._pages[title] = [*pages, page]
        while len(self._pages) > _TITLES:
            self._pages.popitem(last=False)


def _title_marks(title: str) -> frozenset[bytes]:
    """The fingerprints of a title: the whole and its words, without numbers and dates."""
    lines = lines_of(title)
    whole = b"\0".join(sorted(map(phrase_of, lines)))
    return frozenset([_TITLE + whole, *[_IN_TITLE + word for word in words_of(lines) if word]])


def _novelty_of(new: _Additions, *, is_copy: bool, has_parameters: bool) -> Novelty:
    enough = _NEW_LETTERS_OF_A_COPY if is_copy else _NEW_LETTERS
    if new.letters >= enough or new.title_word or (new.title and not has_parameters):
        return Novelty.NEW
    return Novelty.ALIKE if new.phrase or new.title else Novelty.NONE


class Assessment(NamedTuple):
    """The rating of a page, for its decision and for the priority of its links."""

    novelty: Novelty
    is_dull: bool  # a page fetched for the first time that adds nothing
    quality: float  # mean of the page and of its host, from 0 to 1


class PageAssessor:
    """Rates new versions of pages, and records near duplicates and qualities in the batch."""

    def __init__(
        self, intake: LinkIntake, pending: PendingBatch, stored: Callable[[str], tuple[int, CrawlQuality]]
    ) -> None:
        """*stored*: as for `HostQualities`."""
        self._intake, self._pending = intake, pending
        self._detector, self._qualities = NoveltyDetector(), HostQualities(stored)

    def assess(self, item: QueuedUrl, page: Page, size: int) -> Assessment:
        """Assess a new version of a page of *size* bytes."""
        batch = self._pending.batch
        compared = self._detector.compare(
            item.host, item.url, page, trusting=not self._intake.traps.has_suspects(item.host)
        )
        if compared.copy is not None:
            batch.copies.append(compared.copy)
        novelty = Novelty.NEW if item.visits else compared.novelty  # a known page repeats its own lines
        quality = crawl_quality(page, size, is_new=novelty is not Novelty.NONE)
        batch.add_quality(item.host, quality)
        score = quality.score
        if not item.visits:
            self._intake.learn(item, novelty, is_repeat=compared.is_repeat, is_certain=compared.is_certain)
        is_dull = novelty is Novelty.NONE and self._intake.traps.is_learning
        return Assessment(novelty, is_dull, (score + self._qualities.count(item.host, score)) / 2)
