"""Measures a broker over shard nodes beside the server of one index: processes on this machine, the same HTTP path."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from harness.cpu import tree_cpu
from harness.errors import BenchError
from periplus.store.collection import Collection
from periplus.store.durable import write_file
from periplus.store.generations import CURRENT

SIZE = 10  # results
_NO_CACHES = {"PERIPLUS_SERVE__CACHE_MB": "0", "PERIPLUS_SERVE__MEMORY_CACHE_MB": "0"}
_ADDRESS = re.compile(r" at http://127\.0\.0\.1:(\d+)/")
_PATIENCE = 120.0  # seconds until a server has started or stopped
_TIMEOUT = 30.0  # seconds for one answer
Figures = dict[str, Any]


@dataclass(frozen=True)
class Server:
    """A `periplus serve` that runs."""

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        """The address without the last slash."""
        return f"http://127.0.0.1:{self.port}"


class Answers(NamedTuple):
    """The answers of a server to all queries."""

    seconds: list[float]
    urls: list[list[str]]  # of the results
    partial: list[bool]

    def figures(self) -> Figures:
        """Milliseconds of the answers."""
        p50, p99 = np.percentile(np.array(self.seconds) * 1e3, (50, 99)).tolist()
        return {"p50_ms": round(p50, 2), "p99_ms": round(p99, 2), "max_ms": round(1e3 * max(self.seconds), 2)}


def over_nodes(collection: Collection, one: Path, divided: Path, queries: Sequence[str], folder: Path) -> Figures:
    """The figures of a broker; *one* and *divided* are generations of the same pages, the second with shards."""
    shards = len(list(divided.glob("shard-*")))
    with ExitStack() as stack:
        single = stack.enter_context(served(linked(collection, one, folder / "one")))
        home = linked(collection, divided, folder / "divided")
        nodes = [stack.enter_context(served(home, "--shards", str(shard))) for shard in range(shards)]
        broker = stack.enter_context(served(home, "--nodes", ",".join(node.url for node in nodes)))
        servers = (single, broker, *nodes)
        for server in (single, broker):
            answers(server, queries)  # to warm up
        before = [tree_cpu(server.process.pid) for server in servers]
        whole, merged = in_turns(single, broker, queries)
        after = [tree_cpu(server.process.pid) for server in servers]
        hanging = without(broker, nodes[-1], signal.SIGSTOP, queries)
        nodes[-1].process.send_signal(signal.SIGCONT)
        until_complete(broker, queries[0])
        dead = without(broker, nodes[-1], signal.SIGKILL, queries)
    overlaps = [overlap(*pair) for pair in zip(whole.urls, merged.urls, strict=True)]
    times = whole.figures(), merged.figures()
    cpu = [round(1e3 * (end - start) / len(queries), 2) for start, end in zip(before, after, strict=True)]
    return {
        "single": times[0] | {"cpu_ms": cpu[0]},
        "broker": times[1] | {"cpu_ms": cpu[1], "node_cpu_ms": cpu[2:], "partial": sum(merged.partial)},
        "p50_ratio": round(times[1]["p50_ms"] / times[0]["p50_ms"], 2),
        "p99_ratio": round(times[1]["p99_ms"] / times[0]["p99_ms"], 2),
        "overlap": round(float(np.mean(overlaps)), 4),
        "dead": dead,
        "hanging": hanging,
    }


def linked(collection: Collection, generation: Path, home: Path) -> Path:
    """A collection that has hard links to one generation; the original stays as it is."""
    (home / "index").mkdir(parents=True)
    shutil.copy(collection.home / "collection.json", home)
    shutil.copytree(generation, home / "index" / generation.name, copy_function=os.link)
    write_file(home / "index" / CURRENT, f"{generation.name}\n".encode())
    return home


@contextmanager
def served(home: Path, *options: str) -> Iterator[Server]:
    """Runs `periplus serve` until the block ends, without caches."""
    command = [sys.executable, "-m", "periplus", "serve", "--home", str(home), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | _NO_CACHES)
    try:
        assert process.stderr is not None
        lines = []
        while not (found := _ADDRESS.search(line := process.stderr.readline())):
            lines.append(line)
            if not line:
                raise BenchError(f"the server did not start: {''.join(lines).strip()[-300:]}")
        yield Server(process, int(found[1]))
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.communicate(timeout=_PATIENCE)


def in_turns(first: Server, second: Server, queries: Sequence[str]) -> tuple[Answers, Answers]:
    """The answers of two servers, by turns, so that a busy machine disturbs both alike."""
    found = [(answers(first, [query]), answers(second, [query])) for query in queries]
    return joined([one for one, _ in found]), joined([other for _, other in found])


def joined(parts: Sequence[Answers]) -> Answers:
    """The answers of several calls."""
    return Answers(*(list(chain.from_iterable(column)) for column in zip(*parts, strict=True)))


def answers(server: Server, queries: Sequence[str]) -> Answers:
    """Searches one after the other, over one connection."""
    client, found = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_TIMEOUT), Answers([], [], [])
    for query in queries:
        started = time.perf_counter()
        client.request("GET", f"/api/search?{urlencode({'q': query, 'size': SIZE})}")
        response = client.getresponse()
        body = response.read()
        found.seconds.append(time.perf_counter() - started)
        if response.status != 200:
            raise BenchError(f"{query!r} was answered with {response.status}")
        results = json.loads(body)
        found.urls.append([hit["url"] for hit in results["results"]])
        found.partial.append(results["partial"])
    client.close()
    return found


def without(broker: Server, node: Server, number: signal.Signals, queries: Sequence[str]) -> Figures:
    """The answers of a broker after a signal to one of its nodes; the first answer finds out that the node is gone."""
    node.process.send_signal(number)
    first, later = answers(broker, queries[:1]), answers(broker, queries)
    return {
        "first_ms": round(1e3 * first.seconds[0], 2),
        **later.figures(),
        "partial_share": round((sum(first.partial) + sum(later.partial)) / (1 + len(queries)), 4),
    }


def until_complete(broker: Server, query: str) -> None:
    """Waits until all nodes answer again."""
    deadline = time.monotonic() + _PATIENCE
    while any(answers(broker, [query]).partial):
        if time.monotonic() > deadline:
            raise BenchError("a node does not come back")
        time.sleep(0.1)


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the results of one search that the other has, too."""
    return len({*one} & {*other}) / max(len(one), len(other)) if one or other else 1.0
