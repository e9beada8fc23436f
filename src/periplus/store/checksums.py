"""How does a generation prove that it is whole?

Its description carries the digest of its own text, so that a flipped bit in a number is found like any other, and the
sizes and digests of all its files.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_CHANGED = "its content is not what was published"


def with_checksums(facts: dict[str, Any]) -> bytes:
    """The facts as they are written, with a digest of their own."""
    text = json.dumps(facts)
    return json.dumps({**facts, "digest": hashlib.sha256(text.encode()).hexdigest()}).encode()


def verified(content: bytes) -> dict[str, Any]:
    """The facts in a description; ValueError when it is not what was written."""
    found = json.loads(content)
    facts = {name: fact for name, fact in found.items() if name != "digest"} if isinstance(found, dict) else {}
    if with_checksums(facts) != content:
        raise ValueError(_CHANGED)
    return facts


def wrong_size(path: Path, size: int) -> str | None:
    """What is wrong with a file at a glance."""
    if not path.is_file():
        return "the file is missing"
    found = path.stat().st_size
    return f"{found} bytes instead of {size}" if found != size else None


def wrong_content(path: Path, size: int, digest: str) -> str | None:
    """What is wrong with a file, byte by byte; *digest* is its SHA-256 in hexadecimal."""
    try:
        return wrong_size(path, size) or (None if file_digest(path).hex() == digest else _CHANGED)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def file_digest(path: Path) -> bytes:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
