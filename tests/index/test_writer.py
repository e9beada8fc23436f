"""A page is one document, which is found by each of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tantivy import Index, Query

from periplus.config import Indexing
from periplus.index.documents.media import FOLDER as MEDIA
from periplus.index.documents.media import MEDIA_STORED
from periplus.index.documents.schema import (
    CODE,
    FIELD_LANGUAGE,
    HOSTS,
    NUMBER,
    PRIOR,
    RANKS,
    SITE,
    URL_ID,
    URL_WORDS,
    field,
    prior_factor,
)
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.arrays import load_array
from periplus.index.storage.pagestore import Details, PageStore
from periplus.index.vectors.word_vectors import open_vectors
from periplus.index.writer import IndexWriter
from periplus.model import ArchivePosition, Image, Quality, Video
from periplus.text.analyzer import LANGUAGES, register
from periplus.url import url_id

ROW: dict[str, Any] = {
    "number": 0,
    "rank": 1.0,
    "quality": 0.5,
    "url_id": url_id("http://www.example.org/harbours/Caf%C3%A9"),
    "url": "http://www.example.org/harbours/Caf%C3%A9",
    "host": "www.example.org",
    "fetched_at": 1_700_000_000.0,
    "mime": "text/html",
    "title": "Harbours of the coast",
    "short_title": "Harbours of the coast",
    "description": "Every harbour",
    "keywords": "sailing, anchor",
    "categories": [],
    "headings": ["North shore", "South"],
    "text": "Long ago ships sailed along.",
    "language": "en",
    "archive": "w00-000001.warc.gz",
    "offset": 12,
    "length": 345,
    "anchors": ["the periplus", "list of ports"],
    "copies": ["http://copy.test/"],
    "published": 1_600_000_000.0,
    "is_listed": False,
    "modified": None,
    "features": dict.fromkeys(Quality._fields, 0.10000000149011612),
    "link_count": 3,
    "links": ["http://www.example.org/next"],
    "images": [{"url": "http://www.example.org/mole.png", "words": "The mole", "context": "At noon"}],
    "videos": [{"url": "http://www.example.org/tide.mp4", "words": "", "context": None}],
}


def write(folder: Path, *rows: dict[str, Any], strength: float = 0.05) -> Index:
    with IndexWriter(folder, Indexing(prior_strength=strength), LANGUAGES) as writer:
        for number, row in enumerate(rows):
            writer.add({**ROW, "number": number, **row})
        assert writer.finish().documents == len(rows)
    index = Index.open(str(folder / "tantivy"))
    register(index)
    return index


def found(index: Index, name: str, *words: object) -> int:
    if len(words) == 1:
        query = Query.term_query(index.schema, name, words[0])
    else:
        query = Query.phrase_query(index.schema, name, [str(word) for word in words])
    return len(index.searcher().search(query, 10).hits)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (field("title", "en"), ("harbour",)),
        (field("head", "en"), ("everi", "harbour")),
        (field("head", "en"), ("sail", "anchor")),
        (field("head", "en"), ("north", "shore")),
        (field("anchors", "en"), ("list",)),
        (field("body", "en"), ("ship", "sail", "along")),
        (field(URL_WORDS, "en"), ("harbours", "cafe")),
        (URL_ID, (ROW["url_id"].hex(),)),
        (SITE, ("www.example.org",)),
        (SITE, ("example.org",)),
        (SITE, ("org",)),
        (NUMBER, (0,)),
    ],
)
def test_a_page_is_found_by_every_part_of_it(tmp_path: Path, name: str, words: tuple[object, ...]) -> None:
    assert found(write(tmp_path, {}), name, *words) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (field("head", "en"), ("harbour", "sail")),  # from the description to the keywords
        (field("head", "en"), ("shore", "south")),
        (field("anchors", "en"), ("periplus", "list")),
        (field("title", "other"), ("harbours",)),
        (SITE, ("example",)),
    ],
)
def test_words_of_different_parts_are_not_a_phrase(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    assert found(write(tmp_path, {}), name, *words) == 0


def test_a_page_is_analysed_in_its_language(tmp_path: Path) -> None:
    index = write(tmp_path, {"language": "de", "title": "Die Häuser"}, {"language": "pl", "title": "Häuser"})
    assert found(index, field("title", "de"), "die", "haus") == found(index, field("title", "other"), "hauser") == 1
    assert found(index, field("title", "en"), "haus") == 0
    assert found(index, FIELD_LANGUAGE, "de") == found(index, FIELD_LANGUAGE, "other") == 1


def test_every_part_of_a_page_is_split_where_its_script_has_no_spaces(tmp_path: Path) -> None:
    parts = {
        "title": "東京",
        "description": "京都",
        "text": "大阪城",
        "anchors": ["北海道"],
        "url": "http://a.test/奈良",
    }
    index = write(tmp_path, {"language": "ja", **parts})
    for name, words in {"title": "東京", "head": "京都", "body": "阪城", "anchors": "海道"}.items():
        assert found(index, field(name, "other"), *words) == 1
    assert found(index, field(URL_WORDS, "other"), *"奈良") == 1


def test_code_like_tokens_of_all_parts_are_kept_as_they_are(tmp_path: Path) -> None:
    index = write(tmp_path, {"title": "C++ maps", "headings": ["std::map"], "text": "Use --help."})
    assert [found(index, CODE, token) for token in ("c++", "std::map", "--help", "c", "maps")] == [1, 1, 1, 0, 0]


def test_what_the_reader_sees_is_stored(tmp_path: Path) -> None:
    write(tmp_path, {"text": "word " * 100_000}, {"archive": None, "copies": [f"http://{n}.test/" for n in range(99)]})
    with PageStore(tmp_path) as pages:
        head = pages.head(0)
        assert (head.url, head.title, head.headings) == (ROW["url"], ROW["title"], ("North shore", "South"))
        assert (head.same_content, head.published) == (("http://copy.test/",), 1_600_000_000.0)
        assert len(head.opening) == 600
        assert len(pages.text(0)) == 200_000
        assert pages.details(0) == Details(
            archive=ArchivePosition("w00-000001.warc.gz", 12, 345),
            keywords="sailing, anchor",
            quality=Quality(*[0.1] * 7),
            link_count=3,
            links=("http://www.example.org/next",),
            images=(Image("http://www.example.org/mole.png", "The mole", "At noon"),),
            videos=(Video("http://www.example.org/tide.mp4", ""),),
        )
        assert pages.details(1).archive is None
        assert len(pages.head(1).same_content) == 20


def test_a_result_has_the_short_title_and_the_full_one(tmp_path: Path) -> None:
    write(tmp_path, {"title": "Harbours - Example", "short_title": "Harbours"})
    with PageStore(tmp_path) as pages:
        assert (pages.head(0).title, pages.head(0).full_title) == ("Harbours", "Harbours - Example")


def test_the_title_of_a_home_page_names_the_site(tmp_path: Path) -> None:
    write(tmp_path, {"url": "http://www.example.org/", "title": "Home | Example", "short_title": "Home"})
    with PageStore(tmp_path) as pages:
        assert (pages.head(0).title, pages.head(0).kind) == ("Home | Example", "home")


def test_a_page_that_lists_very_much_takes_little_room(tmp_path: Path) -> None:
    media = [{"url": f"http://a.test/{n}.png", "words": "word " * 99, "context": "text " * 99} for n in range(500)]
    many = {"categories": [str(n) for n in range(500)], "keywords": "word " * 1_000, "images": media, "videos": media}
    write(tmp_path, many)
    with PageStore(tmp_path) as pages:
        details = pages.details(0)
        assert (len(details.categories), len(details.images), len(details.videos)) == (20, MEDIA_STORED, MEDIA_STORED)
        assert len(details.keywords) == len(details.images[0].words) == len(details.videos[0].context) == 200
        media_index = Index.open(str(tmp_path / MEDIA))
        assert media_index.searcher().num_docs == 2 * MEDIA_STORED


@pytest.mark.parametrize("features", [None, dict.fromkeys(Quality._fields)])
def test_a_page_that_was_not_reparsed_has_no_quality_features(tmp_path: Path, features: object) -> None:
    write(tmp_path, {"features": features})
    with PageStore(tmp_path) as pages:
        assert pages.details(0).quality is None


@pytest.mark.parametrize(("rank", "strength"), [(1.0, 0.05), (50.0, 0.05), (50.0, 0.0), (0.2, 0.05), (1e6, 0.3)])
def test_the_prior_multiplies_the_text_score_by_a_power_of_the_rank_to_the_nearest_step_of_5_percent(
    tmp_path: Path, rank: float, strength: float
) -> None:
    index = write(tmp_path, {"rank": rank}, strength=strength)
    query = Query.term_query(index.schema, field("title", "en"), "harbour")
    ((plain, _),) = index.searcher().search(query, 1).hits
    ((weighted, _),) = index.searcher().search(query, 1, weight_by_field=PRIOR).hits
    exact, stored = max(rank, 1.0) ** strength, float(prior_factor(np.array(rank), strength))
    assert weighted == pytest.approx(plain * stored, rel=1e-5)
    assert stored == pytest.approx(exact, rel=0.026)


def test_the_strongest_prior_is_still_a_number(tmp_path: Path) -> None:
    index = write(tmp_path, {"rank": 1e9}, {"rank": 1.0}, strength=1.0)
    query = Query.term_query(index.schema, field("title", "en"), "harbour")
    scores = [score for score, _ in index.searcher().search(query, 2, weight_by_field=PRIOR).hits]
    assert scores[0] == pytest.approx(100.0 * scores[1], rel=1e-5)


def test_ranks_and_hosts_are_kept_by_number(tmp_path: Path) -> None:
    write(tmp_path, {"rank": 3.5}, {"host": "b.test", "rank": 1.0}, {})
    assert load_array(tmp_path / RANKS, np.float32, 3).tolist() == [3.5, 1.0, 1.0]
    hosts = load_array(tmp_path / HOSTS, np.uint64, 3).tolist()
    assert hosts[0] == hosts[2] != hosts[1]


def test_numbers_are_dense(tmp_path: Path) -> None:
    with IndexWriter(tmp_path, Indexing(), LANGUAGES) as writer, pytest.raises(AssertionError, match="dense"):
        writer.add({**ROW, "number": 1})


@pytest.mark.parametrize("name", ["title", "description", "keywords", "text", "language"])
def test_any_part_may_be_empty(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "", "headings": [], "anchors": [], "copies": []})
    with PageStore(tmp_path) as pages:
        assert pages.head(0).headings == ()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_generation_has_a_forward_index_and_word_vectors_unless_they_are_off(tmp_path: Path, wanted: bool) -> None:
    with IndexWriter(tmp_path, Indexing(vectors=wanted), LANGUAGES) as writer:
        writer.add(ROW)
        writer.finish()
    index = ForwardIndex(tmp_path)
    assert index.lexicon.word(int(index.words(0, "title")[0])) == "harbours"
    assert (open_vectors(tmp_path, index.lexicon) is not None) == wanted


def test_the_forward_index_keeps_as_many_words_as_the_settings_say(tmp_path: Path) -> None:
    with IndexWriter(tmp_path, Indexing(forward_words=150), LANGUAGES) as writer:
        writer.add(ROW | {"text": "word " * 200})
        writer.finish()
    assert ForwardIndex(tmp_path).lengths(np.array([0]), "body").tolist() == [150]
