"""PageRank by a sparse 32-bit matrix of scipy."""

from __future__ import annotations

import numpy as np
from scipy import sparse  # type: ignore[import-untyped,import-not-found,unused-ignore]

from ranking.players.stage import DAMPING, graph, play, timed


def main() -> None:
    links = graph()
    nodes, linking = links.nodes, links.degrees > 0
    ones = np.ones(len(links.sources), np.float32)
    parts = (ones, links.sources.astype(np.int32), links.indptr.astype(np.int32))
    matrix = sparse.csr_array(parts, shape=(nodes, nodes))
    inverse = np.divide(1, links.degrees, out=np.zeros(nodes, np.float32), where=linking)

    def once() -> list[float]:
        rank = np.full(nodes, 1 / nodes, np.float32)

        def step() -> None:
            nonlocal rank
            lost = 1 - DAMPING * rank[linking].sum()
            new = np.float32(DAMPING) * (matrix @ (rank * inverse)) + np.float32(lost / nodes)
            np.abs(new - rank).sum()  # the change, which says when to stop
            rank = new

        return timed(step)

    play(once)


if __name__ == "__main__":
    main()
