"""Serves the answers of shard nodes that are made in advance, so that only the broker is measured.

    python canned_nodes.py SHARDS

Every shard has a node on a port of its own; all are in this process, which prints the ports when it is ready. It ends
when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import cast

import numpy as np
import uvloop

from periplus.cluster.protocol import NodeFacts
from periplus.cluster.record_codec import encode
from periplus.cluster.remote_shards import METHODS
from periplus.config import Ranking
from periplus.model import Hit
from periplus.search.scoring.candidates import CandidateList, candidates_per_shard
from periplus.search.scoring.score import FEATURES
from periplus.search.shards.port import ShardCandidates

GENERATION = "canned"
TERMS = 12  # of a query of three words, in all fields
_LISTS = 2  # of candidates: by title and text, by all fields
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n"
_SNIPPET = "A page about boats, anchors and the harbour where they lie when the wind is too strong. " * 3


def canned_answers(shard: int, shards: int) -> dict[bytes, bytes]:
    """What a node answers, by the last part of the path."""
    answers = {
        "candidates": _candidates(shard, shards),
        "frequencies": [17 * shard + term for term in range(TERMS)],
        "hits": [Hit(f"https://h{shard}.test/boats", "Boats", _SNIPPET, ((2, 6),), 0.0, f"h{shard}.test", 1e9)],
    }
    facts = NodeFacts("", (shard,), (GENERATION,), ("",))
    return {b"facts": encode(NodeFacts, facts)} | {
        name.encode(): encode(METHODS[name].answer, answer) for name, answer in answers.items()
    }


def _candidates(shard: int, shards: int) -> ShardCandidates:
    """As many candidates as a shard sends when all of them match; no page is in both lists."""
    random, most = np.random.default_rng(shard), candidates_per_shard(Ranking().candidates, shards)
    size = _LISTS * most
    places = random.permutation(size).reshape(_LISTS, most)
    lists = tuple(
        CandidateList(part, -np.sort(-random.random(most)), Ranking().candidates, 10 * most, is_complete=False)
        for part in places
    )
    return ShardCandidates(
        numbers=np.arange(size) * shards + shard,
        hosts=random.integers(0, 1 << 40, size).astype(np.uint64),
        dates=random.integers(10**9, 2 * 10**9, size),
        features=random.random((size, len(FEATURES))),
        boosts=np.zeros(0),
        lists=lists,
        has_words=True,
        with_all_words=10 * most,
        steps={"candidates": 0.001, "features": 0.001},
    )


class CannedProtocol(asyncio.Protocol):
    """One connection of a broker to the node of a shard."""

    def __init__(self, answers: Mapping[bytes, bytes]) -> None:
        self._answers, self._buffer = answers, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            if len(self._buffer) < end + 4 + size:
                return
            self._buffer = self._buffer[end + 4 + size :]
            body = self._answers[head.split(b" ", 2)[1].partition(b"?")[0].rpartition(b"/")[2]]
            self._transport.write(_HEAD % len(body) + body)


async def _serve(shards: int) -> None:
    loop, ports = asyncio.get_running_loop(), []
    for shard in range(shards):
        answers = canned_answers(shard, shards)
        server = await loop.create_server(lambda answers=answers: CannedProtocol(answers), "127.0.0.1", 0)  # type: ignore[misc]
        ports.append(server.sockets[0].getsockname()[1])
    print(*ports, flush=True)
    await loop.run_in_executor(None, os.read, 0, 1)  # until the bench ends


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
