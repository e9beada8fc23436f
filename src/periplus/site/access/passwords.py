"""Hashes the password of a console with scrypt, and checks a password against the hash.

The hash has the parameters of scrypt in it, so that later releases can raise them. One check takes about 0.3 seconds of
CPU time and 32 MiB. At most two run at once in a process, each in a thread.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from base64 import b64decode, b64encode
from unicodedata import normalize

from periplus.config.console_settings import PASSWORD_HASH
from periplus.errors import UsageError

SHORTEST = 10  # characters
LONGEST = 1_000
_LN, _R, _P = 15, 8, 3  # memory: 128 * r * 2**ln bytes; time: in proportion to p
_SALT_BYTES = 16
_KEY_BYTES = 32
_AT_ONCE = 2


def hash_password(password: str) -> str:
    """The hash to store; raises `UsageError` for a password that is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        limits = f"the console accepts {SHORTEST} to {LONGEST:,} characters"
        raise UsageError(f"the password has {len(password):,} characters", limits, "Choose another one.")
    salt = os.urandom(_SALT_BYTES)
    key = _derived(password, salt, (_LN, _R, _P), _KEY_BYTES)
    return f"$scrypt$ln={_LN},r={_R},p={_P}${_encoded(salt)}${_encoded(key)}"


def is_password(password: str, stored: str) -> bool:
    """Whether this is the password of a stored hash."""
    found = PASSWORD_HASH.fullmatch(stored)
    if found is None or len(password) > LONGEST:
        return False
    key = _decoded(found["key"])
    costs = int(found["ln"]), int(found["r"]), int(found["p"])
    return hmac.compare_digest(_derived(password, _decoded(found["salt"]), costs, len(key)), key)


class PasswordCheck:
    """Checks passwords in threads, at most two at once."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def is_right(self, password: str, stored: str) -> bool:
        """Whether this is the password of a stored hash; waits while two other checks run."""
        async with self._room:
            return await asyncio.to_thread(is_password, password, stored)


def _derived(password: str, salt: bytes, costs: tuple[int, int, int], size: int) -> bytes:
    ln, r, p = costs
    text = normalize("NFC", password).encode("utf-8", "surrogatepass")  # keyboards write accents in two ways
    memory = 128 * r * ((1 << ln) + p + 2) + (1 << 20)  # what OpenSSL needs, and some more
    return hashlib.scrypt(text, salt=salt, n=1 << ln, r=r, p=p, maxmem=memory, dklen=size)


def _encoded(data: bytes) -> str:
    return b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return b64decode(text + "=" * (-len(text) % 4))
