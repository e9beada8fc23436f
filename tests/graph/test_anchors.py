"""Anchor texts are collected, weighted and limited."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from graph.webs import QUICK, CrawledPage, RedirectedUrl, quick, web
from periplus.graph.anchors import BOILERPLATE
from periplus.graph.run import rank
from periplus.model import Link
from periplus.url import url_id
from search.library import Doc, index, opened, shelve, urls

PAGE, OTHER = "https://page.org/", "https://other.org/"


def sites(number: int) -> list[str]:
    return [f"https://site{n}.org/" for n in range(number)]


def test_the_anchor_text_that_most_hosts_use_comes_first(tmp_path: Path) -> None:
    texts = ["harbour guide", "harbours", "harbour guide"]
    pages = [CrawledPage(site, [(PAGE, text)]) for site, text in zip(sites(3), texts, strict=True)]
    names = web(tmp_path, *pages).rank().names(PAGE)
    assert list(names) == ["harbour guide", "harbours"]
    assert names["harbour guide"] == pytest.approx(2 * math.log(2), abs=1e-3)


def test_the_weight_of_a_host_grows_with_the_logarithm_of_its_links(tmp_path: Path) -> None:
    chorus = [CrawledPage(f"https://loud.org/{n}", [(PAGE, "buy now")]) for n in range(50)]
    others = [CrawledPage(site, [(PAGE, "harbours")]) for site in sites(6)]
    names = web(tmp_path, *chorus, *others).rank().names(PAGE)
    assert list(names) == ["harbours", "buy now"]


def test_duplicates_of_a_document_count_as_one_host(tmp_path: Path) -> None:
    copies = [CrawledPage(f"https://mirror{n}.org/", [(PAGE, "buy now")], body="the same") for n in range(50)]
    others = [CrawledPage(site, [(PAGE, "harbours")]) for site in sites(6)]
    names = web(tmp_path, *copies, *others).rank().names(PAGE)
    assert list(names) == ["harbours", "buy now"]
    assert names["buy now"] == pytest.approx(math.log(51), abs=1e-3)


def test_generic_texts_and_bare_urls_count_a_tenth(tmp_path: Path) -> None:
    texts = ["Click here", "https://page.org/", "www.page.org", "harbours"]
    pages = [CrawledPage(site, [(PAGE, text)]) for site, text in zip(sites(4), texts, strict=True)]
    names = web(tmp_path, *pages).rank().names(PAGE)
    assert next(iter(names)) == "harbours"
    assert {text: round(weight / names["harbours"], 1) for text, weight in names.items()} == {
        "harbours": 1.0,
        "Click here": 0.1,
        "https://page.org/": 0.1,
        "www.page.org": 0.1,
    }


def test_upper_case_is_the_same_anchor_text(tmp_path: Path) -> None:
    pages = [CrawledPage(site, [(PAGE, text)]) for site, text in zip(sites(2), ["Harbours", "HARBOURS"], strict=True)]
    assert len(web(tmp_path, *pages).rank().names(PAGE)) == 1


def test_anchor_texts_of_a_redirected_url_belong_to_its_target(tmp_path: Path) -> None:
    names = web(
        tmp_path, CrawledPage(OTHER, [("http://page.org/", "harbours")]), RedirectedUrl("http://page.org/", PAGE)
    ).rank()
    assert list(names.names(PAGE)) == ["harbours"]


def test_anchor_texts_of_an_unfetched_url_belong_to_the_page_that_represents_it(tmp_path: Path) -> None:
    printed = "https://page.org/?print=1"
    names = web(
        tmp_path, CrawledPage(OTHER, [(printed, "harbours"), (PAGE, "ports")]), CrawledPage(printed, canonical=PAGE)
    ).rank()
    assert set(names.names(PAGE)) == {"harbours", "ports"}
    assert names.names(printed) == names.names(PAGE)


def test_a_page_is_found_by_its_anchor_texts(tmp_path: Path) -> None:
    silent = Doc(PAGE, "Untitled", "Nothing of use.")
    collection = shelve(tmp_path, [silent, Doc(OTHER, "Links", "See there.", links=(Link(PAGE, "harbours", False),))])
    index(collection)
    with opened(collection) as engine:
        assert urls(engine.search("harbours")) == []
    rank(collection, QUICK)
    index(collection)
    with opened(collection) as engine:
        assert urls(engine.search("harbours")) == [PAGE]


def test_anchor_texts_of_a_page_for_itself_are_left_out(tmp_path: Path) -> None:
    names = web(tmp_path, CrawledPage(PAGE, [(PAGE, "me"), (OTHER, "")])).rank()
    assert names.names(PAGE) == names.names(OTHER) == {}


def test_links_that_do_not_count_have_no_anchor_text(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(OTHER, [(PAGE, "paid", True), (PAGE, "old")], at=1000))
    crawled.add(CrawledPage(OTHER, [(PAGE, "paid", True), (PAGE, "new")], at=2000))
    assert list(crawled.rank().names(PAGE)) == ["new"]


def test_only_the_strongest_anchor_texts_are_kept_and_long_ones_are_cut(tmp_path: Path) -> None:
    pages = [CrawledPage(site, [(PAGE, f"name {n} " + "x" * 500)]) for n, site in enumerate(sites(9))]
    names = web(tmp_path, *pages).rank(quick(anchors_per_page=4, anchor_chars=20)).names(PAGE)
    assert len(names) == 4
    assert {len(name) for name in names} == {20}


def test_there_is_one_row_per_target_in_the_order_of_url_ids(tmp_path: Path) -> None:
    targets = [f"https://page.org/{n}" for n in range(300)]
    ranks = web(tmp_path, CrawledPage(PAGE, [(url, f"about {n}") for n, url in enumerate(targets)])).rank()
    table = parquet.read_table(ranks.table.anchors_file)
    assert table.schema.names == ["target_id", "anchors", "weights", "weight", "in_links"]
    assert table["target_id"].to_pylist() == sorted(url_id(url) for url in targets)
    assert table["in_links"].to_pylist() == [1] * table.num_rows
    assert table.schema.field("anchors").type == pa.list_(pa.string())


def test_anchor_texts_of_any_kind_are_stored(tmp_path: Path) -> None:
    odd = ["a\x00b", "line\nbreak", "雨 \U0001f6a2", "'; DROP TABLE nodes; --", "100 % {chars}"]
    pages = [CrawledPage(site, [(PAGE, text)]) for site, text in zip(sites(len(odd)), odd, strict=True)]
    assert set(web(tmp_path, *pages).rank().names(PAGE)) == set(odd)


def test_the_list_of_generic_texts_is_in_lower_case() -> None:
    assert [phrase for phrase in BOILERPLATE if phrase != phrase.lower()] == []
