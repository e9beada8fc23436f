"""A collection of generated pages, indexed as one piece and as four shards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from periplus.model import Image
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection
from search.library import Doc, give_ranks, index, shelve

SHARDS = 4
_DAY = 86_400.0
_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "vor", "ell", "dun", "pra", "che", "ost", "ium", "bar", "net", "fil")


class Both(NamedTuple):
    """The same pages in one index, and in shards."""

    one: SearchEngine
    shards: SearchEngine


class Libraries(NamedTuple):
    """The collections of `Both`."""

    one: Collection
    shards: Collection


def vocabulary(size: int, seed: int = 5) -> list[str]:
    """Distinct made-up words, the most frequent first."""
    chance = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(words)


def documents(pages: int) -> list[Doc]:
    """Pages of several hosts, their subdomains and two languages; words are as frequent as in real texts."""
    chance, words = random.Random(11), vocabulary(1_500)
    weights = [1.0 / (rank + 3) for rank in range(len(words))]

    def some(size: int) -> str:
        return " ".join(chance.choices(words, weights, k=size))

    return [
        Doc(
            f"http://{('', 'www.', 'docs.')[number % 3]}host{number % 13}.test/{number}",
            some(4).title(),
            ". ".join(some(9) for _ in range(chance.randint(3, 12))),
            headings=(some(3),),
            language="de" if number % 7 == 0 else "en",
            published=1.6e9 + number * _DAY if number % 4 == 0 else None,
            images=(Image(f"http://img.test/{number % 190}.png", some(3)),) if number % 5 == 0 else (),
        )
        for number in range(pages)
    ]


def libraries(folder: Path, pages: int) -> Libraries:
    """Both collections, with ranks, indexed."""
    found = []
    for name, shards in (("one", 1), ("shards", SHARDS)):
        docs = documents(pages)
        collection = shelve(folder / name, docs, reparsed=True)
        chance = random.Random(3)
        anchors = {doc.url: [doc.title.lower()] for doc in docs[::9]}
        give_ranks(collection, {doc.url: chance.paretovariate(1.2) for doc in docs}, anchors)
        index(collection, shards=shards)
        found.append(collection)
    return Libraries(*found)


def queries(most: int) -> Iterator[str]:
    """Queries of one to four words, frequent and rare ones, some misspelled, with operators."""
    chance, words = random.Random(23), vocabulary(1_500)
    weights = [1.0 / (rank + 20) for rank in range(len(words))]
    for number in range(most):
        chosen = chance.choices(words, weights, k=chance.randint(1, 4))
        match number % 10:
            case 0:
                yield f"{' '.join(chosen)} site:host{number % 13}.test"
            case 1:
                yield f'"{chosen[0]} {chance.choice(words[:20])}"'
            case 2:
                yield f"{chosen[0]} -{chance.choice(words[:40])}"
            case 3:
                yield f"{chosen[0][:-1]}x {' '.join(chosen[1:])}"
            case 4:
                yield f"{chosen[0]} OR {chance.choice(words)} after:2020-11"
            case _:
                yield " ".join(chosen)
