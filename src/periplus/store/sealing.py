"""How does a description prove that it is whole?

It carries the digest of its own text, so that a flipped bit in a number is found like any other.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sealed(facts: dict[str, Any]) -> bytes:
    """The facts as they are written, with a digest of their own."""
    text = json.dumps(facts)
    return json.dumps({**facts, "digest": hashlib.sha256(text.encode()).hexdigest()}).encode()


def unsealed(content: bytes) -> dict[str, Any]:
    """The facts in a description; ValueError when it is not what was written."""
    found = json.loads(content)
    facts = {name: fact for name, fact in found.items() if name != "digest"} if isinstance(found, dict) else {}
    if sealed(facts) != content:
        raise ValueError("its content is not what was published")
    return facts
