"""The cookie of a session cannot be forged or prolonged, and ends with its time or with the password."""

from __future__ import annotations

import pytest

from periplus.site.access.sessions import COOKIE, Sessions, session_cookie

HASH = "the hash of a password"
SESSIONS = Sessions(b"secret", 2, clock=lambda: 1_000.0)


def test_a_session_lasts_its_hours() -> None:
    session, cookie = SESSIONS.begin(HASH)
    assert session.end == 1_000 + 7_200
    assert SESSIONS.read(cookie, HASH) == session
    assert Sessions(b"secret", 2, clock=lambda: 8_199.0).read(cookie, HASH) == session
    assert Sessions(b"secret", 2, clock=lambda: 8_200.0).read(cookie, HASH) is None


def test_a_new_password_ends_it() -> None:
    _, cookie = SESSIONS.begin(HASH)
    assert SESSIONS.read(cookie, "another hash") is None
    assert SESSIONS.read(cookie, "") is None
    assert SESSIONS.read(SESSIONS.begin("")[1], "") is None, "there are no sessions without a password"


@pytest.mark.parametrize("change", ["later end", "other number", "other signature", "no signature", "nothing", "noise"])
def test_a_changed_cookie_is_no_session(change: str) -> None:
    session, cookie = SESSIONS.begin(HASH)
    end, number, signature = cookie.split(".")
    changed = {
        "later end": f"{session.end + 1}.{number}.{signature}",
        "other number": f"{end}.{'0' * 32}.{signature}",
        "other signature": f"{end}.{number}.{'0' * 64}",
        "no signature": f"{end}.{number}.",
        "nothing": "",
        "noise": "é.é.é" + "9" * 5_000,
    }
    assert SESSIONS.read(changed[change], HASH) is None


def test_another_site_has_other_sessions() -> None:
    _, cookie = SESSIONS.begin(HASH)
    assert Sessions(b"other", 2, clock=lambda: 1_000.0).read(cookie, HASH) is None


def test_each_session_has_its_own_form_token() -> None:
    first, second = SESSIONS.begin(HASH)[0], SESSIONS.begin(HASH)[0]
    tokens = {SESSIONS.form_token(one) for one in (first, second, None)}
    assert len(tokens) == 3
    assert SESSIONS.form_token(first) == Sessions(b"secret", 1).form_token(first)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", ""),
        (f"{COOKIE}=a.b.c", "a.b.c"),
        (f"settings=x; {COOKIE}=a.b", "a.b"),
        (f"x{COOKIE}=a", ""),
        (f"{COOKIE}", ""),
    ],
)
def test_the_cookie_is_found_among_others(header: str, found: str) -> None:
    assert session_cookie(header) == found
