"""Shared options behave the same in every command."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import environment, periplus, run_crawl, typed
from testweb import TestWeb, mesh

READING = [("status",), ("inspect", "url", "http://a.test/"), ("verify",), ("config", "show")]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    with TestWeb([mesh("a.test", 3)]) as web:
        run_crawl(web, home, "http://a.test/")
    (home / "periplus.toml").write_text("[fetch]\ntimeout = 17\n")
    return home


@pytest.mark.parametrize("command", READING)
def test_a_collection_is_named_by_option_or_environment(crawled: Path, command: tuple[str, ...]) -> None:
    by_option = typed(*command, "--json", "--home", crawled)
    by_environment = typed(*command, "--json", env=environment() | {"PERIPLUS_HOME": str(crawled)})
    assert (by_option.code, by_option.err) == (0, "")
    assert by_option == by_environment


def test_the_option_wins_over_the_environment(crawled: Path, tmp_path: Path) -> None:
    env = environment() | {"PERIPLUS_HOME": str(tmp_path / "elsewhere")}
    assert typed("status", "--home", crawled, env=env).code == 0


@pytest.mark.slow
def test_without_either_it_is_periplus_data_in_this_folder(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "periplus-data").symlink_to(crawled)
    outcome = periplus("status", "--json", cwd=tmp_path)
    assert outcome.code == 0
    assert outcome.json["home"] == "periplus-data"


@pytest.mark.parametrize("command", READING)
def test_every_reading_command_prints_one_json_object(crawled: Path, command: tuple[str, ...]) -> None:
    outcome = typed(*command, "--home", crawled, "--json")
    assert isinstance(outcome.json, dict)
    assert outcome.out.count("\n") == 1


@pytest.mark.parametrize("command", [*READING, ("crawl", "http://a.test/")])
def test_a_file_is_not_a_collection(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("x")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        outcome = typed(*command, "--home", home)
        assert outcome.code == 1
        assert outcome.complaint == f"periplus: {home} is not a folder. Choose another folder with --home."


@pytest.mark.parametrize("command", READING[:3])
def test_a_folder_without_a_collection_is_an_error_and_is_not_created(tmp_path: Path, command: tuple[str, ...]) -> None:
    outcome = typed(*command, "--home", tmp_path / "none")
    assert outcome.code == 1
    assert "holds no collection. `periplus crawl URL` makes one" in outcome.complaint
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", [*READING, ("crawl", "http://a.test/")])
def test_a_folder_without_read_permission_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def locked(path: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "iterdir", locked)
    outcome = typed(*command, "--home", tmp_path)
    assert outcome.code == 1
    assert (
        outcome.complaint
        == f"periplus: {tmp_path} cannot be read: Permission denied. Choose another folder with --home."
    )


@pytest.mark.parametrize("name", ["ünïcode 日本", "with space", "new\nline", "-dash"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        run_crawl(web, tmp_path / name, "http://a.test/")
    for command in READING:
        for options in ([], ["--json"]):
            outcome = typed(*command, "--home", tmp_path / name, *options)
            assert (outcome.code, outcome.err) == (0, "")
            assert outcome.out.replace("\n", "").isprintable()


def test_a_name_that_is_no_text_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"caf\xe9")
    outcome = typed("crawl", "http://a.test/", "--home", home)
    assert outcome.code == 1
    assert "its name is not UTF-8" in outcome.complaint
    assert not home.exists()
