"""Corrects words with symspellpy or rapidfuzz; runs in the environment of that library.

Reads words with frequencies and typos as JSON from stdin; prints the first correction of each typo and its cost.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

EDITS = 2


def symspell(words: dict[str, int]) -> Callable[[str], str]:
    from symspellpy import SymSpell, Verbosity  # type: ignore[import-not-found]  # noqa: PLC0415 - each environment has one of the libraries

    speller = SymSpell(max_dictionary_edit_distance=EDITS, prefix_length=7)
    for word, count in words.items():
        speller.create_dictionary_entry(word, count)

    def correct(typed: str) -> str:
        found = speller.lookup(typed, Verbosity.TOP, max_edit_distance=EDITS)
        return found[0].term if found else ""

    return correct


def rapidfuzz(words: dict[str, int]) -> Callable[[str], str]:
    from rapidfuzz import process  # type: ignore[import-not-found]  # noqa: PLC0415
    from rapidfuzz.distance import OSA  # type: ignore[import-not-found]  # noqa: PLC0415

    names = list(words)

    def correct(typed: str) -> str:
        found = process.extract(typed, names, scorer=OSA.distance, score_cutoff=EDITS, limit=50)
        return min(found, key=lambda one: (one[1], -words[one[0]]))[0] if found else ""

    return correct


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    given = json.load(sys.stdin)
    before, started = resident(), time.perf_counter()
    correct = {"symspell": symspell, "rapidfuzz": rapidfuzz}[sys.argv[1]](given["words"])
    opened = time.perf_counter() - started
    firsts, times = [], []
    for typed in given["typos"]:
        started = time.perf_counter()
        firsts.append(correct(typed))
        times.append(time.perf_counter() - started)
    slow = sorted(times)[int(0.95 * len(times))]
    figures = {"open_ms": round(1000 * opened, 1), "ms_p95": round(1000 * slow, 2)}
    print(json.dumps({"firsts": firsts, **figures, "memory_mb": round((resident() - before) / 1e6, 1)}))


if __name__ == "__main__":
    main()
