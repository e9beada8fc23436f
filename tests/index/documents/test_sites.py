"""What the titles of a site repeat is not shown with every result, and names the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.live import live_index
from periplus.index.documents.sites import Site, Sites, compare_titles, write_sites
from periplus.index.storage.pagestore import PageStore
from search.library import Doc, index, opened, shelve

SUBJECTS = ("Tides", "Charts: an overview", "Knots - and how to tie them", "Winds (north)", "Ropes", "Anchors")


def site(*titles: str) -> Site:
    return compare_titles({"a.test": titles})["a.test"]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("{} — Sailing 3.12 documentation", "Sailing documentation"),
        ("{} | Example", "Example"),
        ("{} - Sailing - a handbook", "Sailing - a handbook"),
        ("{} (Sailing SE 17)", "Sailing SE 17"),
        ("{}: Sailing Reference Manual", "Sailing Reference Manual"),
        ("Sailing: {}", "Sailing"),
        ("Sailing Club - {}", "Sailing Club"),
        ("{} — Groonga v13.0.0ドキュメント", "Groonga ドキュメント"),
    ],
)
def test_the_name_of_the_site_is_no_part_of_its_titles(form: str, name: str) -> None:
    found = site(*map(form.format, SUBJECTS))
    assert [found.short_title(form.format(subject)) for subject in SUBJECTS] == list(SUBJECTS)
    assert found.name == name


def test_the_name_is_the_same_in_upper_and_lower_case() -> None:
    found = site(*(f"{subject} - Sailing {'manual' if at % 2 else 'Manual'}" for at, subject in enumerate(SUBJECTS)))
    assert found.short_title("Sails - Sailing MANUAL") == "Sails"


def test_a_part_that_few_titles_share_stays() -> None:
    titles = [f"Review: {subject}" for subject in SUBJECTS[:2]] + [f"{n} things" for n in range(10)]
    assert site(*titles).short_title("Review: Sails") == "Review: Sails"


def test_a_longer_part_that_only_some_titles_share_stays() -> None:
    titles = [f"{n} - Sailing" for n in range(5)] + [f"{n} (2.x) - Sailing" for n in range(5)]
    assert site(*titles).short_title("3 (2.x) - Sailing") == "3 (2.x)"


@pytest.mark.parametrize("title", ["Sailing", "- Sailing", " - Sailing", ""])
def test_a_title_with_nothing_else_stays_as_it_is(title: str) -> None:
    assert site(*(f"{subject} - Sailing" for subject in SUBJECTS)).short_title(title) == title


def test_a_letter_that_changes_its_length_does_not_shift_the_title() -> None:
    assert site(*(f"{subject} İ - Sailing" for subject in SUBJECTS)).short_title("İİ - Sailing") == "İİ"


def test_words_that_many_titles_share_are_words_of_the_site() -> None:
    found = site("Rust by example 1", "The Rust book 2", "Learn Rust 3", "Vec 4", "Box 5")
    assert found.words == ("rust",)


def test_repeated_titles_count_once_and_few_titles_show_nothing() -> None:
    assert compare_titles({"a.test": ["Log in - Example"] * 50 + ["A", "B", ""]}) == {}


# -- in an index ----------------------------------------------------------------------------------------------------

DOCS = [Doc(f"http://a.test/{n}", f"{subject} - Sailing 2.0", "sea") for n, subject in enumerate(SUBJECTS)]


def test_results_show_titles_without_the_name_of_the_site(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [*DOCS, Doc("http://b.test/1", "Ropes - Sailing 2.0", "sea")])
    index(collection)
    with opened(collection) as engine:
        titles = {hit.url: hit.title for hit in engine.search("sea").hits}
        found = engine.search("ropes sailing", mode="and")
        assert {hit.url for hit in found.hits} == {"http://a.test/4", "http://b.test/1"}  # by the full title
    assert titles["http://a.test/4"] == "Ropes"
    assert titles["http://b.test/1"] == "Ropes - Sailing 2.0"  # this host has too few titles to compare
    with PageStore(live_index(collection)) as pages:
        assert "Ropes - Sailing 2.0" in [pages.head(number).full_title for number in range(len(pages))]


def test_sites_are_found_by_host(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS)
    index(collection)
    with Sites(live_index(collection)) as sites:
        found = sites.of("a.test")
        assert (found.name, found.ends, found.words) == ("Sailing", (" - sailing 2.0",), ("sailing",))
        assert sites.of("b.test") == Site("b.test")


def test_many_sites_are_found_by_host(tmp_path: Path) -> None:
    known = [Site(f"{n}.test", str(n), ("a: ",), (" - b",), ("c",)) for n in range(100)]
    write_sites(tmp_path, known)
    with Sites(tmp_path) as sites:
        assert [sites.of(site.host) for site in known] == known
        assert sites.of("unknown.test") == Site("unknown.test")


def test_no_sites_are_no_error(tmp_path: Path) -> None:
    write_sites(tmp_path, [])
    with Sites(tmp_path) as sites:
        assert sites.of("a.test") == Site("a.test")
