"""`periplus token` makes tokens for programs, shows each once, and stores only its hash."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import environment, typed
from periplus.config import load
from periplus.site.access.credentials import Credentials
from periplus.site.access.tokens import hash_token, name_of_token


def names(home: Path) -> list[str]:
    found: list[str] = typed("token", "list", "--home", home, "--json").json["tokens"]
    return found


def test_a_token_is_added_listed_and_removed(tmp_path: Path) -> None:
    tokens = {name: typed("token", "add", name, "--home", tmp_path).out.strip() for name in ("deploy", "backup")}
    assert names(tmp_path) == ["backup", "deploy"]
    text = (tmp_path / "periplus.toml").read_text()
    assert not [token for token in tokens.values() if token in text]
    stored = Credentials.of(load(tmp_path, environment={}).settings.console).tokens
    assert {name_of_token(token, stored) for token in tokens.values()} == {"deploy", "backup"}
    assert typed("token", "remove", "deploy", "--home", tmp_path).out == "The token deploy is removed.\n"
    assert typed("token", "list", "--home", tmp_path).out == "backup\n"


def test_a_token_is_alone_on_stdout(tmp_path: Path) -> None:
    outcome = typed("token", "add", "deploy", "--home", tmp_path)
    assert outcome.out.startswith("periplus_")
    assert len(outcome.out.splitlines()) == 1
    assert "not shown again" in outcome.err


def test_no_tokens(tmp_path: Path) -> None:
    assert names(tmp_path) == []
    assert "There are no tokens" in typed("token", "list", "--home", tmp_path).err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["add", "backup"], "there is a token backup already"),
        (["add", "a b"], "is not a name"),
        (["remove", "none"], "there is no token 'none'"),
    ],
)
def test_mistakes_change_nothing(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    typed("token", "add", "backup", "--home", tmp_path)
    before = (tmp_path / "periplus.toml").read_text()
    outcome = typed("token", *arguments, "--home", tmp_path)
    assert outcome.code == 2
    assert complaint in outcome.complaint
    assert (tmp_path / "periplus.toml").read_text() == before


def test_tokens_of_the_environment_are_changed_there(tmp_path: Path) -> None:
    env = environment() | {"PERIPLUS_CONSOLE__TOKENS": f"backup={hash_token('a')}"}
    assert typed("token", "list", "--home", tmp_path, env=env).out == "backup\n"
    for arguments in (["add", "deploy"], ["remove", "backup"]):
        assert "the environment overrides it" in typed("token", *arguments, "--home", tmp_path, env=env).complaint
