"""The page of a module describes it, links only to existing pages, and shows nothing about this machine."""

from __future__ import annotations

import bisect
import heapq
import json.decoder
import os
import platform
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from periplus.demo.pydocs import ModulePage, summary

KNOWN = frozenset({"bisect", "json", "json.decoder", "builtins", "os", "platform"})


def content(module: ModuleType, name: str) -> str:
    return ModulePage(KNOWN).content(module, name)


def test_functions_and_their_descriptions_are_on_the_page() -> None:
    html = content(bisect, "bisect")
    assert "<h1>bisect</h1>" in html
    assert "insort_right" in html
    assert "Return the index where to insert item x in list a" in html


def test_the_page_of_a_module_leads_to_its_package() -> None:
    assert '<h1><a href="json.html">json</a>.decoder</h1>' in content(json.decoder, "json.decoder")


@pytest.mark.parametrize(("module", "name"), [(json, "json"), (json.decoder, "json.decoder"), (os, "os")])
def test_links_lead_only_to_pages_that_exist(module: ModuleType, name: str) -> None:
    targets = re.findall(r'href="([^"#]+?)\.html', content(module, name))
    assert {target for target in targets if not target.startswith("http")} <= KNOWN


def test_the_environment_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_TEST_SECRET", "a-password-of-somebody")
    html = content(os, "os")
    assert "environ" in html
    assert "a-password-of-somebody" not in html


@pytest.mark.parametrize(("module", "name"), [(os, "os"), (sys, "sys"), (platform, "platform"), (json, "json")])
def test_paths_of_this_machine_are_not_shown(module: ModuleType, name: str) -> None:
    html = content(module, name)
    assert str(Path.home()) not in html or str(Path.home()) == "/"
    assert sys.executable not in html
    assert sys.prefix not in html
    assert "file:" not in html


def test_small_values_are_shown() -> None:
    module = ModuleType("numbers_of_ours")
    module.__dict__.update(ANSWER=42, NAME="blue", TABLE={"a": 1}, PLACE="/somewhere/secret")
    html = content(module, "numbers_of_ours")
    assert "<strong>ANSWER</strong> = 42" in html
    assert "blue" in html
    assert "<strong>TABLE</strong> = <i>dict</i>" in html
    assert "secret" not in html


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bisection algorithms.", "Bisection algorithms"),
        ("ours -- keeps things in order.  And more.", "keeps things in order"),
        ("Module ours -- a module", "a module"),
        ("ours\n====\n\nThe first sentence. The second.", "The first sentence"),
        ("Speaks <https://example.org> with others.", "Speaks with others"),
        ("Heap queue algorithm (a.k.a. priority queue).", "Heap queue algorithm (a.k.a. priority queue)"),
        ("", ""),
    ],
)
def test_the_title_says_in_a_few_words_what_a_module_is_for(text: str, words: str) -> None:
    module = ModuleType("ours", text)
    assert summary(module, "ours")[0] == words


def test_long_texts_are_cut_between_words() -> None:
    words, description = summary(ModuleType("x", "many words " * 100), "x")
    assert len(words) <= 72
    assert words.endswith(("many …", "words …"))
    assert len(description) <= 302


def test_real_modules_have_titles() -> None:
    assert summary(heapq, "heapq")[0] == "Heap queue algorithm (a.k.a. priority queue)"
    assert summary(json, "json")[0].startswith("JSON (JavaScript Object Notation)")
