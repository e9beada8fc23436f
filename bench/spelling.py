"""Measures spelling correction and completion on the words of a real collection, beside symspellpy and rapidfuzz."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from harness.venvs import provision
from indexing.corpus import real_corpus, small_corpus
from periplus import __version__
from periplus.config import Settings
from periplus.index.build import build_index
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.pagestore import PageStore
from periplus.search.suggest.completion import Completer
from periplus.search.suggest.spelling import Speller
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.text.analyzer import folded

CACHE = Path(__file__).with_name(".cache")
JUDGED = Path(__file__).resolve().parents[2] / "shared" / "data" / "judged" / "queries.tsv"
PEERS = {"symspell": "symspellpy", "rapidfuzz": "rapidfuzz"}
PROGRAM = Path(__file__).with_name("peers") / "spelling_program.py"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LEAST_DOCUMENTS, LEAST_LETTERS = 5, 5  # of a word that is misspelled
SEED = 17


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--home", type=Path, help="an indexed collection; without it documentation is downloaded")
    parser.add_argument("--pages", type=int, default=25_000, help="pages to download, at most (%(default)s)")
    parser.add_argument("--words", type=int, default=1000, help="misspelled words of each kind (%(default)s)")
    parser.add_argument("--queries", type=int, default=500, help="right queries (%(default)s)")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="judged queries, for right ones (%(default)s)")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="leave out symspellpy and rapidfuzz")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, words=20, queries=10, peers=False, home=None)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache, tempfile.TemporaryDirectory(prefix="spelling-") as folder:
        if options.home is not None:
            return measured(open_collection(options.home), options, cache)
        small = options.tiny and small_corpus(Path(folder) / "home", made_web(cache, "{name}.test"))
        collection = small or real_corpus(cache, options.pages)
        build_index(collection, Settings().index)
        return measured(collection, options, cache)


def measured(collection: Collection, options: argparse.Namespace, cache: Path) -> dict[str, Any]:
    generation = Generations(collection.index, INDEX_KIND).open_live()
    if generation is None:
        raise BenchError(f"{collection.home} has no index")
    words = words_of(generation.folder, 1 if options.tiny else LEAST_DOCUMENTS)
    every = all_words(generation.folder)
    typos = {count: list(misspelled(words, every.keys(), options.words, count)) for count in (1, 2)}
    before = resident()
    started = time.perf_counter()
    speller = Speller.open(generation.folder)
    opened = time.perf_counter() - started
    result = {"bench": "spelling", "version": __version__, "words": len(words), "open_ms": round(1000 * opened, 1)}
    times: list[float] = []
    result |= {key(count): share(speller, pairs, times) for count, pairs in typos.items()}
    queries = right_queries(generation.folder, options)
    touched = [query for query in queries if timed(speller, query.split(), times)]
    result |= {"right_queries": len(queries), "right_touched": len(touched), "ms_p95": p95(times)}
    result["memory_mb"] = round((resident() - before) / 1e6, 1)
    result["complete_ms_p95"] = completion_p95(generation.folder, words)
    generation.close()
    if options.peers:
        for name, requirement in PEERS.items():
            dictionary = {word: count for word, count in every.items() if word in words or count >= 2}
            result[name] = peer(name, provision(name, [requirement], cache), dictionary, typos)
    return result


def key(edits: int) -> str:
    return {1: "one_edit", 2: "two_edits"}[edits]


def words_of(generation: Path, least: int) -> dict[str, int]:
    """The words of the vocabulary that are misspelled, and the documents of each."""
    lexicon = ForwardIndex(generation).lexicon
    numbers = lexicon.vocabulary
    found = zip(numbers.tolist(), lexicon.documents(numbers).tolist(), strict=True)
    words = {lexicon.word(number): documents for number, documents in found if documents >= least}
    return {word: documents for word, documents in words.items() if word.isascii() and word.isalpha()}


def all_words(generation: Path) -> dict[str, int]:
    """Every word of the collection without accents, and the documents of each."""
    lexicon = ForwardIndex(generation).lexicon
    numbers = np.arange(1, len(lexicon), dtype=np.uint32)
    return {folded(lexicon.word(one)): int(lexicon.documents(numbers[one - 1 : one])[0]) for one in numbers.tolist()}


def misspelled(words: dict[str, int], every: Set[str], most: int, edits: int) -> Iterator[tuple[str, str]]:
    """Pairs of a misspelled word, which is not among *every* word of the collection, and the word itself."""
    rng = random.Random(SEED + edits)
    least = min(LEAST_LETTERS, max(map(len, words)))
    long = [word for word in words if len(word) >= least]
    for _ in range(most):
        word = typed = rng.choice(long)
        while typed in every:
            typed = word
            for _ in range(edits):
                typed = edited(typed, rng)
        yield typed, word


def edited(word: str, rng: random.Random) -> str:
    """The word with one letter deleted, inserted, replaced or swapped with its neighbour."""
    place, letter = rng.randrange(len(word)), rng.choice(LETTERS)
    kinds = (
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
    )
    return rng.choice(kinds) or word


def share(speller: Speller, pairs: list[tuple[str, str]], times: list[float]) -> float:
    """The share of words that come first among the corrections."""
    firsts = [timed(speller, [typed], times) for typed, _ in pairs]
    right = [bool(first) and folded(first) == word for first, (_, word) in zip(firsts, pairs, strict=True)]
    return round(sum(right) / max(len(right), 1), 3)


def timed(speller: Speller, words: list[str], times: list[float]) -> str:
    """The first correction of a query, or nothing."""
    started = time.perf_counter()
    found = speller.corrections(words)
    times.append(time.perf_counter() - started)
    return found[0].text if found else ""


def right_queries(generation: Path, options: argparse.Namespace) -> list[str]:
    """Judged queries without a typo, then titles."""
    rows = options.judged.read_text().splitlines() if options.judged.exists() and not options.tiny else []
    judged = [row.split("\t")[1] for row in rows if row[:1] != "#" and not row.startswith("typ")]
    with PageStore(generation) as pages:
        titles = [pages.head(number).title.lower() for number in range(len(pages))]
    return [*judged, *random.Random(SEED).sample(titles, len(titles))][: options.queries]


def completion_p95(generation: Path, words: dict[str, int]) -> float:
    completer, times = Completer.open(generation), []
    for word in random.Random(SEED).choices(sorted(words), k=200):
        for length in range(1, min(len(word), 5) + 1):
            started = time.perf_counter()
            completer.complete(word[:length])
            times.append(time.perf_counter() - started)
    return p95(times)


def peer(name: str, python: Path, words: dict[str, int], typos: dict[int, list[tuple[str, str]]]) -> dict[str, float]:
    """The same figures of another library with the same words and frequencies."""
    given = json.dumps({"words": words, "typos": [typed for pairs in typos.values() for typed, _ in pairs]})
    ran = subprocess.run([python, PROGRAM, name], input=given, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise BenchError(f"the peer {name} failed: {ran.stderr.strip().splitlines()[-1]}")
    told = json.loads(ran.stdout)
    firsts = iter(told["firsts"])
    shares = {
        key(count): round(sum(next(firsts) == word for _, word in pairs) / len(pairs), 3)
        for count, pairs in typos.items()
    }
    return {**shares, "open_ms": told["open_ms"], "ms_p95": told["ms_p95"], "memory_mb": told["memory_mb"]}


def p95(times: list[float]) -> float:
    return round(1000 * float(np.percentile(times, 95)), 2)


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
