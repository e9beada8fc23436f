"""Compresses response bodies with zstd or gzip, whichever the client accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from isal import igzip
from pyarrow import Codec

SMALLEST = 1_000  # bytes; compression of a smaller body saves no packet
_DYNAMIC_ZSTD, _STATIC_ZSTD = Codec("zstd", compression_level=3), Codec("zstd", compression_level=19)
_DYNAMIC_GZIP_LEVEL, _STATIC_GZIP_LEVEL = 1, 3  # 3 is the best level of isal
_REFUSED = re.compile(rb";\s*q=0(?:\.0*)?\s*$")
_COMPRESSIBLE = re.compile(rb"text/|application/(?:[a-z.-]+\+)?(?:json|xml)|image/svg\+xml")


@lru_cache(maxsize=256)  # browsers send few different headers
def chosen_encoding(accept: bytes) -> str:
    """The encoding for an Accept-Encoding header: `zstd`, `gzip`, or an empty string for none."""
    if not accept:
        return ""
    accepted = {part.partition(b";")[0].strip() for part in accept.lower().split(b",") if not _REFUSED.search(part)}
    return "zstd" if b"zstd" in accepted else "gzip" if b"gzip" in accepted else ""


def is_compressible(media_type: bytes, size: int) -> bool:
    """Whether a body of this type and size becomes smaller."""
    return size >= SMALLEST and _COMPRESSIBLE.match(media_type) is not None


def zstd(body: bytes) -> bytes:
    """Compresses a body that is sent once."""
    return bytes(_DYNAMIC_ZSTD.compress(body, asbytes=True))


def unzstd(compressed: bytes, size: int) -> bytes:
    """The body of *size* bytes that `zstd` has compressed."""
    return bytes(_DYNAMIC_ZSTD.decompress(compressed, decompressed_size=size, asbytes=True))


def gzip(body: bytes) -> bytes:
    """Compresses a body that is sent once."""
    return bytes(igzip.compress(body, _DYNAMIC_GZIP_LEVEL))


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"zstd": zstd, "gzip": gzip}


def variants(body: bytes) -> dict[str, bytes]:
    """A static file in every encoding, by name, compressed as far as possible; the empty name is the file itself."""
    compressed = {
        "zstd": bytes(_STATIC_ZSTD.compress(body, asbytes=True)),
        "gzip": bytes(igzip.compress(body, _STATIC_GZIP_LEVEL)),
    }
    return {"": body} | {name: smaller for name, smaller in compressed.items() if len(smaller) < len(body)}
