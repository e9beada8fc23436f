"""Facts with checksums are read as they were written, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.store.checksums import verified, with_checksums

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FACTS = st.dictionaries(st.text().filter(lambda name: name != "digest"), VALUES, max_size=5)


@given(FACTS)
def test_facts_come_back_as_they_were(facts: dict[str, Any]) -> None:
    assert verified(with_checksums(facts)) == facts


def test_every_flipped_bit_is_noticed() -> None:
    content = with_checksums({"format": 1, "nodes": 1234, "files": {"ranks.npy": {"bytes": 10}}})
    for place in range(len(content)):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            with pytest.raises(ValueError, match=r"."):
                verified(bytes(damaged))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe", b'{"format": 1}'])
def test_facts_without_a_checksum_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        verified(content)
