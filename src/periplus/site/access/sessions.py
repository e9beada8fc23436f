"""Signs the cookie of a session, and recognises it.

The cookie is `END.ID.SIGNATURE`: when the session ends, a random number, and an HMAC over both and the hash of the
password. So nobody can make or prolong a session without the secret of the site, and a new password ends all sessions.
A restart makes a new secret and ends all sessions, too.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

COOKIE = "periplus-console"
_LONGEST = 200  # characters of a cookie that is read


@dataclass(frozen=True, slots=True)
class Session:
    """A person who is logged in."""

    number: str  # random
    end: int  # seconds since the epoch


class Sessions:
    """Makes and reads the cookies of one site."""

    def __init__(self, secret: bytes, hours: float, clock: Callable[[], float] = time.time) -> None:
        """*secret*: the same in all processes of a site."""
        self._secret, self._seconds, self._clock = secret, int(hours * 3_600), clock

    def begin(self, password_hash: str) -> tuple[Session, str]:
        """A new session and its cookie."""
        session = Session(secrets.token_hex(16), int(self._clock()) + self._seconds)
        return session, f"{session.end}.{session.number}.{self._signature(session, password_hash)}"

    def read(self, cookie: str, password_hash: str) -> Session | None:
        """The session of a cookie; None when it is forged, has ended, or the password has changed since."""
        end, _, rest = cookie.partition(".")
        number, _, signature = rest.partition(".")
        if len(cookie) > _LONGEST or not end.isdecimal() or not password_hash:
            return None
        session = Session(number, int(end))
        if not hmac.compare_digest(signature.encode(), self._signature(session, password_hash).encode()):
            return None
        return session if self._clock() < session.end else None

    def form_token(self, session: Session | None) -> str:
        """The token for the forms of a session, or of the person on this machine, who has no session."""
        return hmac.digest(self._secret, f"form {session.number if session else ''}".encode(), "sha256").hex()

    def _signature(self, session: Session, password_hash: str) -> str:
        fingerprint = sha256(password_hash.encode()).hexdigest()
        signed = f"session {session.end} {session.number} {fingerprint}".encode()
        return hmac.digest(self._secret, signed, "sha256").hex()


def session_cookie(cookies: str) -> str:
    """The value of the session's cookie in a Cookie header; empty when there is none."""
    if COOKIE not in cookies:
        return ""
    try:
        found = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""
