"""A password is stored as a salted hash that only this password matches."""

from __future__ import annotations

import asyncio
import threading

import pytest

from guarded_console import PASSWORD, password_hash
from periplus.config.console_settings import PASSWORD_HASH, Console
from periplus.errors import UsageError
from periplus.site.access import passwords
from periplus.site.access.passwords import LONGEST, SHORTEST, PasswordCheck, hash_password, is_password


def test_the_settings_accept_the_hash_and_only_the_password_matches() -> None:
    stored = password_hash()
    assert PASSWORD_HASH.fullmatch(stored)
    assert Console.model_validate({"password": stored}).password.get_secret_value() == stored
    assert PASSWORD not in stored
    assert is_password(PASSWORD, stored)
    assert not is_password(PASSWORD + " ", stored)
    assert not is_password("", stored)


def test_two_hashes_of_one_password_differ() -> None:
    assert hash_password(PASSWORD) != password_hash()


def test_no_password_matches_where_there_is_none() -> None:
    assert not is_password("", "")
    assert not is_password(PASSWORD, PASSWORD)


def test_accents_may_be_typed_in_two_ways() -> None:
    assert is_password(
        "cafe\N{COMBINING ACUTE ACCENT} au lait", hash_password("caf\N{LATIN SMALL LETTER E WITH ACUTE} au lait")
    )


@pytest.mark.parametrize("length", [0, SHORTEST - 1, LONGEST + 1])
def test_a_password_of_an_unusual_length_is_refused(length: int) -> None:
    with pytest.raises(UsageError, match="10 to 1,000 characters"):
        hash_password(length * "x")


def test_a_hash_with_other_costs_is_checked_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(passwords, "_LN", 10)
        patch.setattr(passwords, "_P", 1)
        cheap = hash_password(PASSWORD)
    assert cheap.startswith("$scrypt$ln=10,r=8,p=1$")
    assert is_password(PASSWORD, cheap)


def test_at_most_two_checks_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()
    done = threading.Event()

    def slow(password: str, stored: str) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        done.wait(0.05)
        with lock:
            running -= 1
        return True

    monkeypatch.setattr(passwords, "is_password", slow)

    async def many() -> list[bool]:
        check = PasswordCheck()
        return await asyncio.gather(*(check.is_right("a", "b") for _ in range(8)))

    assert asyncio.run(many()) == 8 * [True]
    assert most == 2
