"""The lower bound: reads the ids of all links once, with the same number of threads as the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from numpy.typing import NDArray

from ranking.players.stage import THREADS, graph, play, timed


@numba.njit(nogil=True)
def stream(ids: NDArray[np.uint32]) -> int:
    total = np.uint32(0)
    for number in ids:
        total += number
    return int(total)


def main() -> None:
    pieces = np.array_split(graph().sources, 32)
    stream(pieces[0])  # compiles it
    with ThreadPoolExecutor(THREADS) as threads:
        play(lambda: timed(lambda: list(threads.map(stream, pieces))))


if __name__ == "__main__":
    main()
