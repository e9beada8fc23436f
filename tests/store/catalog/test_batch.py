"""Records become rows and rows become the same records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.model import ArchivePosition, Decision, Fetch, HostPolicy, Reason, RobotsFile, Verdict
from periplus.store.catalog import batch as ledger
from periplus.store.catalog.batch import Batch, Refusal
from store.records import AT, batch_of, done, queued

ITEM = queued("https://example.org/a", 2.0, due=5.0, via="https://example.org/", attempts=1)


def test_an_empty_batch_needs_no_commit() -> None:
    assert not Batch()


@pytest.mark.parametrize(
    "batch",
    [
        batch_of(ITEM),
        Batch(settled=[done(ITEM)]),
        Batch(seeds=["https://example.org/"]),
        Batch(policies={"example.org": HostPolicy("example.org", 1.0)}),
        Batch(robots=[RobotsFile("https://example.org", AT, 200, b"")]),
    ],
    ids=["admitted", "settled", "seeds", "policies", "robots"],
)
def test_a_batch_with_anything_in_it_needs_a_commit(batch: Batch) -> None:
    assert batch


def test_a_refused_link_alone_needs_a_commit() -> None:
    batch = Batch(
        samples=[Refusal("example.com", "https://example.com/", Decision(Verdict.REFUSED, Reason.ROBOTS), "")]
    )
    batch.refused["example.com", Reason.ROBOTS] += 1
    assert batch


def test_a_queued_url_survives_its_row() -> None:
    url, depth, priority, due, reason, via, redirects = ledger.admission_row(ITEM)
    row = (url, depth, priority, reason, via, redirects, ITEM.attempts, due)
    assert ledger.queued_from_row(ITEM.host, row) == ITEM


@given(st.integers(0, 2**64 - 1))
def test_every_key_of_64_bits_fits_into_a_column(key: int) -> None:
    assert -(2**63) <= ledger.signed(key) < 2**63
    assert ledger.signed(key) % 2**64 == key


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("position", [None, ArchivePosition("w00-000001.warc.gz", 0, 10)])
def test_a_fetch_survives_its_row(verdict: Verdict, position: ArchivePosition | None) -> None:
    fetch = Fetch(
        "https://example.org/雨",
        AT,
        200,
        Decision(verdict, Reason.OK, "détail"),
        "text/html",
        7,
        b"\0" * 32 if position else b"",
        position,
        "https://example.org/new",
        '"etag"',
        "yesterday",
        0.5,
    )
    _, _, *stored = ledger.fetch_row(fetch, 3, 4)
    archive_id = stored[9]
    assert archive_id == (4 if position else None)
    stored[9] = position.name if position else None  # the query joins the name
    assert ledger.fetch_from_row(tuple(stored)) == fetch
