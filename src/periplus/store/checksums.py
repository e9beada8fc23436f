"""Checksums of generations: writes and verifies their `meta.json`.

`meta.json` has the size and SHA-256 of every file of the generation, and the SHA-256 of its own text, so that a flipped
bit is found in either.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_CHANGED = "its content is not what was published"


def with_checksums(facts: dict[str, Any]) -> bytes:
    """Serialise the facts as JSON, with a digest of their text."""
    text = json.dumps(facts)
    return json.dumps({**facts, "digest": hashlib.sha256(text.encode()).hexdigest()}).encode()


def verified(content: bytes) -> dict[str, Any]:
    """Parse the facts and check their digest; ValueError when it does not match."""
    found = json.loads(content)
    facts = {name: fact for name, fact in found.items() if name != "digest"} if isinstance(found, dict) else {}
    if with_checksums(facts) != content:
        raise ValueError(_CHANGED)
    return facts


def wrong_size(path: Path, size: int) -> str | None:
    """What is wrong with the presence or size of a file, or None."""
    if not path.is_file():
        return "the file is missing"
    found = path.stat().st_size
    return f"{found} bytes instead of {size}" if found != size else None


def wrong_content(path: Path, size: int, digest: str) -> str | None:
    """What is wrong with the size or content of a file, or None; *digest* is its SHA-256 in hexadecimal."""
    try:
        return wrong_size(path, size) or (None if file_digest(path).hex() == digest else _CHANGED)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def file_digest(path: Path) -> bytes:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
