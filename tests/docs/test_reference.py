"""The documentation agrees with the code."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_reference_pages_are_current() -> None:
    check = [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"]
    result = subprocess.run(check, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_every_dependency_is_named_with_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    names = [re.split(r"[\[<>=]", line)[0] for line in project["dependencies"]]
    rows = re.findall(r"^\| ([\w-]+)[^|]*\|[^|]*\|[^|]+\|[^|]+\| *(\S[^|]+)\|$", page, re.MULTILINE)
    assert set(names) == {name for name, _ in rows} - {"package"} - {"---"}
    for requirement in project["optional-dependencies"]["dev"]:
        assert re.split(r"[\[<>=]", requirement)[0] in page


@pytest.mark.parametrize("lock", ["base", "dev"])
def test_the_lock_has_hashes_and_names_no_package_index(lock: str) -> None:
    text = (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text.replace("--hash", "")
    pinned = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    assert len(pinned) > 20
    assert len(re.findall(r"^[\w.-]+==\S+.*\\\n +--hash=sha256:", text, re.MULTILINE)) == len(pinned)


def test_every_link_between_our_pages_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
