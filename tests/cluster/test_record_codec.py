"""Records arrive as they were sent, and nothing else is accepted."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from periplus.cluster.record_codec import WireError, decode, encode
from periplus.model import Hit
from periplus.search.query.tree import And, Node, Not, Or, Required, Word
from periplus.search.shards.port import MatchSet


class Record(NamedTuple):
    """Something of everything."""

    numbers: NDArray[np.int64]
    features: NDArray[np.float64]
    hosts: NDArray[np.uint64]
    node: Node
    names: dict[str, list[str]]
    counts: dict[int, int]
    missing: int | None
    content: bytes
    match_set: MatchSet
    ignored: frozenset[str]
    pairs: tuple[tuple[str, float], ...]


RECORD = Record(
    np.arange(3),
    np.array([[0.1, -np.inf], [np.nan, 1e-300]]),
    np.array([2**64 - 1], np.uint64),
    And((Word("café"), Not(Or((Word("b"), Required(Word("c"))))))),
    {"x": ["y", "z"], "": []},
    {2**63: 1, -1: 2},
    None,
    b"\0\xff",
    MatchSet.WHOLE_NEWS,
    frozenset({"the"}),
    (("a", 1.0),),
)
HIT = Hit("http://a.test/", "Title", "A snippet", ((2, 9),), 1.5, "a.test", 1e9, explain={"text": 1.5})


def test_a_record_arrives_as_it_was_sent() -> None:
    found = decode(Record, encode(Record, RECORD))
    for name in ("numbers", "features", "hosts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(RECORD, name))
        assert getattr(found, name).dtype == getattr(RECORD, name).dtype
    assert found[3:] == RECORD[3:]


def test_an_empty_matrix_keeps_its_shape() -> None:
    assert decode(NDArray[np.float64], encode(NDArray[np.float64], np.zeros((0, 30)))).shape == (0, 30)


def test_hits_arrive_as_they_were_sent() -> None:
    assert decode(list[Hit], encode(list[Hit], [HIT, HIT])) == [HIT, HIT]


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[1", b"[]", b'[[0,24,3],1,"x"]', b'{"a":1}', b"[" * 900 + b"]" * 900, b"\xff\xfe"]
)
def test_another_text_is_refused(text: bytes) -> None:
    with pytest.raises(WireError):
        decode(Record, len(text).to_bytes(4, "little") + text)


@pytest.mark.parametrize("message", [b"", b"\x01", b"\xff\xff\xff\xff", b"\x05\0\0\0[1]"])
def test_a_message_that_is_cut_off_is_refused(message: bytes) -> None:
    with pytest.raises(WireError):
        decode(Record, message)


@pytest.mark.parametrize("value", [[0, 16, 3], [0, 8, -1], [-8, 8, 1], [0, 4096, 512], [0, 8, 1.0], [0], "x", [0, 7]])
def test_an_array_that_is_not_there_is_refused(value: object) -> None:
    text = orjson.dumps(value)
    text += b" " * (-(len(text) + 4) % 8)
    with pytest.raises(WireError):
        decode(NDArray[np.int64], len(text).to_bytes(4, "little") + text + bytes(8))


@pytest.mark.parametrize("value", [[0, 9], [1, 8], [8, 1], [-1, 1], [0, 1.0], [0]])
def test_bytes_that_are_not_there_are_refused(value: object) -> None:
    text = orjson.dumps(value)
    with pytest.raises(WireError):
        decode(bytes, len(text).to_bytes(4, "little") + text + bytes(8))


@pytest.mark.parametrize("number", [True, "1", 1.5, None, [1]])
def test_only_a_number_is_a_number(number: object) -> None:
    text = orjson.dumps(number)
    with pytest.raises(WireError):
        decode(int, len(text).to_bytes(4, "little") + text)


def test_a_tree_that_is_nested_too_deeply_is_refused() -> None:
    text = b'["Required",[' * 450 + b"1" + b"]]" * 450
    with pytest.raises(WireError):
        decode(Node, len(text).to_bytes(4, "little") + text)  # type: ignore[arg-type]  # a union


def test_a_changed_message_is_read_or_refused() -> None:
    chosen, message = random.Random(7), encode(Record, RECORD)
    for _ in range(3_000):
        changed = bytearray(message)
        for _ in range(chosen.randint(1, 4)):
            changed[chosen.randrange(len(changed))] = chosen.randrange(256)
        try:
            found = decode(Record, bytes(changed))
        except WireError:
            continue
        assert isinstance(found, Record)
