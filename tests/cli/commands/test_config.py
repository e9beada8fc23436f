"""`periplus config show` lists the effective settings and where each comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import environment, typed
from periplus.config import setting_keys

BARE = {name: value for name, value in environment().items() if not name.startswith("PERIPLUS_")}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "periplus.toml").write_text('[fetch]\ntimeout = 17\n[scope]\nhosts = ["a[.]test", "b[.]test"]\n')
    return tmp_path


def test_every_setting_is_listed_with_its_value(home: Path) -> None:
    found = typed("config", "show", "--home", home, "--json", env=BARE).json
    assert list(found) == setting_keys()
    assert (found["fetch.timeout"], found["politeness.delay"]) == (17.0, 1.0)
    assert found["scope.hosts"] == ["a[.]test", "b[.]test"]


def test_the_origin_of_each_value_is_shown(home: Path) -> None:
    env = BARE | {"PERIPLUS_POLITENESS__DELAY": "3"}
    found = typed("config", "show", "--home", home, "--origin", "--json", env=env).json
    assert found["fetch.timeout"] == {"value": 17.0, "origin": "periplus.toml"}
    assert found["politeness.delay"] == {"value": 3.0, "origin": "environment"}
    assert found["fetch.attempts"] == {"value": 3, "origin": "default"}


def test_people_get_a_line_for_each(home: Path) -> None:
    lines = typed("config", "show", "--home", home, "--origin", env=BARE).out.splitlines()
    assert lines[0].split() == ["setting", "value", "origin"]
    assert len(lines) == len(setting_keys()) + 1
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["fetch.timeout"] == ["17.0", "periplus.toml"]
    assert rows["scope.hosts"] == ["a[.]test", "b[.]test", "periplus.toml"]


def test_it_needs_no_collection_and_makes_none(tmp_path: Path) -> None:
    assert typed("config", "show", "--home", tmp_path / "none").code == 0
    assert not (tmp_path / "none").exists()
