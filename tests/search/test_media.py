"""Images and videos of pages are found by their words, each once, under the operators of the query language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from index.damage import flip
from periplus.errors import DamagedFile, UsageError
from periplus.model import Image, MediaResults, Video
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.search.shards.open_shards import open_local
from periplus.store.generations import INDEX_KIND, Generations
from search.hostile_queries import SHAPES
from search.library import Doc, give_ranks, index, opened, settings, shelve

A, B = "http://a.test", "http://b.test"


def image(name: str, words: str = "", context: str = "") -> Image:
    return Image(f"{A}/{name}.png", words, context)


DOCS = [
    Doc(
        f"{A}/ostia",
        "Ostia",
        "The harbour of Rome.",
        published=1_600_000_000.0,
        images=(
            image("1", "The lighthouse of Ostia", "Built under Claudius"),
            image("2", "", "A lighthouse beside the mole"),
            image("old-lighthouse"),
            image("3", "Grain ship"),
        ),
        videos=(Video("https://vimeo.com/1234567", "The lighthouse burns", "Filmed at night"),),
    ),
    Doc(f"{B}/lighthouses", "Lighthouse", "All towers.", images=(image("4", "A tower on a rock"),)),
    Doc(f"{B}/turm", "Türme", "Der Leuchtturm und das Meer.", language="de", images=(image("5", "Der Leuchtturm"),)),
    Doc(f"{B}/book.pdf", "Book", "On ships.", mime="application/pdf", images=(image("6", "Ship in C++"),)),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    collection = shelve(tmp_path_factory.mktemp("media"), DOCS, reparsed=True)
    index(collection)
    with opened(collection) as engine:
        yield engine


def names(results: MediaResults) -> list[str]:
    return [hit.url.rpartition("/")[2].removesuffix(".png") for hit in results.hits]


def test_own_words_count_more_than_caption_file_name_and_title_of_the_page(engine: SearchEngine) -> None:
    results = engine.media("lighthouse", "image")
    assert names(results) == ["1", "2", "old-lighthouse", "4"]
    assert (results.total, results.total_is_exact) == (4, True)
    assert engine.count_media("lighthouse", "image") == 4


def test_a_hit_tells_about_the_image_and_its_page(engine: SearchEngine) -> None:
    hit = engine.media("claudius", "image").hits[0]
    assert (hit.url, hit.words, hit.context) == (f"{A}/1.png", "The lighthouse of Ostia", "Built under Claudius")
    assert (hit.page_url, hit.page_title, hit.host, hit.date) == (f"{A}/ostia", "Ostia", "a.test", 1_600_000_000.0)


def test_videos_and_images_are_searched_apart(engine: SearchEngine) -> None:
    assert [hit.url for hit in engine.media("lighthouse", "video").hits] == ["https://vimeo.com/1234567"]
    assert engine.media("burns", "image").hits == ()
    with pytest.raises(UsageError):
        engine.media("lighthouse", "sound")


def test_images_with_all_words_come_first(engine: SearchEngine) -> None:
    assert names(engine.media("lighthouse mole", "image"))[0] == "2"
    assert names(engine.media("lighthouse mole", "image", mode="and")) == ["2"]
    assert engine.media("lighthouse mole", "image").total == 4


def test_words_are_stemmed_in_the_language_of_the_page(engine: SearchEngine) -> None:
    assert names(engine.media("Leuchttürme", "image")) == ["5"]
    assert names(engine.media("lighthouses ostia", "image", mode="and"))[0] == "1"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("lighthouse site:a.test", {"1", "2", "old-lighthouse"}),
        ("lighthouse -site:a.test", {"4"}),
        ("site:a.test (lighthouse)", {"1", "2", "old-lighthouse"}),
        ("site:b.test", {"4", "5", "6"}),
        ("lang:de", {"5"}),
        ("lighthouse -ostia", {"4"}),  # also the title of the page counts
        ('"beside the mole"', {"2"}),
        ('"mole beside"', set()),
        ("filetype:pdf ship", {"6"}),
        ("lighthouse before:2021", {"1", "2", "old-lighthouse"}),
        ("lighthouse after:2021", {"4"}),
        ("intitle:lighthouse", {"4"}),
        ("inurl:lighthouse", {"old-lighthouse"}),
        ("c++", {"6"}),
        ("tower OR grain", {"3", "4"}),
        ("nothing-like-it", set()),
        ("", set()),
    ],
)
def test_the_operators_of_the_query_language_apply(engine: SearchEngine, query: str, found: set[str]) -> None:
    assert set(names(engine.media(query, "image"))) == found


def test_pages_of_results_do_not_overlap(engine: SearchEngine) -> None:
    pages = [names(engine.media("lighthouse", "image", page=page, size=3)) for page in (1, 2, 3)]
    assert pages == [["1", "2", "old-lighthouse"], ["4"], []]
    for page, size in ((0, 3), (1, 0)):
        with pytest.raises(UsageError):
            engine.media("lighthouse", "image", page=page, size=size)


def test_more_matches_than_are_read_are_a_lower_bound(engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.search.shards.media_matches.MOST_MEDIA", 3)
    results = engine.media("lighthouse", "image")
    assert (results.total, results.total_is_exact, len(results.hits)) == (3, False, 3)
    assert engine.media("tower", "image").total_is_exact


def test_enough_images_with_all_words_leave_out_the_others(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("media", "shards.media_matches"):
        monkeypatch.setattr(f"periplus.search.{module}.ENOUGH", 1)
    assert names(engine.media("lighthouse mole", "image")) == ["2"]
    assert engine.media("lighthouse mole", "image", mode="or").total == 4


@pytest.mark.parametrize("query", [*SHAPES.values(), "\\", "'; DROP TABLE x; --", "{{7*7}}", "*", "a:b:c", "[x TO y]"])
def test_any_text_is_a_valid_query(engine: SearchEngine, query: str) -> None:
    for kind in ("image", "video"):
        assert engine.media(query, kind).total == engine.count_media(query, kind)


# -- building and updating --------------------------------------------------------------------------------------------


def found_after(home: Path, docs: Iterable[Doc], query: str = "lighthouse") -> tuple[str, MediaResults]:
    collection = shelve(home, docs, reparsed=True)
    built = index(collection).build
    with opened(collection) as engine:
        return built, engine.media(query, "image", size=100)


def test_an_image_on_several_pages_is_found_once_on_the_best_page(tmp_path: Path) -> None:
    docs = [Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.", images=(image("1", "The lighthouse"),)) for n in range(4)]
    collection = shelve(tmp_path, docs, reparsed=True)
    give_ranks(collection, {f"{A}/2": 1_000.0})
    index(collection)
    with opened(collection) as engine:
        results = engine.media("lighthouse", "image")
    assert (results.total, [hit.page_url for hit in results.hits]) == (1, [f"{A}/2"])


def test_an_image_of_translated_pages_is_found_once(tmp_path: Path) -> None:
    docs = [
        Doc(f"{A}/{code}/light", f"Page {code}", f"Words {code}.", images=(Image(f"{A}/{code}/light.png", "A light"),))
        for code in ("de", "en", "pt_BR")
    ]
    collection = shelve(tmp_path, docs, reparsed=True)
    index(collection)
    with opened(collection) as engine:
        assert engine.media("light", "image").total == 1


def test_an_image_that_many_pages_of_a_host_show_is_furniture(tmp_path: Path) -> None:
    banner = image("banner", "Lighthouse tours")
    docs = [
        Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.", images=(banner, image(f"p{n}", "A lighthouse"))) for n in range(6)
    ]
    docs += [Doc(f"{B}/{n}", f"Page {n}", f"More {n}.", images=(image("shared", "Lighthouse"),)) for n in range(5)]
    _, results = found_after(tmp_path, docs)
    assert sorted(names(results)) == ["p0", "p1", "p2", "p3", "p4", "p5", "shared"]


def test_an_image_on_a_small_share_of_a_large_host_is_no_furniture(tmp_path: Path) -> None:
    common = (image("common", "A lighthouse"),)
    docs = [Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.", images=common if n < 6 else ()) for n in range(61)]
    assert names(found_after(tmp_path, docs)[1]) == ["common"]


def test_an_update_adds_changes_and_removes_images(tmp_path: Path) -> None:
    docs = [Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.", images=(image(f"p{n}", "A lighthouse"),)) for n in range(20)]
    assert found_after(tmp_path, docs)[0] == "full"
    later = 1_700_000_100.0
    changes = [
        Doc(f"{A}/0", "Page 0", "Other words.", at=later, images=(image("new", "A lighthouse"),)),
        Doc(f"{A}/1", "Page 1", "No image.", at=later),
        Doc(f"{A}/2", "Page 2", "Gone.", at=later, noindex=True),
        Doc(f"{A}/99", "Page 99", "A new page.", at=later, images=(image("p99", "A lighthouse"),)),
    ]
    built, results = found_after(tmp_path, changes)
    assert built == "update"
    assert set(names(results)) == {"new", "p99", *(f"p{n}" for n in range(3, 20))}


def test_an_update_keeps_furniture_out(tmp_path: Path) -> None:
    banner = image("banner", "Lighthouse tours")
    docs = [Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.", images=(banner,)) for n in range(20)]
    found_after(tmp_path, docs)
    built, results = found_after(tmp_path, [Doc(f"{A}/new", "New", "New words.", images=(banner,))])
    assert (built, results.hits) == ("update", ())


def test_without_images_in_the_index_none_are_found(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS, reparsed=True)
    index(collection, media=False)
    with opened(collection) as engine:
        assert engine.media("lighthouse", "image").total == 0
    assert index(collection).why == "index.media has changed"


def test_pages_that_were_not_reparsed_yet_have_no_images(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc(f"{A}/{n}", f"Page {n}", f"Words {n}.") for n in range(8)])
    index(collection)
    with opened(collection) as engine:
        assert engine.media("words", "image").total == 0


def test_the_engine_of_the_site_finds_images(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS, reparsed=True)
    index(collection)
    engine = ReloadingEngine(collection, settings())
    try:
        assert engine.media("lighthouse", "image").total == engine.count_media("lighthouse", "image") == 4
    finally:
        engine.close()


def test_damage_of_the_images_is_noticed(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS, reparsed=True)
    index(collection)
    (generation,) = collection.index.glob("gen-*")
    flip(next(path for path in (generation / "media").iterdir() if path.suffix == ".term"))
    with pytest.raises(DamagedFile):
        SearchEngine.open(collection, settings())


def test_an_index_of_images_that_lost_documents_is_refused(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS, reparsed=True)
    index(collection)
    generation = Generations(collection.index, INDEX_KIND).open_live()
    assert generation is not None
    generation.meta["media_documents"] += 1
    with pytest.raises(DamagedFile, match="number of images and videos"):
        open_local(generation, settings().ranking)
