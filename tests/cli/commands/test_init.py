"""`periplus init` writes a settings file that the other commands accept."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from crawl.crawling import environment, reach, typed
from periplus.config import load
from testweb import Page, Site, TestWeb


def test_a_new_collection_is_crawled_with_two_commands(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page("A", links=["/x"]), "/x": Page("X")})]) as web:
        outcome = typed("init", "http://a.test/", "--contact", "me@a.test", "--home", tmp_path)
        assert (outcome.code, outcome.err) == (0, "")
        assert f"Next: `periplus up --home {tmp_path}`" in outcome.out
        assert typed("crawl", "--home", tmp_path, *reach(web), "--json").json["fetched"] == 2
        assert typed("crawl", "--home", tmp_path, *reach(web), "--json").json["fetched"] == 0, "known seeds are not new"
    assert typed("status", "--home", tmp_path, "--json").json["seeds"] == ["http://a.test/"]


def test_a_seed_that_is_added_to_the_file_is_fetched_by_the_next_crawl(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page("A")}), Site("b.test", {"/": Page("B")})]) as web:
        typed("init", "http://a.test/", "--home", tmp_path)
        assert typed("crawl", "--home", tmp_path, *reach(web), "--json").json["fetched"] == 1
        path = tmp_path / "periplus.toml"
        path.write_text(path.read_text().replace('"http://a.test/",', '"http://a.test/", "http://b.test/",'))
        assert typed("crawl", "--home", tmp_path, *reach(web), "--json").json["fetched"] == 1


def test_what_was_given_is_in_the_settings_and_the_rest_is_the_default(tmp_path: Path) -> None:
    contact, name = 'a "quoted" \\ contact', "Häfen\tund Küsten"
    given = ("--contact", contact, "--scope-host", r"(.+\.)?a\.test", "--name", "Häfen und Küsten")
    assert typed("init", "a.test", *given, "--home", tmp_path).code == 0
    settings = load(tmp_path, environment={}).settings
    assert (settings.identity.contact, settings.site.name) == (contact, name.replace("\t", " "))
    assert (settings.scope.seeds, settings.scope.hosts) == (["https://a.test/"], [r"(.+\.)?a\.test"])
    changed = {key: layer for key, _, layer in load(tmp_path, environment={}).rows() if layer != "default"}
    assert set(changed) == {"identity.contact", "scope.seeds", "scope.hosts", "site.name"}


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (["nonsense"], "cannot be crawled"),
        (["a.test", "--contact", "a\nb"], "cannot be sent in a header"),
        (["a.test", "--scope-host", "("], "scope.hosts"),
    ],
)
def test_nothing_is_written_for_a_mistake(tmp_path: Path, wrong: list[str], complaint: str) -> None:
    outcome = typed("init", *wrong, "--home", tmp_path / "home")
    assert outcome.code == 2
    assert complaint in outcome.complaint
    assert not (tmp_path / "home" / "periplus.toml").exists()


def test_an_existing_file_is_replaced_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "periplus.toml"
    path.write_text("[site]\nname = 'Mine'\n")
    assert "--overwrite" in typed("init", "a.test", "--home", tmp_path).complaint
    assert typed("init", "a.test", "--scope-host", "(", "--overwrite", "--home", tmp_path).code == 2
    assert path.read_text() == "[site]\nname = 'Mine'\n"
    assert typed("init", "a.test", "--overwrite", "--home", tmp_path).code == 0
    assert "Mine" not in path.read_text()


@pytest.mark.slow
def test_on_a_terminal_it_asks(tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "periplus", "init", "--home", str(tmp_path)]
    child = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment())
    os.close(terminal)
    os.write(master, b"a.test b.test\nme@a.test\n")
    assert child.wait(timeout=60) == 0
    os.close(master)
    settings = load(tmp_path, environment={}).settings
    assert settings.scope.seeds == ["https://a.test/", "https://b.test/"]
    assert settings.identity.contact == "me@a.test"
