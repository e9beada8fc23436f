"""Counts requests and searches, and writes the figures in the text format of Prometheus.

With several server processes each process saves its figures to a file, at most once a second, when they have changed.
The process that is asked adds up its own figures and the files of the others. The figures of a process that has ended
stay in the sums of counters, which must never decrease.
"""

from __future__ import annotations

import asyncio
import os
import resource
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import orjson

from periplus.inspector.prometheus import Metric, header, value_line

_SAVE_SECONDS = 1.0
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # seconds
_Key = tuple[str, ...]  # the name of the metric and the values of its labels
_Figures = dict[_Key, float]


METRICS = {
    "periplus_http_requests_total": Metric("counter", "Requests by route and status.", ("route", "status")),
    "periplus_http_request_seconds": Metric("histogram", "Seconds from a request to its answer.", ("route",)),
    "periplus_http_refused_total": Metric("counter", "Requests above the rate limit or the queue.", ("reason",)),
    "periplus_search_step_seconds_total": Metric("counter", "Seconds of searches by step.", ("step",)),
    "periplus_searches_total": Metric("counter", "Searches that were answered by the engine."),
    "periplus_cache_hits_total": Metric("counter", "Answers from a cache.", ("cache",)),
    "periplus_search_queue_length": Metric("gauge", "Searches that wait or run."),
    "periplus_index_generation": Metric("gauge", "Number of the index generation."),
    "periplus_index_documents": Metric("gauge", "Pages in the index."),
    "periplus_node_calls_total": Metric("counter", "Requests of a broker to shard nodes.", ("node", "method")),
    "periplus_node_failures_total": Metric(
        "counter", "Requests to shard nodes that failed, by reason.", ("node", "reason")
    ),
    "periplus_node_hedges_total": Metric("counter", "Slow requests that also went to a replica.", ("node",)),
    "periplus_node_up": Metric("gauge", "1: the shard node answers, 0: it does not.", ("node",)),
    "periplus_partial_searches_total": Metric("counter", "Searches without an answer of some shard."),
    "periplus_processes": Metric("gauge", "Server processes."),
    "process_cpu_seconds_total": Metric("counter", "CPU seconds of all server processes."),
    "process_resident_memory_bytes": Metric("gauge", "Memory of all server processes."),
}
_SHARED = (
    "periplus_index_generation",
    "periplus_index_documents",
    "periplus_node_up",
)  # the same in every process, so not added up


class Metrics:
    """The figures of one server process, and with a folder those of all."""

    def __init__(self, folder: Path | None = None) -> None:
        """*folder*: where the processes of one site save their figures; None when there is one process."""
        self._folder = folder
        self._counters: defaultdict[_Key, float] = defaultdict(float)
        self._gauges: dict[_Key, Callable[[], float]] = {
            ("periplus_processes",): lambda: 1.0,
            ("process_resident_memory_bytes",): _resident_bytes,
        }
        self._sources: list[Callable[[], Mapping[_Key, float]]] = []  # of other counters
        self._timer: asyncio.TimerHandle | None = None

    def add(self, name: str, *labels: str, amount: float = 1.0) -> None:
        """Increases a counter."""
        self._counters[name, *labels] += amount
        if self._folder is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SAVE_SECONDS, self.save)

    def gauge(self, name: str, value: Callable[[], float], *labels: str) -> None:
        """Names the function that returns the current value of a gauge."""
        self._gauges[name, *labels] = value

    def counters(self, read: Callable[[], Mapping[tuple[str, ...], float]]) -> None:
        """Names the function that returns counters that are counted elsewhere, by name and labels."""
        self._sources.append(read)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Counts one request and its duration."""
        bound = bisect_left(_BOUNDS, seconds)
        self._counters["periplus_http_request_seconds", route, str(bound)] += 1
        self._counters["periplus_http_request_seconds", route, "sum"] += seconds
        self.add("periplus_http_requests_total", route, str(status))

    def search(self, steps: Mapping[str, float], *, is_partial: bool = False) -> None:
        """Counts one search and the seconds of its steps."""
        if steps.keys() == {"cache"}:
            self.add("periplus_cache_hits_total", "file")
        self.add("periplus_searches_total")
        if is_partial:
            self.add("periplus_partial_searches_total")
        for step, seconds in steps.items():
            self.add("periplus_search_step_seconds_total", step, amount=seconds)

    def save(self) -> None:
        """Writes the figures of this process for the others."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._folder is None:
            return
        content = {"counters": list(self._counted().items()), "gauges": list(self._measured().items())}
        target = self._folder / f"{os.getpid()}.json"
        temporary = target.with_suffix(".new")
        with suppress(OSError):  # the folder is removed while the site stops
            temporary.write_bytes(orjson.dumps(content))
            temporary.replace(target)

    def text(self) -> str:
        """The figures of all processes in the text format."""
        figures: defaultdict[_Key, float] = defaultdict(float)
        for one in (self._counted(), self._measured(), *self._others()):
            for key, value in one.items():
                figures[key] += value
        figures.update({key: value() for key, value in self._gauges.items() if key[0] in _SHARED})
        return "".join(f"{line}\n" for line in _lines(figures))

    def _counted(self) -> _Figures:
        others = {key: value for read in self._sources for key, value in read().items()}
        return dict(self._counters) | others | {("process_cpu_seconds_total",): time.process_time()}

    def _measured(self) -> _Figures:
        return {key: value() for key, value in self._gauges.items()}

    def _others(self) -> Iterator[_Figures]:
        """The figures of the other processes; the gauges of a process that has ended do not count."""
        for path in self._folder.glob("*.json") if self._folder is not None else ():
            if path.stem == str(os.getpid()):
                continue
            saved = orjson.loads(path.read_bytes())
            yield {tuple(key): value for key, value in saved["counters"]}
            if _is_running(int(path.stem)):
                yield {tuple(key): value for key, value in saved["gauges"]}


def _lines(figures: _Figures) -> Iterator[str]:
    for name, metric in METRICS.items():
        own = sorted((key[1:], value) for key, value in figures.items() if key[0] == name)
        if not own:
            continue
        yield from header(name, metric)
        if metric.kind == "histogram":
            yield from _histograms(name, metric.labels[0], own)
        else:
            yield from (value_line(name, metric.labels, values, value) for values, value in own)


def _histograms(name: str, label: str, figures: Iterable[tuple[_Key, float]]) -> Iterator[str]:
    by_route: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (route, part), value in figures:
        by_route[route][part] = value
    for route, parts in by_route.items():
        count = 0.0
        for number, bound in enumerate((*map(str, _BOUNDS), "+Inf")):
            count += parts.get(str(number), 0)
            yield value_line(f"{name}_bucket", (label, "le"), (route, bound), count)
        yield value_line(f"{name}_sum", (label,), (route,), parts["sum"])
        yield value_line(f"{name}_count", (label,), (route,), count)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _resident_bytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:  # not Linux: the maximum so far, in kilobytes
        return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
