"""All nodes of a fleet crawl with the settings that the first one published."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.crawl.fleet_settings import share_settings
from periplus.errors import UsageError
from periplus.store.collection import Collection

SCOPE = '[scope]\nhosts = ["example.org"]\n'
OWN = '[fleet]\nnode = "b"\n'


def node(folder: Path, postgres: str, settings: str | None = None) -> Collection:
    folder.mkdir()
    if settings is not None:
        (folder / "periplus.toml").write_text(settings)
    return Collection(folder, postgres)


def settings_of(collection: Collection) -> str:
    return (collection.home / "periplus.toml").read_text()


def test_the_first_node_publishes_its_settings_and_the_others_use_them(tmp_path: Path, postgres: str) -> None:
    secret = f'[fleet]\ndatabase = "{postgres}"\n\n{SCOPE}'
    first, second = node(tmp_path / "a", postgres, secret), node(tmp_path / "b", postgres, f"{OWN}[scope]\ndepth = 3\n")
    share_settings(first, None)
    share_settings(second, None)
    assert SCOPE in settings_of(second)
    assert "depth" not in settings_of(second)
    assert OWN.strip() in settings_of(second), "the section of each node stays"
    assert "database" not in settings_of(second), "an address with a password is never published"
    assert "database" in settings_of(first)


def test_a_node_without_a_file_in_a_fleet_without_settings_uses_the_defaults(tmp_path: Path, postgres: str) -> None:
    alone = node(tmp_path / "a", postgres)
    share_settings(alone, None)
    assert not (alone.home / "periplus.toml").exists()


def test_a_named_file_replaces_the_settings_of_the_fleet(tmp_path: Path, postgres: str) -> None:
    share_settings(node(tmp_path / "a", postgres, SCOPE), None)
    other = tmp_path / "other.toml"
    other.write_text("[scope]\ndepth = 4\n")
    for name in ("b", "c"):
        joining = node(tmp_path / name, postgres)
        share_settings(joining, other if name == "b" else None)
        assert settings_of(joining).strip() == "[scope]\ndepth = 4"


def test_a_file_that_does_not_exist_is_an_error(tmp_path: Path, postgres: str) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        share_settings(node(tmp_path / "a", postgres), tmp_path / "none.toml")
