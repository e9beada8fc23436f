"""Digests are written as every other WARC tool writes them."""

from __future__ import annotations

import base64
import random

import pytest

from periplus.store.base32 import base32


@pytest.mark.parametrize("size", range(41))
def test_it_is_the_encoding_of_the_standard(size: int) -> None:
    for seed in range(50):
        digest = random.Random(seed).randbytes(size)
        assert base32(digest) == base64.b32encode(digest).decode()
    for byte in (b"\0", b"\xff"):
        assert base32(byte * size) == base64.b32encode(byte * size).decode()
