"""The URLs of database and object store are checked before any of their parts can be shown in a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.config import load, shared_places
from periplus.errors import ConfigError

SECRET = "hunter"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE", "STORAGE"):
        monkeypatch.delenv(f"PERIPLUS_FLEET__{name}", raising=False)


@pytest.mark.parametrize("password", [f"{SECRET}/2", f"{SECRET}@2", f"{SECRET}?2", f"2/{SECRET}", f"2@{SECRET}"])
def test_a_password_that_must_be_quoted_is_not_shown(
    password: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", f"postgresql://me:{password}@127.0.0.1:5432/periplus")
    for read in (shared_places, load):
        with pytest.raises(ConfigError, match=r"in the environment is not valid: .*must be written as %40") as caught:
            read(tmp_path)
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "postgresql://me:p%40ss@db.example:5432/periplus?sslmode=require",
        "postgres://me@one:5432,two:5432/periplus",
        "postgresql:///periplus?host=/run/postgresql&user=me@realm",
        "postgresql://db.example:5432/periplus?user=me@realm",
        "postgresql://[::1]:5432/periplus",
    ],
)
def test_other_urls_of_databases_are_taken(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", url)
    assert shared_places(tmp_path).database == url


@pytest.mark.parametrize("url", ["host:5432/periplus", "mysql://host/periplus", "me:hunter@host/periplus"])
def test_what_is_no_url_of_a_database_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", url)
    with pytest.raises(ConfigError, match="must be a URL like postgresql://") as caught:
        shared_places(tmp_path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"s3://AKIA:{SECRET}@bucket/prefix", "must have no keys"),
        (f"s3://AKIA:ab/{SECRET}@bucket/prefix", "must have no keys"),
        (f"s3://AKIA:{SECRET}/cd@bucket/prefix", "must have no keys"),
        ("s3://bucket/prefix?region=eu", "must have no keys and no options"),
        ("s3://bucket/a//b", "must have a prefix without"),
        ("s3://bucket/../b", "must have a prefix without"),
        ("s3:bucket", "must be a URL like s3://"),
        ("https://bucket.s3.amazonaws.com/prefix", "must be a URL like s3://"),
    ],
)
def test_a_wrong_storage_is_explained_without_its_keys(
    url: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__STORAGE", url)
    with pytest.raises(ConfigError, match=why) as caught:
        shared_places(tmp_path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", ["s3://bucket", "s3://bucket/", "s3://bucket/a/b.c", "s3://bucket/..a", "file:///a"])
def test_other_storages_are_taken(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_FLEET__STORAGE", url)
    assert shared_places(tmp_path).storage == url.rstrip("/")
