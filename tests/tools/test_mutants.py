"""Every mutant changes an existing line, and names existing tests."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text())["mutant"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant["keeps"] for mutant in MUTANTS])
def test_a_mutant_finds_its_line_and_its_tests(mutant: dict[str, str]) -> None:
    source = (ROOT / "src" / "periplus" / mutant["file"]).read_text()
    assert source.count(mutant["old"]) == 1
    for path in mutant["tests"].partition(" -k ")[0].split():
        assert (ROOT / "tests" / path).exists(), path
