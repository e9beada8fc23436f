"""The console warns when something is wrong, with a figure and a remedy, and is quiet otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from periplus.config import Console
from periplus.inspector.alerts import Alert, Sample, find_alerts

GB = 1_000_000_000
LIMITS = Console()


def crawled(*rates: tuple[float, float, float], queued: int = 500, free: int = 50 * GB) -> list[Sample]:
    """Samples every 30 seconds; of each stretch: seconds, pages a second, errors a second."""
    found = [Sample(0.0, queued=queued, disk_free_bytes=free, freshness=20.0)]
    for seconds, pages, errors in rates:
        for _ in range(int(seconds // 30)):
            last = found[-1]
            found.append(
                last._replace(
                    at=last.at + 30, pages=last.pages + round(30 * pages), errors=last.errors + round(30 * errors)
                )
            )
    return found


STEADY = crawled((3_900, 8, 0.1))


def restarted(samples: Sequence[Sample]) -> list[Sample]:
    """The same crawl, with a second run in the last minutes that counts from 0."""
    start = samples[-5]
    return [
        one if one.at < start.at else one._replace(pages=one.pages - start.pages, errors=one.errors - start.errors)
        for one in samples
    ]


@pytest.mark.parametrize(
    ("case", "samples", "kinds"),
    [
        ("no sample", [], []),
        ("one sample", STEADY[:1], []),
        ("a steady crawl", STEADY, []),
        ("a new run that counts from 0", restarted(STEADY), []),
        ("a full disk", crawled((600, 8, 0), free=GB), ["disk"]),
        ("the limit of the disk is still allowed", crawled((600, 8, 0), free=2 * GB), []),
        ("an unknown disk", [STEADY[-1]._replace(disk_free_bytes=None)], []),
        ("a third of the requests fails", crawled((3_600, 8, 0.1), (300, 6, 3)), ["errors"]),
        ("a fifth fails: the limit", crawled((3_600, 8, 0), (300, 8, 2)), []),
        ("errors of an hour ago", crawled((600, 1, 9), (3_300, 8, 0.1)), []),
        ("a few requests fail", crawled((270, 0, 0), (30, 0, 0.6)), []),
        ("a crawl that becomes slow", crawled((3_600, 8, 0), (300, 2, 0)), ["throughput"]),
        ("a crawl that stops", crawled((3_600, 8, 0), (300, 0, 0)), ["throughput"]),
        ("half the rate: the limit", crawled((3_600, 8, 0), (300, 4, 0)), []),
        ("a crawl that is done", crawled((3_600, 8, 0), (300, 0, 0), queued=0), []),
        ("a crawl that was slow already", crawled((3_600, 0.03, 0), (300, 0, 0)), []),
        ("a crawl that began a minute ago", crawled((60, 8, 0)), []),
        ("a page waits for an hour", [STEADY[-1]._replace(freshness=3_600.0)], ["stale"]),
        ("a page waits for 15 minutes: the limit", [STEADY[-1]._replace(freshness=900.0)], []),
        ("everything", [*STEADY, STEADY[-1]._replace(freshness=9e9, disk_free_bytes=0)], ["disk", "stale"]),
    ],
)
def test_an_alert_is_shown_when_its_limit_is_passed(case: str, samples: list[Sample], kinds: list[str]) -> None:
    assert [alert.kind for alert in find_alerts(samples, LIMITS)] == kinds, case


def test_an_alert_says_what_is_wrong_and_what_to_do() -> None:
    (disk,) = find_alerts(crawled((600, 8, 0), free=GB), LIMITS)
    assert disk.sentence == "The disk has 1,000 MB left; the limit is 2,000 MB."
    (errors,) = find_alerts(crawled((3_600, 8, 0.1), (300, 6, 3)), LIMITS)
    assert errors.sentence == "33% of the last 2,700 requests failed; the limit is 20%."
    (slow,) = find_alerts(crawled((3_600, 8, 0), (300, 2, 0)), LIMITS)
    assert slow.sentence == "The crawl fetches 2 pages a second; in the hour before it fetched 8."
    (stale,) = find_alerts([Sample(1.0, freshness=7_200.0)], LIMITS)
    assert stale.sentence == "A page that was fetched 120 minutes ago is not searchable yet; the limit is 15 minutes."
    assert all(alert.remedy.endswith(".") for alert in (disk, errors, slow, stale))


def test_a_paused_crawl_may_be_slow() -> None:
    assert find_alerts(crawled((3_600, 8, 0), (300, 0, 0)), LIMITS, is_paused=True) == []


def test_every_alert_can_be_switched_off() -> None:
    off = Console(alert_disk_mb=0, alert_error_rate=1, alert_drop=0, alert_stale_minutes=0)
    worst = [*crawled((3_600, 8, 0)), *crawled((3_600, 8, 0), (300, 0, 9), free=0)]
    assert find_alerts([*worst[-100:], worst[-1]._replace(freshness=9e9)], off) == []


def test_a_sample_is_read_from_a_record() -> None:
    record = {"at": 5.0, "pages": 7, "errors": {"dns": 2, "timeout": 1}, "queued_memory": 3, "queued_disk": 4, "x": 1}
    assert Sample.of(record) == Sample(5.0, pages=7, errors=3, queued=7)
    assert Sample.of({"at": 5.0, "errors": 2, "queued": 9, "freshness": None}) == Sample(5.0, errors=2, queued=9)
    assert Alert._fields == ("kind", "sentence", "remedy")
