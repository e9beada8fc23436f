"""A message reaches a webhook under the rules of the crawler, or its failure has a reason."""

from __future__ import annotations

import time

import pytest

from fetch.test_client import PRIVATE
from periplus.config import Watching
from periplus.fetch.webhook import LARGEST, Delivery, deliver_all
from standing.receiver import Receiver, receiving

LOOPBACK = Watching(private_addresses=["127.0.0.1/32"])


def deliver(receiver: Receiver, settings: Watching = LOOPBACK, body: bytes = b"{}") -> str:
    (failure,) = deliver_all([Delivery(receiver.url, body)], settings)
    return failure


def test_a_message_is_sent_as_json_with_post() -> None:
    with receiving() as receiver:
        assert deliver(receiver, body=b'{"items":[1]}') == ""
    ((method, path, headers),) = receiver.requests
    assert (method, path, headers["content-type"]) == ("POST", "/hook?key=1", "application/json")
    assert headers["user-agent"].startswith("Periplus/")
    assert "expect" not in headers
    assert receiver.messages == [{"items": [1]}]


def test_several_messages_go_to_one_webhook_and_none_is_lost() -> None:
    with receiving() as receiver:
        many = [Delivery(receiver.url, b'{"n":%d}' % number) for number in range(20)]
        assert deliver_all(many, LOOPBACK) == [""] * 20
    assert sorted(message["n"] for message in receiver.messages) == list(range(20))


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_are_refused_unless_the_settings_allow_them(url: str) -> None:
    with receiving() as receiver:
        target = url.format(receiver.port)
        (failure,) = deliver_all([Delivery(target, b"{}")], Watching())
        assert "private" in failure, target
    assert receiver.requests == []


def test_a_metadata_service_is_refused_even_if_the_settings_name_it() -> None:
    settings = Watching(private_addresses=["169.254.0.0/16"], webhook_timeout=2)
    (failure,) = deliver_all([Delivery("http://169.254.169.254/latest", b"{}")], settings)
    assert "private or reserved" in failure


def test_a_redirect_is_not_followed() -> None:
    with receiving() as inner, receiving() as receiver:
        receiver.status, receiver.location = 307, inner.url
        assert deliver(receiver) == "status 307: redirects are not followed"
    assert inner.requests == []


@pytest.mark.parametrize("status", [400, 404, 410, 500, 503])
def test_only_a_2xx_answer_counts(status: int) -> None:
    with receiving() as receiver:
        receiver.status = status
        assert deliver(receiver) == f"status {status}"


def test_the_size_of_an_answer_does_not_matter() -> None:
    with receiving() as receiver:
        receiver.status, receiver.answer = 200, b"x" * 1_000_000
        assert deliver(receiver) == ""


def test_a_slow_webhook_is_left_after_its_time_limit() -> None:
    with receiving() as receiver:
        receiver.wait.clear()
        begun = time.monotonic()
        failure = deliver(receiver, Watching(private_addresses=["127.0.0.1/32"], webhook_timeout=0.3))
        assert failure
        assert time.monotonic() - begun < 10


def test_a_message_over_the_limit_is_not_sent() -> None:
    with receiving() as receiver:
        assert deliver(receiver, body=b'"' + b"x" * LARGEST + b'"') == (
            f"the message has {LARGEST + 2} bytes; the limit is {LARGEST}"
        )
    assert receiver.requests == []


def test_a_webhook_that_is_not_there_is_a_failure() -> None:
    with receiving() as receiver:
        pass
    assert "connect" in deliver(receiver)
