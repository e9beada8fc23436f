"""Finds what the titles of a site repeat: its name at the start or end of titles, and words that many titles share.

A single page does not show which part of its title names the site. So some titles of every site are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from periplus.index.storage.arrays import load_array, save_array
from periplus.index.storage.records import Records, read_records, write_records
from periplus.text.analyzer import OTHER, terms
from periplus.url import url_key

TITLES_COMPARED = 100  # maximum per site
FEWEST_TITLES = 5  # minimum of distinct titles of a site to compare
_SHARED = 0.4  # share of the titles that have a word, or the same start or end
_LONGER = 0.9  # share of the titles with a short start or end that have the longer one, too
_SEPARATOR = re.compile(r"\s+[-–—|·•:»«/]+\s+|:\s+|\s+(?=[(\[（])|[｜：]")  # noqa: RUF001
_VERSION = re.compile(r"\bv?\d+(\.\d+)+[A-Za-z0-9.~+-]*")
_EDGES = " -–—|·•:»«/()[]（）｜："  # noqa: RUF001

_CACHED = 10_000  # hosts
_SITES = "sites"  # files: a record of every site
_KEYS = "site_keys.npy"  # file: the hashes of their hosts, in ascending order


@dataclass(frozen=True, slots=True)
class Site:
    """What the titles of one host repeat. A field without a value in the file gets its default."""

    host: str = ""
    name: str = ""  # the name of the site, from the shared part of its titles
    starts: tuple[str, ...] = ()  # in lower case, longest first
    ends: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # words that at least 40 % of the titles have, as terms of the analyzer `OTHER`

    def short_title(self, title: str) -> str:
        """The title without the parts that name the site; a title with nothing else stays as it is."""
        lower = _lower(title)
        first = next((len(start) for start in self.starts if lower.startswith(start)), 0)
        last = next((len(title) - len(end) for end in self.ends if lower.endswith(end)), len(title))
        return title[first:last].strip() or title


_COLUMNS = {field.name: field.default for field in fields(Site)}


def compare_titles(titles: Mapping[str, Iterable[str]]) -> dict[str, Site]:
    """The sites of hosts with enough distinct titles."""
    distinct = {host: set(found) - {""} for host, found in titles.items()}
    return {host: _site(host, found) for host, found in distinct.items() if len(found) >= FEWEST_TITLES}


def _site(host: str, titles: set[str]) -> Site:
    enough = _SHARED * len(titles)
    starts, ends, words = Counter[str](), Counter[str](), Counter[str]()
    for title in titles:
        lower = _lower(title)
        for separator in _SEPARATOR.finditer(lower):
            if separator.start():
                starts[lower[: separator.end()]] += 1
                ends[lower[separator.start() :]] += 1
        words.update(set(terms(OTHER, title)))
    shared_starts, shared_ends = _longest(starts, enough), _longest(ends, enough)
    parts = shared_ends or shared_starts
    shared = sorted(word for word, count in words.items() if count >= enough and not word.isdigit())
    return Site(host, _name(parts[0], titles) if parts else "", shared_starts, shared_ends, tuple(shared))


def _lower(title: str) -> str:
    """The title in lower case, letter by letter; as it is when a letter would change its length."""
    lower = title.lower()
    return lower if len(lower) == len(title) else title


def _longest(counts: Counter[str], enough: float) -> tuple[str, ...]:
    """The parts that enough titles have, longest first, without longer forms that only some of these titles have."""
    parts = {part: count for part, count in counts.items() if count >= enough}
    kept = [
        part
        for part, count in parts.items()
        if not any(other in part and count < _LONGER * parts[other] for other in parts if other != part)
    ]
    return tuple(sorted(kept, key=lambda part: (-len(part), part)))


def _name(part: str, titles: set[str]) -> str:
    """The shared part as the titles spell it, without separators and version numbers."""
    spelled = min(title for title in titles if part in _lower(title))
    start = _lower(spelled).index(part)
    return " ".join(_VERSION.sub(" ", spelled[start : start + len(part)]).strip(_EDGES).split())


def write_sites(folder: Path, sites: Iterable[Site]) -> None:
    """Write the files of sites into the folder of a generation."""
    known = sorted(sites, key=lambda site: url_key(site.host))
    rows = ([getattr(site, name) for name in _COLUMNS] for site in known)
    write_records(folder / _SITES, list(_COLUMNS), rows)
    save_array(folder / _KEYS, [url_key(site.host) for site in known], np.uint64)


def read_sites(folder: Path) -> dict[str, Site]:
    """All sites of a generation, by host."""
    sites = (_restored(row) for row in read_records(folder / _SITES, _COLUMNS))
    return {site.host: site for site in sites}


def _restored(row: list[Any]) -> Site:
    host, name, starts, ends, words = row
    return Site(host, name, tuple(starts), tuple(ends), tuple(words))


class Sites:
    """Reads sites by host; only the sites that are asked for are read."""

    def __init__(self, folder: Path) -> None:
        self._records = Records(folder / _SITES, _COLUMNS)
        self._keys = load_array(folder / _KEYS, np.uint64, len(self._records))
        self.words_of = lru_cache(_CACHED)(self._find_words)  # a search asks for the hosts of all its candidates

    def __enter__(self) -> Sites:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def of(self, host: str) -> Site:
        """The site of a host; an empty one for a host with few titles."""
        return self._site(url_key(host)) or Site(host)

    def _find_words(self, key: int) -> frozenset[str]:
        """The words that most titles of a host have, as terms of the analyzer `OTHER`; *key* is the host's hash."""
        site = self._site(key)
        return frozenset(site.words if site else ())

    def _site(self, key: int) -> Site | None:
        number = int(np.searchsorted(self._keys, np.uint64(key)))
        if number == len(self._keys) or self._keys[number] != key:
            return None
        return _restored(self._records[number])

    def close(self) -> None:
        """Close the files."""
        self._records.close()
