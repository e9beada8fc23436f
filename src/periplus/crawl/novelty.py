"""Does a page say anything that its host has not said before?

For each of the hosts asked of late, a bounded memory: the lines of its pages, and the signatures of the newest ones.
Of a host that has had nothing but news for long, one page in sixteen is looked at; the others are taken on trust. That
page is compared with others only if few of its lines are new: most that it could repeat were taken on trust, too.
All of a host's pages come to the same worker, so it sees every copy within a host. The same bytes at two hosts are
recognised when they are written down (`store/catalog.sql`), nearly the same texts when an index is built.

How good does a page look in passing, and how good do the pages of its host?

Six clues, each from 0 to 1, from what a crawl has at hand. Links on good pages of good hosts are followed first
(`frontier/priority.py`). How good a page is when it is read closely is another matter: `parse/quality.py`.

What is a page worth that has just been read, to us and to the order of the queue?
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import compress
from math import log
from typing import NamedTuple

import numpy as np

from periplus.crawl.link_intake import LinkIntake
from periplus.model import Copy, CrawlQuality, Novelty, Page, QueuedUrl
from periplus.store.batch import PendingBatch
from periplus.text.simhash import lines_of, phrase_of, quick_simhash, words_of

_ENOUGH, _TOO_LITTLE = 3_000, 100  # characters of text
_SPAN = log(_ENOUGH / _TOO_LITTLE)
_GOOD_SHARE = 0.15  # characters of text for each byte of the document
_LINK = 25  # characters of text that a link takes
_HOSTS_SCORED = 20_000  # that are remembered
_UNKNOWN = 0.5  # what a host is worth of which nothing is known
_CAUTION = 2  # pages for which that stands


def crawl_quality(page: Page, size: int, *, has_news: bool) -> CrawlQuality:
    """What a page of *size* bytes is worth at first sight."""
    length = len(page.text)
    if not length:
        return CrawlQuality(title=float(bool(page.title)))
    return CrawlQuality(
        text=min(length / (size or 1) / _GOOD_SHARE, 1.0),
        length=min(max(log(length / _TOO_LITTLE) / _SPAN, 0.0), 1.0),
        links=max(1.0 - _LINK * len(page.links) / length, 0.0),
        title=1.0 if page.title else 0.0,
        language=1.0 if page.language else 0.0,
        news=1.0 if has_news else 0.0,
    )


class HostQualities:
    """What the hosts of one worker are worth so far."""

    def __init__(self, recall: Callable[[str], tuple[int, CrawlQuality]]) -> None:
        """*recall* knows how many pages of a host were counted before, and their clues on average."""
        self._recall = recall
        self._hosts: OrderedDict[str, tuple[int, float]] = OrderedDict()  # pages, and the sum of their scores

    def count(self, host: str, score: float) -> float:
        """Take a page into account; returns what its host is worth now."""
        known = self._hosts.pop(host, None)
        if known is None:
            pages, mean = self._recall(host)
            known = pages + _CAUTION, pages * mean.score + _CAUTION * _UNKNOWN
            if len(self._hosts) >= _HOSTS_SCORED:
                self._hosts.popitem(last=False)
        pages, total = self._hosts[host] = known[0] + 1, known[1] + score
        return total / pages


NEAR = 6  # bits in which the signatures of nearly the same text differ at most
_LONGER = 0.03  # the part by which one of them may be longer than the other
_FEWEST = 24  # votes that a signature must stand on, or chance has too much to say
_HOSTS_COMPARED = 512  # that are remembered
_TITLES = 256  # of each host
_SAME_TITLE = 32  # pages of each title
_LINES = 1 << 14  # places for lines of each host; a newer line takes the place of one that was met once
_MARK = np.uint16  # what is kept of a line: one in 8,000 is taken for another
_TAKEN, _MET_AGAIN = _MARK(1), _MARK(2)
_NEWS = 12  # new letters that make a page worth its request
_NEWS_OF_A_COPY = 200  # the same, of one that repeats another page but for a few lines
_FEW = 400  # letters of new lines, up to which their words are looked at
_IN_TITLE, _TITLE, _PHRASE = b"#", b"=", b"-"  # before words of titles, titles and phrases: no line begins like that
_TRUSTED = 32  # credit from which on most pages are taken on trust
_ONE_IN = 16  # of those is looked at


class Comparison(NamedTuple):
    """What a page adds to what is known of its host."""

    novelty: Novelty
    copy: Copy | None = None  # the page that it nearly repeats
    is_repeat: bool = False  # another page has the same title and text, numbers included
    is_certain: bool = True  # False: the page was not compared


_ON_TRUST = Comparison(Novelty.NEW, is_certain=False)


class _Additions(NamedTuple):
    """What a page has that no page of its host had before."""

    letters: int  # of lines, or of words where few lines are new
    phrase: bool  # a line, numbers and dates aside
    title: bool  # its title, numbers and dates aside
    title_word: bool
    is_repeat: bool  # it has nothing: another page has the same title and text


class _Known(NamedTuple):
    """A page that others are compared with."""

    signature: int
    length: int  # characters of its text
    url: str

    def is_as_long_as(self, length: int) -> bool:
        return abs(self.length - length) <= _LONGER * max(self.length, length)


class NoveltyDetector:
    """The memory of one worker."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Memory] = OrderedDict()

    def meet(self, host: str, url: str, page: Page, *, trusting: bool = True) -> Comparison:
        """Compare a page with what its host has said before, and remember it; *trusting*: or take it on trust."""
        memory = self._hosts.get(host)
        if memory is None:
            memory = self._hosts[host] = _Memory()
            if len(self._hosts) > _HOSTS_COMPARED:
                self._hosts.popitem(last=False)
        else:
            self._hosts.move_to_end(host)
        return memory.meet(url, page, trusting=trusting)


class _Memory:
    """What one host has said."""

    def __init__(self) -> None:
        self._lines = np.zeros(_LINES, _MARK)
        self._pages: OrderedDict[str, list[_Known]] = OrderedDict()  # by title
        self._credit = 0  # one for each page in which news were found, half of it for each without
        self._met = 0  # pages

    def meet(self, url: str, page: Page, *, trusting: bool) -> Comparison:
        self._met += 1
        trusting = trusting and self._credit >= _TRUSTED
        if trusting and self._met % _ONE_IN:
            return _ON_TRUST
        new = self.learn(page)
        is_new_enough = trusting and new.letters >= _NEWS_OF_A_COPY
        copy = None if is_new_enough else self.compare(url, page)
        novelty = _novelty_of(new, is_copy=copy is not None, has_parameters="?" in url)
        self._credit = min(self._credit + 1, 2 * _TRUSTED) if novelty is Novelty.NEW else self._credit // 2
        return Comparison(novelty, copy, new.is_repeat)

    def learn(self, page: Page) -> _Additions:
        """Remember the lines and the title of a page; returns what is new."""
        whole, title = b"%d" % hash((page.title, page.text)), _title_marks(page.title)
        lines = lines_of(f"{page.title}\n{page.description}\n{page.text}")
        new = self._new_of(lines.union(title, (whole,)))
        new_lines = [line for line in new if line in lines]
        letters, has_phrase = self._look_closer(new_lines)
        new_title = title.intersection(new)
        has_title_word = any(mark.startswith(_IN_TITLE) for mark in new_title)
        return _Additions(letters, has_phrase, bool(new_title), has_title_word, whole not in new)

    def _look_closer(self, lines: list[bytes]) -> tuple[int, bool]:
        """How many letters of some new lines count, and whether any line is new but for numbers and dates.

        Few new lines may be known words in a new order, as where a list is narrowed or another day is shown: then the
        words count that such lines have not had twice. (Once is not enough: what a month says, its day says again.)
        """
        letters = sum(map(len, lines))
        if letters > _FEW or not letters:
            return letters, bool(letters)
        words = words_of(lines)
        once = self._new_of(words)
        again = self._new_of(frozenset([b"+" + word for word in words.difference(once)]))
        phrases = self._new_of(frozenset([_PHRASE + phrase_of(line) for line in lines]))
        return sum(map(len, once)) + sum(map(len, again)) - len(again), bool(phrases)

    def _new_of(self, lines: frozenset[bytes]) -> list[bytes]:
        """Those of some lines that were not met before; each has two places to be in."""
        if not lines:
            return []
        hashes = np.fromiter(map(hash, lines), np.int64, len(lines))
        marks = (hashes >> 40).astype(_MARK) & ~_MET_AGAIN | _TAKEN
        places, others = hashes & (_LINES - 1), (hashes >> 20) & (_LINES - 1)
        here, there = self._lines[places], self._lines[others]
        is_here, is_there = here & ~_MET_AGAIN == marks, there & ~_MET_AGAIN == marks
        self._lines[places[is_here]] |= _MET_AGAIN
        self._lines[others[is_there]] |= _MET_AGAIN
        is_new = ~(is_here | is_there)
        if not is_new.any():
            return []
        stays = (here != 0) & ((there == 0) | (here & _MET_AGAIN != 0))
        self._lines[np.where(stays, others, places)[is_new]] = marks[is_new]
        return list(compress(lines, is_new.tolist()))

    def compare(self, url: str, page: Page) -> Copy | None:
        """The nearest page of the same title, if it is near enough; a page that is near none is remembered."""
        signature, votes = quick_simhash(page.text)
        if votes < _FEWEST:
            return None
        length = len(page.text)
        others = [one for one in self._pages.get(page.title, ()) if one.url != url and one.is_as_long_as(length)]
        bits, original = min([((signature ^ one.signature).bit_count(), one.url) for one in others], default=(65, ""))
        if bits <= NEAR:
            return Copy(url, original, bits)
        self._remember(page.title, _Known(signature, length, url))
        return None

    def _remember(self, title: str, page: _Known) -> None:
        """Keep a page; of one title the newest few, and of all the titles met last."""
        pages = self._pages.pop(title, [])[1 - _SAME_TITLE :]
        self._pages[title] = [*pages, page]
        while len(self._pages) > _TITLES:
            self._pages.popitem(last=False)


def _title_marks(title: str) -> frozenset[bytes]:
    """What is remembered of a title: the whole and its words, without numbers and dates."""
    lines = lines_of(title)
    whole = b"\0".join(sorted(map(phrase_of, lines)))
    return frozenset([_TITLE + whole, *[_IN_TITLE + word for word in words_of(lines) if word]])


def _novelty_of(new: _Additions, *, is_copy: bool, has_parameters: bool) -> Novelty:
    if new.letters >= (_NEWS_OF_A_COPY if is_copy else _NEWS) or new.title_word or (new.title and not has_parameters):
        return Novelty.NEW
    return Novelty.ALIKE if new.phrase or new.title else Novelty.NONE


class Assessment(NamedTuple):
    """What follows for a page and for its links."""

    novelty: Novelty
    is_dull: bool  # a page fetched for the first time that adds nothing
    quality: float  # of the page and of its host, from 0 to 1


class PageAssessor:
    """Compares pages with what is known of their hosts, and writes down what it finds."""

    def __init__(self, paths: LinkIntake, log: PendingBatch, recall: Callable[[str], tuple[int, CrawlQuality]]) -> None:
        self._paths, self._log = paths, log
        self._copies, self._worths = NoveltyDetector(), HostQualities(recall)

    def judge(self, item: QueuedUrl, page: Page, size: int) -> Assessment:
        """Assess a new version of a page of *size* bytes."""
        batch = self._log.batch
        compared = self._copies.meet(item.host, item.url, page, trusting=not self._paths.traps.has_suspects(item.host))
        if compared.copy is not None:
            batch.copies.append(compared.copy)
        novelty = Novelty.NEW if item.visits else compared.novelty  # a known page repeats itself by nature
        worth = crawl_quality(page, size, has_news=novelty is not Novelty.NONE)
        batch.add_quality(item.host, worth)
        score = worth.score
        if not item.visits:
            self._paths.learn(item, novelty, is_repeat=compared.is_repeat, is_certain=compared.is_certain)
        is_dull = novelty is Novelty.NONE and self._paths.traps.is_learning
        return Assessment(novelty, is_dull, (score + self._worths.count(item.host, score)) / 2)
