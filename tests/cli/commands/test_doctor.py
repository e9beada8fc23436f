"""`periplus doctor` checks this machine and gives advice."""

from __future__ import annotations

from pathlib import Path

from crawl.crawling import environment, periplus

NAMES = {
    "python", "libraries", "HTML scanner", "word table", "settings", "contact", "folder", "file system", "disk space",
    "free inodes", "fsync", "memory", "open files", "clock", "port", "sandbox",
}  # fmt: skip


def test_a_machine_that_is_fit_gets_a_clean_bill(tmp_path: Path) -> None:
    outcome = periplus("doctor", "--home", tmp_path)
    assert outcome.code == 0, outcome.out
    assert "CPython 3." in outcome.out


def test_programs_get_every_check_as_json(tmp_path: Path) -> None:
    found = periplus("doctor", "--home", tmp_path, "--json").json
    assert found["ok"] is True
    assert {check["name"] for check in found["checks"]} == NAMES
    for check in found["checks"]:
        assert set(check) == {"name", "grade", "found", "advice"}
        assert check["grade"] == "ok" or check["advice"], f"{check['name']}: the reader is told what to do"


def test_a_missing_contact_is_a_warning_and_a_given_one_is_shown(tmp_path: Path) -> None:
    assert "public hosts are not crawled" in periplus("doctor", "--home", tmp_path).out
    given = environment(identity__contact="https://example.org/bot")
    assert "https://example.org/bot" in periplus("doctor", "--home", tmp_path, env=given).out


def test_what_will_fail_ends_with_code_1_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "periplus.toml").write_text("[fetch]\ntimeuot = 3\n", encoding="utf-8")
    outcome = periplus("doctor", "--home", tmp_path)
    assert outcome.code == 1
    assert "timeuot" in outcome.complaint
    assert "Did you mean" in outcome.complaint


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    periplus("doctor", "--home", tmp_path)
    periplus("doctor", "--home", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
