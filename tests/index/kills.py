"""A program that kills index builds at chosen moments: `python kills.py HOME NUMBER` prints what it found as JSON.

The moments are counted in calls of functions, Python's and C's alike. Half of them are spread evenly over the build,
half over its end, where the new generation takes the place of the old one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from periplus.index.generations import Generations, number_of, problems_of
from periplus.store.collection import Collection, open_collection
from search.library import index, opened

QUERIES = ["harbour", "lighthouse OR reef", '"deep water"', "coast -reef"]


class Countdown:
    """Counts calls, and ends the process without a word at the last one."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.publishing: int | None = None  # how many were left when the new generation was complete

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in {"call", "c_call"}:
            self.left -= 1
            if frame.f_code is Generations.publish.__code__ and self.publishing is None:
                self.publishing = self.left
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def in_a_fork(action: Callable[[], object]) -> tuple[int, Any]:
    """Run *action* in a process of its own; returns the signal that ended it, or 0, and what it returned."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        answer = json.dumps(action())
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the build itself failed"
    return (os.WTERMSIG(status), None) if os.WIFSIGNALED(status) else (0, json.loads(text))


def build_until(collection: Collection, calls: int) -> list[int | None]:
    """Build, and die after so many calls; or return how many were made, and how many before publishing."""
    countdown = Countdown(calls)
    sys.setprofile(countdown)
    index(collection)
    sys.setprofile(None)
    return [calls - countdown.left, None if countdown.publishing is None else calls - countdown.publishing]


def content(collection: Collection) -> list[Any]:
    """What the live generation answers: the same after every build, though its bytes are not."""
    live = Generations(collection.index).current()
    assert list(problems_of(live)) == []
    found: list[Any] = []
    with opened(collection) as engine:
        for query in QUERIES:
            results = engine.search(query, size=100, explain=True)
            hits = [[hit.url, hit.score, hit.snippet, *hit.same_content] for hit in results.hits]
            found.append([results.total, hits])
    return [engine.documents, found]


def main() -> None:
    """Kill, look, build again, look; as often as asked."""
    collection, kills = open_collection(Path(sys.argv[1])), int(sys.argv[2])
    in_a_fork(lambda: index(collection).documents)
    _, expected = in_a_fork(lambda: content(collection))
    _, (calls, publishing) = in_a_fork(lambda: build_until(collection, 1 << 60))
    half = kills // 2
    moments = [1 + (calls - 1) * number // half for number in range(half)]
    moments += [publishing + (calls - publishing) * number // (kills - half) for number in range(kills - half)]
    found = {"calls": calls, "publishing": publishing, "killed": 0, "switched": 0, "differing": 0, "leftovers": 0}
    for moment in moments:
        before = number_of(Generations(collection.index).current())
        ended, _ = in_a_fork(lambda at=moment: build_until(collection, at))  # type: ignore[misc]
        found["killed"] += ended == signal.SIGKILL
        found["switched"] += number_of(Generations(collection.index).current()) != before
        found["differing"] += in_a_fork(lambda: content(collection))[1] != expected
        in_a_fork(lambda: index(collection).documents)
        found["differing"] += in_a_fork(lambda: content(collection))[1] != expected
        found["leftovers"] += len(list(collection.index.glob("*.tmp")))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
