"""The date of a record is read in every common form; a record without a date gets a marked fallback."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from periplus.archives.record_date import parse_date
from periplus.archives.warc_reader import WarcRecord, read_records
from store.warcs import DATE, HEAD, MOMENT, arc, page, warc

FILE_TIME = MOMENT + 86_400
DAY = "day of the year in WARC-Date"
HEADER = "Date header of the response"
PREVIOUS = "date of the previous record"
FILE = "modification time of the file"


def _at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


def _dates(folder: Path, *records: bytes) -> list[tuple[float, str]]:
    path = folder / "file"
    path.write_bytes(b"".join(records))
    os.utime(path, (FILE_TIME, FILE_TIME))
    return [(found.at, found.date_source) for found in read_records(path) if isinstance(found, WarcRecord)]


def _dated(record: bytes, date: str) -> bytes:
    return record.replace(DATE.encode(), date.encode())


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-17T09:30:00Z",
        "2024-05-17T09:30:00",
        "2024-05-17T11:30:00+02:00",
        "2024-05-17T11:30:00+0200",
        "2024-05-17 09:30:00",
        "2024-05-17  11:30:00 +0200",
        "2024/05/17 09:30:00",
        "2024-05-17-09-30-00",
        "2024-05-17T09:30Z",
        "20240517093000",
        "20240517093000123",
        "20240517113000+0200",
        "202405170930",
        "Fri, 17 May 2024 09:30:00 GMT",
        "2024-05-17T09:30:00 and more",
    ],
)
def test_a_date_in_any_common_form_is_the_date_of_the_record(text: str) -> None:
    assert parse_date(text) == (MOMENT, "")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2008-10-294T05:21:46-0700", _at(2008, 10, 20, 12, 21, 46)),
        ("2008-03-070T05:21:46Z", _at(2008, 3, 10, 5, 21, 46)),
        ("2009-001T00:00:00Z", _at(2009, 1, 1)),
        ("2008-12-366 01:00:00", _at(2008, 12, 31, 1)),
    ],
)
def test_a_day_of_the_year_is_understood_and_marked(text: str, at: float) -> None:
    assert parse_date(text) == (at, DAY)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2024", "2024-05", "2008-09-294T05:21:46Z", "2009-366T00:00:00Z", "2008-000T00:00:00Z",
        "2024-13-01T00:00:00Z", "2024-02-31T00:00:00Z", "20240-12-11T00:00:00Z", "2024-05-17409:30:00", "9" * 100,
    ],
)  # fmt: skip
def test_what_is_no_date_has_no_date(text: str) -> None:
    assert parse_date(text) is None


def test_the_date_header_of_the_response_is_the_first_fallback(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\ndate:  Thu, 16 May 2024 09:30:00 GMT\r\n\r\nDate: Fri, 17 May 2024 09:30:00 GMT"
    found = _dates(tmp_path, page("one"), _dated(warc(block), "soon"))
    assert found == [(MOMENT, ""), (MOMENT - 86_400, HEADER)]


@pytest.mark.parametrize("header", [b"Date: tomorrow\r\n", b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", b""])
def test_without_a_valid_date_header_the_previous_record_gives_the_date(tmp_path: Path, header: bytes) -> None:
    lost = _dated(warc(HEAD + header + b"\r\nDate: Fri, 17 May 2024 09:30:00 GMT"), "soon")
    info = _dated(warc(b"software: x", kind="warcinfo"), "2024-05-16T09:30:00Z")
    assert _dates(tmp_path, info, lost, lost) == [(MOMENT - 86_400, ""), *[(MOMENT - 86_400, PREVIOUS)] * 2]


def test_a_date_header_in_the_future_is_not_trusted(tmp_path: Path) -> None:
    lost = _dated(warc(HEAD + b"Date: Fri, 17 May 2999 09:30:00 GMT\r\n\r\n"), "soon")
    assert _dates(tmp_path, lost) == [(FILE_TIME, FILE)]


def test_the_file_gives_the_date_when_no_record_has_one(tmp_path: Path) -> None:
    undated = page("one").replace(f"WARC-Date: {DATE}\r\n".encode(), b"")
    old = arc(HEAD + b"\r\n<p>old", date="20241399000000")
    assert _dates(tmp_path, undated, old) == [(FILE_TIME, FILE)] * 2


def test_arc_dates_may_be_short(tmp_path: Path) -> None:
    found = _dates(tmp_path, *(arc(HEAD + b"\r\n", date=date) for date in ("202405170930", "20240517")))
    assert found == [(MOMENT, ""), (_at(2024, 5, 17), "")]
