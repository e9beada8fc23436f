"""Learned weights are written into the settings file without harm to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.config import load
from periplus.errors import ConfigError
from periplus.evaluation.weights_file import changed_lines, write_weights


def test_a_collection_without_a_file_gets_one(tmp_path: Path) -> None:
    write_weights(tmp_path, {"title": 2.5})
    assert load(tmp_path, environment={}).settings.ranking.title == 2.5


def test_a_byte_order_mark_and_a_symbolic_link_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_bytes(b"\xef\xbb\xbf[ranking]\r\ntitle = 1\r\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "periplus.toml").symlink_to(real)
    write_weights(home, {"title": 2.5})
    assert real.read_bytes() == b"\xef\xbb\xbf[ranking]\r\ntitle = 2.5\r\n"
    assert (home / "periplus.toml").is_symlink()


def test_the_permissions_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "periplus.toml"
    path.write_text("[ranking]\n")
    path.chmod(0o600)
    write_weights(tmp_path, {"title": 2.5})
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_refused_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "periplus.toml"
    path.write_text("ranking = { title = 1 }\n")
    with pytest.raises(ConfigError):
        write_weights(tmp_path, {"title": 2.5})
    assert path.read_text() == "ranking = { title = 1 }\n"


def test_the_lines_that_would_change_are_shown_and_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "periplus.toml"
    assert changed_lines(tmp_path, {"title": 2.5}) == ["+[ranking]", "+title = 2.5"]
    assert not file.exists()
    before = "# mine\n[ranking]\ntitle = 1.5  # more\nrank = 0.2\n"
    file.write_text(before)
    changes = changed_lines(tmp_path, {"title": 2.5})
    assert changes == [" # mine", " [ranking]", "-title = 1.5  # more", "+title = 2.5  # more", " rank = 0.2"]
    assert file.read_text() == before
