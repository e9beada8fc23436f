"""How fast do links become ranks, next to the speed of memory and to libraries people know?"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
import pyarrow as pa
import xxhash
from harness import venvs
from harness.errors import BenchError
from numpy.typing import NDArray
from pyarrow import parquet

from periplus.graph.pagerank import Links, Walk, page_ranks
from periplus.graph.run import GraphSettings, rank
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.ranks import open_ranks
from periplus.store.segments import LINKS, PAGES, SealedSegment, file_digest, segment_name

CACHE = Path(__file__).with_name(".cache")
MEMORY = 2 << 30  # what DuckDB may use
ITERATIONS = 8  # of every contestant in every round
PAGES_A_SEGMENT = 80 * 1024
PAGES_A_GROUP = 2048
SEED = 20240229

Numbers = NDArray[np.int64]


# -- a web to rank ----------------------------------------------------------------------------------------------


def web_like(nodes: int, edges: int) -> tuple[Numbers, Numbers, Numbers]:
    """Source and target of every link, by source, and the host of every node: most links stay near, some go to the famous."""
    random = np.random.default_rng(SEED)
    sizes = random.lognormal(4.5, 1.2, max(nodes // 200, 1))
    firsts = np.append(0, np.floor(np.cumsum(sizes) / sizes.sum() * nodes)).astype(np.int64)
    firsts[-1] = nodes
    host = np.repeat(np.arange(len(sizes)), np.diff(firsts))
    degrees = random.lognormal(0, 0.7, nodes)
    source = np.repeat(np.arange(nodes), np.round(degrees / degrees.sum() * edges).astype(np.int64))
    famous = random.permutation(nodes)
    target = np.empty_like(source)
    for start in range(0, len(source), 1 << 22):  # in pieces, or the temporaries take gigabytes
        part = slice(start, start + (1 << 22))
        target[part] = _targets(random, source[part], firsts[host[source[part]]], firsts[host[source[part]] + 1], famous)
    return source, target, host


def _targets(
    random: np.random.Generator, source: Numbers, first: Numbers, last: Numbers, famous: Numbers
) -> Numbers:
    count, kind = len(source), random.random(len(source))
    inside = first + ((last - first) * random.random(count) ** 1.5).astype(np.int64)
    near = source + np.rint(random.laplace(0, 100, count)).astype(np.int64)
    near = np.where((near >= first) & (near < last), near, inside)
    away = famous[(len(famous) * random.random(count) ** 3).astype(np.int64)]
    return np.where(kind < 0.4, near, np.where(kind < 0.75, inside, away))
