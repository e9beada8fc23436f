"""Builds the index, the indexes of the peers and the queries once, from the same pages."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from periplus.config import Settings
from periplus.index.build import build_index
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND
from querying import peers

_SEED = 17
_MARK = "bench-query"  # a file beside the index; bench/index.py removes it together with the index
_LONGEST = 4  # words of a title that become a query
_WORD = re.compile(r"[^\W_]+")
_QUESTION = re.compile(r"(?:(?<=[.!?:] )|^)(?:How|What|Why|When|Where|Which|Can) [^.?!\n]{12,120}\?", re.MULTILINE)
_STARTS = ("how to use {}", "what is {}", "why does {} fail", "where can I find the {}", "which {} should I use")


@dataclass(frozen=True)
class Queries:
    """The queries of a run, by kind."""

    words: list[str]  # neighbouring words of titles
    questions: list[str]  # whole questions from the texts; where there are too few, made from titles


def prepared(collection: Collection, folder: Path, most: int) -> Queries:
    """The queries, *most* of each kind; builds what is missing. *folder*: for the peers."""
    mark, current = collection.index / _MARK, f"{INDEX_KIND.format} {most}"
    if not mark.exists() or mark.read_text() != current:
        print("building the index and those of the peers, once", file=sys.stderr)
        shutil.rmtree(collection.index, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build_index(collection, Settings().index)
        peers.build(folder, pages(collection))
        (folder / "queries.json").write_text(json.dumps(asdict(_queries(collection, most))))
        mark.write_text(current)
    return Queries(**json.loads((folder / "queries.json").read_text()))


def pages(collection: Collection) -> Iterator[peers.Page]:
    """The pages of the index."""
    with closing(SearchEngine.open(collection, Settings())) as engine:
        for number in range(engine.documents):
            yield peers.Page(engine.index.pages.head(number).full_title, engine.index.pages.text(number))


def _queries(collection: Collection, most: int) -> Queries:
    """The same queries every time: a sample with a fixed seed."""
    chosen = random.Random(_SEED)
    titles, questions = dict[str, None](), dict[str, None]()
    for page in pages(collection):
        titles[page.title] = None
        questions |= dict.fromkeys(_QUESTION.findall(page.text))
    some = chosen.sample(list(titles), len(titles))
    words = list(filter(None, (part_of(title, chosen) for title in some)))
    made = (chosen.choice(_STARTS).format(part) for part in words[most:] + words)
    real = chosen.sample(list(questions), min(most, len(questions)))
    return Queries(words[:most], [*real, *made][:most])


def part_of(title: str, chosen: random.Random) -> str:
    """One to four neighbouring words of a title."""
    found = _WORD.findall(title)
    size = chosen.randint(1, _LONGEST)
    first = chosen.randint(0, max(len(found) - size, 0))
    return " ".join(found[first : first + size])
