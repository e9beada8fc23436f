"""How is a digest written in a WARC file?"""

from __future__ import annotations

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".ljust(256)
_MOST = 64  # letters


def _parting(groups: int) -> tuple[int, int, int]:
    """Where the lower and the upper half of each 2 * *groups* groups of five bits lie, and how far they move apart."""
    half = (1 << 5 * groups) - 1
    lower = sum(half << start for start in range(0, 8 * _MOST, 16 * groups))
    return lower, lower << 5 * groups, 3 * groups


_PARTINGS = tuple(map(_parting, (32, 16, 8, 4, 2, 1)))


def base32(digest: bytes) -> str:
    """The same as `base64.b32encode`, for up to 40 bytes, in a quarter of the time: every page has a digest.

    The bits, in groups of five, are moved apart until each group has a byte of its own: first the halves, then the
    halves of the halves.
    """
    groups = -(-8 * len(digest) // 5)
    bits = int.from_bytes(digest, "big") << 5 * groups - 8 * len(digest)
    for lower, upper, distance in _PARTINGS:
        bits = bits & lower | (bits & upper) << distance
    return bits.to_bytes(groups, "big").translate(_LETTERS).decode() + "=" * (-groups % 8)
