"""The time of a version in a URL is 14 digits."""

from __future__ import annotations

import pytest

from periplus.errors import UsageError
from periplus.web.page.version_time import read_version_time, version_time
from web.engines import CRAWLED


def test_a_time_is_written_and_read_back() -> None:
    assert version_time(CRAWLED) == "20260304050500"
    assert read_version_time("20260304050500") == CRAWLED
    assert read_version_time("") is None


@pytest.mark.parametrize("text", ["1", "x" * 14, "20261304050500", "2026-03-04", "٢٠٢٦٠٣٠٤٠٥٠٥٠٠", "0" * 14, "-1"])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="invalid time of a version"):
        read_version_time(text)


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e20])
def test_a_time_that_no_calendar_has_is_no_link(seconds: float) -> None:
    assert version_time(seconds) == ""
