"""A running site uses the password and the tokens that are in periplus.toml now."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarded_console import password_hash
from periplus.config import Serving, Settings
from periplus.site.access.credentials import Credentials, CredentialsFile, console_notice, may_serve_console
from periplus.site.access.tokens import hash_token
from periplus.site.listener import listen
from periplus.store.settings_file import write_settings


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_change_counts_within_a_second(tmp_path: Path) -> None:
    clock = Clock()
    current = CredentialsFile(tmp_path, clock)
    assert not current()
    write_settings(tmp_path, "console", {"password": password_hash()})
    write_settings(tmp_path, "console.tokens", {"backup": hash_token("a")})
    clock.now += 1
    assert current() == Credentials(password_hash(), {"backup": hash_token("a")})
    write_settings(tmp_path, "console.tokens", {"backup": None})
    clock.now += 1
    assert current().tokens == {}
    (tmp_path / "periplus.toml").unlink()
    clock.now += 1
    assert not current()


def test_the_last_valid_ones_stay_while_the_file_is_invalid(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    write_settings(tmp_path, "console", {"password": password_hash()})
    current = CredentialsFile(tmp_path, clock)
    (tmp_path / "periplus.toml").write_text('[console]\npassword = "my plain password"\n')
    for _ in range(3):
        clock.now += 1
        assert current().password == password_hash()
    assert len(caplog.messages) == 1
    assert "plain password" not in caplog.text


def test_credentials_are_not_shown() -> None:
    assert repr(Credentials("hash", {"backup": "hash"})) == "Credentials()"


def test_a_site_that_others_may_reach_has_no_console_without_a_password_or_token() -> None:
    nothing, token = Credentials(), Credentials(tokens={"backup": hash_token("a")})
    behind_proxy = Serving(trusted_proxies=["10.0.0.1"])
    assert may_serve_console(nothing, Serving(), is_public=False)
    assert not may_serve_console(nothing, Serving(), is_public=True)
    assert not may_serve_console(nothing, behind_proxy, is_public=False)
    assert may_serve_console(Credentials(password_hash()), Serving(), is_public=True)
    assert may_serve_console(token, behind_proxy, is_public=True)


def test_a_site_without_a_console_says_why() -> None:
    with listen("127.0.0.1", 0) as local, listen("0.0.0.0", 0) as public:
        assert console_notice(Settings(), local) == ""
        assert "Run `periplus password`" in console_notice(Settings(), public)
