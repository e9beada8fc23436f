"""Which alerts does the console show, from the recent samples of a crawl?

Every alert is a sentence with figures and a remedy. The counters of a sample grow from one sample to the next; a new
run starts them from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from periplus.config import Console

_RECENT = 300.0  # seconds that count as now
_BEFORE = 3_600.0  # seconds before them that they are compared with
_SHORTEST = 60.0  # seconds of samples that a rate needs
_FEWEST_REQUESTS = 20  # for an error rate
_SLOWEST_RATE = 0.05  # pages a second: a crawl that was slower cannot become noticeably slower
_MB = 1_000_000


class Sample(NamedTuple):
    """The figures of a crawl at one moment."""

    at: float  # seconds since the epoch
    pages: int = 0  # fetched so far
    errors: int = 0  # failed requests so far
    bytes: int = 0  # fetched so far
    queued: int = 0  # URLs in memory and on disk
    disk_free_bytes: int | None = None
    freshness: float | None = None  # age in seconds of the oldest fetched page that is not searchable yet

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Sample:
        """From a record of the live statistics; unknown keys are ignored, errors may be counted by reason."""
        known = {name: record[name] for name in cls._fields if record.get(name) is not None}
        if isinstance(errors := known.get("errors"), Mapping):
            known["errors"] = sum(errors.values())
        if "queued" not in known:
            known["queued"] = (record.get("queued_memory") or 0) + (record.get("queued_disk") or 0)
        return cls(**known)


class Alert(NamedTuple):
    """What is wrong, and what to do."""

    kind: str  # disk, errors, throughput or stale
    sentence: str
    remedy: str


def find_alerts(samples: Sequence[Sample], limits: Console, *, is_paused: bool = False) -> list[Alert]:
    """The alerts of a crawl, most urgent first; *samples*: in the order of time. A paused crawl may be slow."""
    if not samples:
        return []
    recent, before = _divided(samples)
    return [
        *_low_disk(samples[-1], limits),
        *_error_rate(recent, limits),
        *([] if is_paused else _throughput_drop(recent, before, limits)),
        *_stale_index(samples[-1], limits),
    ]


def _divided(samples: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """The samples of the last minutes, and those of the hour before."""
    start = samples[-1].at - _RECENT
    recent = [sample for sample in samples if sample.at >= start]
    return recent, [sample for sample in samples if start - _BEFORE <= sample.at <= start]


def _low_disk(newest: Sample, limits: Console) -> Iterator[Alert]:
    free = newest.disk_free_bytes
    if free is not None and free < limits.alert_disk_mb * _MB:
        yield Alert(
            "disk",
            f"The disk has {free / _MB:,.0f} MB left; the limit is {limits.alert_disk_mb:,} MB.",
            "Free some space, or move the collection to a larger disk. A full disk stops the crawl; what is "
            "acknowledged stays safe.",
        )


def _error_rate(recent: Sequence[Sample], limits: Console) -> Iterator[Alert]:
    pages, errors = _grown(recent, "pages"), _grown(recent, "errors")
    requests = pages + errors
    if requests >= _FEWEST_REQUESTS and errors / requests > limits.alert_error_rate:
        yield Alert(
            "errors",
            f"{errors / requests:.0%} of the last {requests:,} requests failed; "
            f"the limit is {limits.alert_error_rate:.0%}.",
            "Compare the reasons: one host that fails is its own problem, many hosts point to the network or the name "
            "server of this machine.",
        )


def _throughput_drop(recent: Sequence[Sample], before: Sequence[Sample], limits: Console) -> Iterator[Alert]:
    now, then = _rate(recent), _rate(before)
    if now is None or then is None or then < _SLOWEST_RATE or not recent[-1].queued:
        return
    if now < limits.alert_drop * then:
        yield Alert(
            "throughput",
            f"The crawl fetches {now:.2g} pages a second; in the hour before it fetched {then:.2g}.",
            "When few hosts are left, their delays limit the rate, and nothing is wrong. Otherwise look at the errors "
            "and at what the workers wait for.",
        )


def _stale_index(newest: Sample, limits: Console) -> Iterator[Alert]:
    limit = limits.alert_stale_minutes
    if limit and newest.freshness is not None and newest.freshness > 60 * limit:
        yield Alert(
            "stale",
            f"A page that was fetched {newest.freshness / 60:,.0f} minutes ago is not searchable yet; "
            f"the limit is {limit:g} minutes.",
            "Look for an error of the index in the log; `periplus index` builds the index by hand.",
        )


def _rate(samples: Sequence[Sample]) -> float | None:
    """Pages a second; None when the samples cover too little time."""
    if not samples or (seconds := samples[-1].at - samples[0].at) < _SHORTEST:
        return None
    return _grown(samples, "pages") / seconds


def _grown(samples: Sequence[Sample], counter: str) -> int:
    """How much a counter has grown; a new run starts it from 0."""
    values = [int(getattr(sample, counter)) for sample in samples]
    return sum(later - earlier if later >= earlier else later for earlier, later in pairwise(values))
