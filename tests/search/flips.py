"""A program that damages the live index bit by bit and searches it: `python flips.py HOME NUMBER SEED` prints JSON.

Each search runs in a fork, because what a library makes of damaged bytes may end a process.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from index.live import live_index, problems_of
from periplus.errors import PeriplusError
from periplus.store.collection import Collection, open_collection
from search.library import opened

QUERIES = ("quick fox", '"quick brown" -zebra', "299 OR 7", "site:h3.test quick")


def answers(collection: Collection) -> list[Any]:
    """What the index says."""
    with opened(collection) as engine:
        return [[hit.url for hit in engine.search(query, size=50).hits] for query in QUERIES]


def outcome(collection: Collection, expected: list[Any]) -> str:
    """How searching ends in a process of its own, which may not run for long."""
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            code = 0 if answers(collection) == expected else 1
        except PeriplusError as error:
            code = 2 if "\n" not in str(error) and len(str(error)) < 600 else 3
        except BaseException:
            code = 3
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    return "died" if os.WIFSIGNALED(status) else ["same", "other", "told", "failed"][os.WEXITSTATUS(status)]


def main() -> None:
    """Flips a bit, searches, restores the bit; *number* times."""
    collection, chance = open_collection(Path(sys.argv[1])), random.Random(int(sys.argv[3]))
    generation = live_index(collection)
    files = sorted(path for path in generation.rglob("*") if path.is_file() and path.suffix != ".lock")
    expected = answers(collection)
    outcomes: Counter[str] = Counter()
    for number in range(int(sys.argv[2])):
        path = files[number % len(files)]
        whole = path.read_bytes()
        place, bit = chance.randrange(len(whole)), 1 << chance.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        outcomes[outcome(collection, expected)] += 1
        named = [name for name, _ in problems_of(generation)]
        outcomes["named"] += named == [str(path.relative_to(generation))]
        path.write_bytes(whole)
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main()
