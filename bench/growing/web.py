"""Makes a web that grows as real ones do, from arithmetic: a page is made when it is requested, nothing is stored.

Hosts differ in size by a power law, and so do pages in their number of in-links. The frequent words follow Zipf's law;
rare words never end, so the vocabulary grows with the pages (Heaps' law). The web has twice as many pages as a crawl of
it fetches: the frontier stays full, and half the nodes of the graph were never fetched.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from living.made_web import word

SPARE = 2  # pages of the web for each page that is fetched
PAGES_PER_HOST = 25  # mean
_LARGEST_HOST = 9_000  # pages: below `scope.pages_per_domain`
_HOST_SIZE_EXPONENT = 0.8  # the size of the n-th largest host is ~ n^-0.8
_SEED_SHARE = 10  # one of so many hosts is a seed; links lead to the others
_HEAD_WORDS, _HEAD_SHARE = 10_000, 0.85  # words with frequency ~ 1/rank, and their share of all text
_TAIL_EXPONENT = 0.6  # of the other words: distinct words ~ text^(1 / 1.6)
_WORDS, _PARAGRAPH = (120, 320), 60  # words of a page; of a paragraph
_CHILDREN, _SIBLINGS, _OTHERS = 6, 8, 4  # links of a page
_TITLE_WORDS = (100, 60_000)  # ranks of the words in titles
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - {site}</title></head>
<body><nav><a href="/">{site}</a></nav><main><h1>{title}</h1>
{body}</main>
<ul>{links}</ul></body></html>
"""
_KNOWN_WORDS = [word(number) for number in range(1 << 17)]


@dataclass(frozen=True)
class GrowingWeb:
    """The web of a crawl that fetches *pages* pages."""

    pages: int

    @cached_property
    def host_sizes(self) -> NDArray[np.int64]:
        """Pages of every host, the largest first."""
        hosts = max(SPARE * self.pages // PAGES_PER_HOST, 1)
        shape = np.arange(1, hosts + 1) ** -_HOST_SIZE_EXPONENT
        sizes: NDArray[np.int64] = np.rint(shape / shape.sum() * SPARE * self.pages).astype(np.int64)
        return np.clip(sizes, 1, _LARGEST_HOST)

    @cached_property
    def _sizes(self) -> list[int]:
        return [int(size) for size in self.host_sizes]

    def seeds(self) -> list[str]:
        """The start pages of some hosts of every size."""
        return [url(host, 0) for host in range(0, len(self._sizes), _SEED_SHARE)]

    def page(self, host: int, page: int) -> str | None:
        """The HTML of a page, the same whenever it is made; None where the web has no such page."""
        if not (0 <= host < len(self._sizes) and 0 <= page < self._sizes[host]):
            return None
        chosen = random.Random(host << 24 | page)
        targets = [(host, target) for target in self._own_links(chosen, host, page)]
        targets += [self.popular_page(chosen) for _ in range(_OTHERS)]
        texts = _text(chosen, chosen.randint(*_WORDS))
        paragraphs = (" ".join(texts[start : start + _PARAGRAPH]) for start in range(0, len(texts), _PARAGRAPH))
        return _PAGE.format(
            title=title(host, page),
            site=f"Site {_word(host + _TITLE_WORDS[0])}",
            body="\n".join(f"<p>{text}.</p>" for text in paragraphs),
            links="".join(
                f'<li><a href="{path(to) if at == host else url(at, to)}">{title(at, to)}</a></li>'
                for at, to in targets
            ),
        )

    def _own_links(self, chosen: random.Random, host: int, page: int) -> list[int]:
        """Links inside the host: the pages below this one in a tree, so that all can be reached, and some others."""
        size = self._sizes[host]
        below = range(page * _CHILDREN + 1, min(page * _CHILDREN + 1 + _CHILDREN, size))
        return [*below, *(_skewed(chosen, size) for _ in range(_SIBLINGS))]

    def popular_page(self, chosen: random.Random) -> tuple[int, int]:
        """Host and number of a page; popular pages are drawn more often."""
        host = _skewed(chosen, len(self._sizes))
        return host, _skewed(chosen, self._sizes[host])


def url(host: int, page: int) -> str:
    """The URL of a page; every host has its own registrable domain."""
    return f"http://{_word(host + _TITLE_WORDS[0])}-{host}.test{path(page)}"


def path(page: int) -> str:
    """The path of a page; folders have 40 pages."""
    return f"/{_word(page // 40 + _TITLE_WORDS[0])}/{_word(page + _TITLE_WORDS[0])}-{page}" if page else "/"


def place(host: bytes, path: bytes) -> tuple[int, int]:
    """Host and number of the page at an address; (-1, -1) if no page can have it."""
    try:
        name = host.removesuffix(b".test").rpartition(b"-")[2]
        return int(name), 0 if path == b"/" else int(path.rpartition(b"-")[2])
    except ValueError:
        return -1, -1


def title(host: int, page: int) -> str:
    """Three words, without a random generator: every link needs the title of its target."""
    low, high = _TITLE_WORDS
    number = (host * 2_654_435_761 + page * 40_503 + 12_345) & 0xFFFFFFFF
    words = []
    for _ in range(3):
        number = (number * 1_664_525 + 1_013_904_223) & 0xFFFFFFFF
        words.append(_word(int(low * (high / low) ** (number / 2**32))))
    return " ".join(words)


def _skewed(chosen: random.Random, size: int) -> int:
    """A number below *size*; n is drawn with probability ~ 1 / (n + 1)."""
    return min(int((size + 1) ** chosen.random()), size) - 1


def _text(chosen: random.Random, words: int) -> list[str]:
    """Words by their frequency: ~ 1/rank at first, then a tail that never ends."""
    drawn = np.frombuffer(chosen.randbytes(4 * words), np.uint32) / 2.0**32
    head = np.exp(drawn / _HEAD_SHARE * math.log(_HEAD_WORDS))
    tail = _HEAD_WORDS * np.maximum((1 - drawn) / (1 - _HEAD_SHARE), 1e-9) ** (-1 / _TAIL_EXPONENT)
    ranks = np.where(drawn < _HEAD_SHARE, head, tail).astype(np.int64) - 1
    return [_word(rank) for rank in ranks.tolist()]


def _word(number: int) -> str:
    return _KNOWN_WORDS[number] if number < len(_KNOWN_WORDS) else word(number)
