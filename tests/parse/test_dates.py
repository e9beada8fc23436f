"""Dates are parsed in every common format, and other text is rejected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.parse.dates import epoch


def said(text: str) -> str:
    """The parsed date, in the format of RFC 3339."""
    at = epoch(text)
    return "" if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2017", "2017-01-01T00:00:00Z"),
        ("2017-03", "2017-03-01T00:00:00Z"),
        ("2017-03-05", "2017-03-05T00:00:00Z"),
        ("2017-03-05T13:34Z", "2017-03-05T13:34:00Z"),
        ("2017-03-05T13:34:55+01:00", "2017-03-05T12:34:55Z"),
        ("2017-03-05T13:34:55.123456-08:00", "2017-03-05T21:34:55Z"),
    ],
)
def test_the_six_forms_of_the_sitemap_protocol_are_understood(written: str, meant: str) -> None:
    assert said(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "Thu, 05 Jan 2017 13:34:52 +0100",
        "Thu, 05 Jan 17 13:34:52 +0100",
        "05 Jan 2017 13:34:52 +0100",
        "5 Jan 17 12:34:52",
        "Thu, 5 Jan 2017 12:34:52 GMT",
        "Thu, 05 Jan 2017 12:34:52 UT",
        "Thu, 05 Jan 2017 12:34:52 Z",
        "Thu, 05 Jan 2017 07:34:52 EST",
        "Thu, 05 Jan 2017 04:34:52 PST",
        "Thursday, 05-Jan-17 12:34:52 GMT",
        "Thu,05 Jan 2017 12:34:52 GMT",
        "Thu 05 January 2017 12:34:52 +0000",
        "Thu Jan 05 2017 13:34:52 GMT+0100 (Central European Time)",
        "January 5, 2017 12:34:52",
        "jeu., 05 Jan 2017 12:34:52 GMT",
    ],
)
def test_the_dates_of_rss_are_understood_in_all_their_spellings(written: str) -> None:
    assert said(written) == "2017-01-05T12:34:52Z"


@pytest.mark.parametrize(
    "written",
    [
        "  2017-01-05T12:34:52Z\n",
        "2017-01-05 12:34:52",
        "2017-01-05 12:34:52 UTC",
        "2017-01-05t12:34:52z",
        "2017/01/05 12:34:52",
        "2017-01-05T13:34:52+0100",
        "2017-01-05T13:34:52 +01",
        "2017-01-05T13:34:52.000+01:00[Europe/Berlin]",
    ],
)
def test_malformed_dates_are_understood(written: str) -> None:
    assert said(written) == "2017-01-05T12:34:52Z"


def test_a_day_without_a_time_begins_at_midnight_utc() -> None:
    assert said("Thu, 5 Jan 2017") == said("20170105") == "2017-01-05T00:00:00Z"


def test_midnight_may_belong_to_the_day_before() -> None:
    assert said("2017-01-05T24:00:00Z") == "2017-01-06T00:00:00Z"


def test_a_year_of_two_digits_is_of_this_century_or_the_last() -> None:
    assert said("1 Jan 99")[:4] == "1999"
    assert said("1 Jan 24")[:4] == "2024"


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "yesterday",
        "1494000000",
        "2017-13-01",
        "2017-02-30",
        "31 Feb 2017",
        "2017-01-05T25:00Z",
        "2017-01-05T12:60Z",
        "2017-01-05T12:00+99:00",
        "05 Foo 2017 12:00:00 GMT",
        "2017-01-05 and then some",
        "２０１７-01-05",  # noqa: RUF001
        "2017" * 1_000_000,
    ],
)
def test_a_text_that_is_not_a_date_is_none(written: str) -> None:
    assert epoch(written) is None


@pytest.mark.parametrize(
    "written",
    [
        "0000-00-00",
        "0001-01-01T00:00:00",
        "-0001-11-30T00:00:00+00:00",
        "Tue, 30 Nov -001 00:00:00 +0000",
        "1970-01-01",
    ],
)
def test_placeholder_dates_are_none(written: str) -> None:
    assert epoch(written) is None


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
SECONDS = st.integers(700_000_000, 4_000_000_000)  # from 1992 to 2096
MOMENTS = st.builds(datetime.fromtimestamp, SECONDS, ZONES)


@given(MOMENTS)
def test_every_moment_is_understood_in_both_ways_of_writing(at: datetime) -> None:
    assert epoch(at.isoformat()) == epoch(format_datetime(at)) == at.timestamp()


@given(st.text(max_size=80) | st.text("0123456789-:T +Z,JanGMT", max_size=40))
def test_any_text_can_be_parsed_as_a_date(text: str) -> None:
    at = epoch(text)
    assert at is None or at > 0
