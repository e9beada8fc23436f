"""Values in periplus.toml are changed without touching the rest of the file."""

from __future__ import annotations

from pathlib import Path

from periplus.store.settings_file import is_readable_by_others, settings_before_and_after, write_settings

TEXT = '\ufeff# mine\r\n[console.tokens]\r\na = "1" # first\r\nb = "2"\r\n[site]\r\nname = "A"\r\n'


def test_values_are_changed_added_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "periplus.toml"
    path.write_bytes(TEXT.encode())
    path.chmod(0o640)
    write_settings(tmp_path, "console.tokens", {"a": "x", "b": None, "c": "3"})
    assert path.read_bytes().decode() == TEXT.replace('"1"', '"x"').replace('b = "2"', 'c = "3"')
    assert path.stat().st_mode & 0o777 == 0o640
    assert is_readable_by_others(path)


def test_a_new_file_with_secrets_is_for_its_owner(tmp_path: Path) -> None:
    path = write_settings(tmp_path, "console", {"password": "x"}, is_private=True)
    assert path.read_text() == '[console]\npassword = "x"\n'
    assert not is_readable_by_others(path)


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "periplus.toml").symlink_to(tmp_path / "other.toml")
    write_settings(tmp_path, "console", {"password": "x"})
    assert (tmp_path / "periplus.toml").is_symlink()
    assert settings_before_and_after(tmp_path, "console", {"password": None}) == (
        '[console]\npassword = "x"\n',
        "[console]\n",
    )
