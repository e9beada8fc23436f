"""PageRank by networkit. Single passes cannot be timed, so the mean of a round also counts as its best."""

from __future__ import annotations

import time

import networkit  # type: ignore[import-not-found]
import numpy as np

from ranking.players.stage import DAMPING, THREADS, graph, iterations, play


def main() -> None:
    networkit.setNumberOfThreads(THREADS)
    links = graph()
    in_links = links.indptr[1:] - links.indptr[:-1]
    targets = np.repeat(np.arange(links.nodes, dtype=np.uint64), in_links.astype(np.int64))
    web = networkit.GraphFromCoo((links.sources.astype(np.uint64), targets), n=links.nodes, directed=True)
    del targets

    def once() -> list[float]:
        ranking = networkit.centrality.PageRank(web, DAMPING, 1e-30)
        ranking.maxIterations = iterations()
        begun = time.perf_counter()
        ranking.run()
        return [(time.perf_counter() - begun) / ranking.numberOfIterations()]

    play(once)


if __name__ == "__main__":
    main()
