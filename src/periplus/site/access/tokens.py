"""Makes the tokens with which programs use a console, and recognises them by their hashes.

A token has 256 random bits, so its SHA-256 is enough: nobody finds a token by trying.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

_START = "periplus_"  # tells people, and programs that search for leaked secrets, what the token is for


def new_token() -> str:
    """A new random token."""
    return _START + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """The hash to store."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def name_of_token(token: str, stored: Mapping[str, str]) -> str:
    """The name under which the hash of a token is stored; empty when there is none. Compares all, in constant time."""
    digest, found = hash_token(token), ""
    for name, other in stored.items():
        if hmac.compare_digest(digest, other):
            found = name
    return found
