"""What one stage hands to another is a fact: it can be read and compared, not changed."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Iterable
from enum import Enum
from typing import Any

import pytest

from periplus import model
from periplus.model import (
    ArchivePosition,
    Decision,
    Fetch,
    Hit,
    HostPolicy,
    Link,
    Page,
    QueuedUrl,
    Reason,
    Response,
    RobotsFile,
    UrlState,
    Verdict,
)

OK = Decision(Verdict.FETCHED, Reason.OK)
URL = "https://example.org/"
RECORDS: list[Any] = [
    OK,
    QueuedUrl(URL, "example.org", 0, 0.0, Reason.SEED),
    Response(URL, 1.0),
    Link(URL, "home", nofollow=False),
    Page(links=(Link(URL, "home", nofollow=False),)),
    HostPolicy("example.org", 1.0),
    RobotsFile("https://example.org", 1.0, 200, b""),
    ArchivePosition("a.warc.gz", 0, 1),
    Fetch(URL, 1.0, 200, OK, position=ArchivePosition("a.warc.gz", 0, 1)),
    Hit(URL, "t", "s", 1.0, "example.org", 1.0),
]
WITH_A_DICT = (Response, Hit)


def named(record: object) -> str:
    return type(record).__name__


def fields(record: Any) -> Iterable[str]:
    return [field.name for field in dataclasses.fields(record)] if dataclasses.is_dataclass(record) else record._fields


def test_every_record_of_the_model_is_tried_here() -> None:
    defined = {kind for _, kind in inspect.getmembers(model, inspect.isclass) if kind.__module__ == model.__name__}
    missing = {kind for kind in defined if not issubclass(kind, Enum)} - {type(record) for record in RECORDS}
    assert missing == set()


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_record_never_changes(record: Any) -> None:
    for name in fields(record):
        with pytest.raises(AttributeError):
            setattr(record, name, getattr(record, name))


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_record_has_no_room_for_more_than_its_fields(record: Any) -> None:
    with pytest.raises((AttributeError, TypeError)):  # some releases of Python raise the latter for frozen slots
        record.note = "x"


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_equal_facts_are_equal_records(record: Any) -> None:
    copy = pickle.loads(pickle.dumps(record))
    assert copy == record
    assert copy is not record


@pytest.mark.parametrize("record", [record for record in RECORDS if not isinstance(record, WITH_A_DICT)], ids=named)
def test_a_record_can_be_a_member_of_a_set(record: Any) -> None:
    assert record in {pickle.loads(pickle.dumps(record))}


def test_no_default_is_shared_by_two_records() -> None:
    assert Response(URL, 1.0).headers is not Response(URL, 1.0).headers
    assert RECORDS[-1].explain is not Hit(URL, "t", "s", 1.0, "example.org", 1.0).explain


def test_verdicts_reasons_and_states_have_names_and_numbers_of_their_own() -> None:
    """They are in files and in scripts; the names are what people type and the numbers what rows hold."""
    assert all(reason.value == reason.name.lower() for reason in Reason)
    assert all(verdict.value == verdict.name.lower() for verdict in Verdict)
    assert {state.name: state.value for state in UrlState} == {"QUEUED": 0, "DONE": 1, "REFUSED": 2, "FAILED": 3}


@pytest.mark.parametrize(
    ("header", "mime"),
    [
        ("text/html", "text/html"),
        ("text/html; charset=utf-8", "text/html"),
        ("Text/HTML;charset=UTF-8", "text/html"),
        ("  application/pdf ; x=1; y=2", "application/pdf"),
        (";charset=utf-8", ""),
        ("", ""),
        ("nonsense", "nonsense"),
    ],
)
def test_the_media_type_is_told_without_its_parameters(header: str, mime: str) -> None:
    assert Response(URL, 1.0, headers={"content-type": header}).mime == mime


def test_a_response_without_a_content_type_has_no_media_type() -> None:
    assert Response(URL, 1.0).mime == ""


def test_a_response_that_never_came_says_so() -> None:
    response = Response(URL, 1.0, failure=Reason.TIMEOUT)
    assert (response.status, response.body, response.failure) == (0, b"", Reason.TIMEOUT)
