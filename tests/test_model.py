"""Records that stages exchange can be compared and pickled, and never change."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from enum import Enum
from typing import Any

import pytest

from periplus import model
from periplus.model import Reason, Response, UrlState, Verdict

URL = "https://example.org/"


def records() -> list[Any]:
    """One instance of every record; required fields contain their own name."""
    defined = [kind for _, kind in inspect.getmembers(model, inspect.isclass) if kind.__module__ == model.__name__]
    kinds: list[Any] = [kind for kind in defined if not issubclass(kind, Enum)]
    return [kind(**{name: name for name in required(kind)}) for kind in kinds]


def required(kind: Any) -> list[str]:
    parameters = inspect.signature(kind).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]


def values(record: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(record)] if dataclasses.is_dataclass(record) else record._fields
    return {name: getattr(record, name) for name in names}


def named(record: object) -> str:
    return type(record).__name__


RECORDS = records()
# Only records with a dictionary (headers, scores, timings) are not hashable.
HASHABLE = [record for record in RECORDS if not any(isinstance(value, dict) for value in values(record).values())]


def test_stages_exchange_records_and_nothing_else() -> None:
    assert RECORDS
    assert all(dataclasses.is_dataclass(record) or isinstance(record, tuple) for record in RECORDS)


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_record_never_changes(record: Any) -> None:
    for name, value in values(record).items():
        with pytest.raises(AttributeError):
            setattr(record, name, value)


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_record_accepts_no_other_attributes(record: Any) -> None:
    with pytest.raises((AttributeError, TypeError)):  # some releases of Python raise the latter for frozen slots
        record.note = "x"


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_pickled_record_is_equal(record: Any) -> None:
    copy = pickle.loads(pickle.dumps(record))
    assert copy == record
    assert copy is not record


@pytest.mark.parametrize("record", HASHABLE, ids=named)
def test_a_record_can_be_a_member_of_a_set(record: Any) -> None:
    assert len({record, pickle.loads(pickle.dumps(record))}) == 1


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_no_default_that_could_change_is_shared_by_two_records(record: Any) -> None:
    other = type(record)(**{name: name for name in required(type(record))})
    for name, value in values(record).items():
        assert not isinstance(value, dict | list | set) or value is not getattr(other, name)


def test_verdicts_and_reasons_are_spelled_as_they_are_named() -> None:
    """Users type them, scripts compare them, files contain them."""
    assert all(reason.value == reason.name.lower() for reason in Reason)
    assert all(verdict.value == verdict.name.lower() for verdict in Verdict)


def test_the_numbers_of_the_states_never_change() -> None:
    """Rows of old collections contain them."""
    states = {state.name: state.value for state in UrlState}
    assert states.items() >= {"QUEUED": 0, "DONE": 1, "REFUSED": 2, "FAILED": 3}.items()


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
def test_the_media_type_has_no_parameters(header: str, mime: str) -> None:
    assert Response(URL, 1.0, headers={"content-type": header}).mime == mime


def test_a_response_without_a_content_type_has_no_media_type() -> None:
    assert Response(URL, 1.0).mime == ""


def test_a_failed_request_has_no_status_and_no_body() -> None:
    response = Response(URL, 1.0, failure=Reason.TIMEOUT)
    assert (response.status, response.body, response.failure) == (0, b"", Reason.TIMEOUT)
