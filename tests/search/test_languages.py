"""Pages are found in every language and script, by phrases with common words, and by code-like tokens."""

# ruff: noqa: RUF001 - letters of other alphabets that look like Latin ones

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.search.engine import SearchEngine
from search.library import Doc, index, library, marked, opened, shelve, urls

PAGES = {
    "en": "Ships leave the harbours at night",
    "de": "Die Häuser am Hafen",
    "fr": "Les chevaux du port",
    "es": "Las canciones del puerto",
    "it": "I ragazzi del porto",
    "pt": "As informações do porto",
    "nl": "De huizen aan de haven",
    "ru": "Полка с книгами у гавани",
    "sv": "Flickorna i hamnen",
    "da": "Drengene i havnen",
    "no": "Guttene ved havna",
    "fi": "Talossa sataman luona",
    "hu": "Könyvek a kikötőben",
    "ro": "Orașe cu port la mare",
    "tr": "Limanda kitaplar var",
    "ar": "المدرسة في الميناء",
    "el": "Οι άνθρωποι στο λιμάνι",
    "ta": "துறைமுகத்தில் புத்தகங்கள்",
    "ja": "港でファイルを削除する方法。C言語入門",
    "zh": "北京的港口",
    "ko": "항구에서 한국어는",
    "th": "เรืออยู่ที่ท่าเรือภาษาไทย",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    docs = [Doc(f"http://{code}.test/", "", text, language=code) for code, text in PAGES.items()]
    with library(tmp_path_factory.mktemp("world"), docs) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("harbour", "en"),
        ("Haus", "de"),
        ("hauser", "de"),
        ("cheval", "fr"),
        ("canción", "es"),
        ("cancion", "es"),
        ("ragazzo", "it"),
        ("informação", "pt"),
        ("huis", "nl"),
        ("книга", "ru"),
        ("flicka", "sv"),
        ("dreng", "da"),
        ("gutt", "no"),
        ("talo", "fi"),
        ("könyv", "hu"),
        ("oras", "ro"),
        ("kitap", "tr"),
        ("مدرسة", "ar"),
        ("άνθρωπος", "el"),
        ("ανθρωπος", "el"),
        ("புத்தகம்", "ta"),
        ("ファイル", "ja"),
        ("C言語", "ja"),
        ("京", "zh"),
        ("北京", "zh"),
        ("한국어", "ko"),
        ("ภาษา", "th"),
    ],
)
def test_a_word_finds_its_other_forms(world: SearchEngine, query: str, language: str) -> None:
    (hit,) = world.search(query, mode="and").hits
    assert hit.host == f"{language}.test"
    assert marked(hit)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"北京的港"', True),
        ('"京北"', False),
        ('"削除する方法"', True),
        ('"方法削除"', False),
        ('"ท่าเรือ"', True),
        ('"เรือท่า"', False),
    ],
)
def test_a_phrase_without_spaces_keeps_its_order(world: SearchEngine, query: str, found: bool) -> None:
    assert bool(world.search(query).hits) is found


def test_a_question_without_spaces_finds_pages_with_its_parts(world: SearchEngine) -> None:
    assert urls(world.search("どのようにファイルを削除しますか")) == ["http://ja.test/"]


def test_a_collection_without_an_index_of_a_language_is_searched_in_the_others(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://de.test/", "", PAGES["de"], language="de-AT")])
    index(collection)
    with opened(collection) as engine:
        assert urls(engine.search("Haus")) == ["http://de.test/"]
        assert urls(engine.search("harbour")) == []


def test_every_language_with_matches_is_among_the_first_candidates(tmp_path: Path) -> None:
    english = [Doc(f"http://en.test/{number}", "", f"reef number{number}") for number in range(150)]
    german = [Doc("http://de.test/", "", "Das Riff heißt reef und liegt weit draußen " * 20, language="de")]
    with library(tmp_path, [*english, *german], ranking__candidates=100) as engine:
        assert "http://de.test/" in urls(engine.search("reef", size=100))


def test_a_page_that_matches_in_a_field_of_all_languages_counts_once(world: SearchEngine) -> None:
    results = world.search("test", size=100)  # a word of every URL
    assert results.total == len(urls(results)) == len(set(urls(results))) == len(PAGES)


# -- stop words -----------------------------------------------------------------------------------------------------

SQL = [
    Doc("http://a.test/", "Create table", "CREATE TABLE IF NOT EXISTS makes a table once"),
    Doc("http://b.test/", "Tables", "A table exists if it was not dropped"),
    Doc("http://c.test/", "Hamlet", "To be, or not to be, that is the question"),
    Doc("http://d.test/", "Bands", "The Who played there", language="en"),
]


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("sql"), SQL) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ('"if not exists"', ["a"]),
        ('"exists if"', ["b"]),
        ('"to be or not to be"', ["c"]),
        ("to be or not to be", ["c"]),
        ("the who", ["d"]),
        ('"the who"', ["d"]),
        ("the question of the table", []),  # the words that count stand on different pages
        ("the hamlet", ["c"]),
    ],
)
def test_common_words_count_in_phrases_and_when_there_are_no_others(
    sql: SearchEngine, query: str, hosts: list[str]
) -> None:
    assert [hit.host[0] for hit in sql.search(query, mode="and").hits] == hosts


# -- stop words of several languages --------------------------------------------------------------------------------

FILMS = [
    Doc("http://film.test/", "Die Hard", "A tower in Los Angeles, and a man who is hard to kill.", language="en"),
    Doc("http://stein.test/", "Granit", "Granit ist hard und schwer, ein Haus aus Granit ist teuer.", language="de"),
    Doc("http://haus.test/", "Haus", "Haus und Garten im Sommer, der Garten ist schön.", language="de"),
    Doc("http://garden.test/", "House", "House and garden in summer, the garden is hard work.", language="en"),
    Doc("http://numpy.test/", "Numpy", "Numpy install auf diesem Rechner.", language="de"),
]


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("films"), FILMS) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("die hard", ["film"]),  # "die" is a stop word in German only
        ("das haus", ["haus", "stein"]),  # in German, "das" is ignored
        ("numpy for this", ["numpy"]),  # the page is German, but the query is English
        ("the garden", ["garden"]),
    ],
)
def test_stop_words_of_one_language_never_loosen_another(films: SearchEngine, query: str, hosts: list[str]) -> None:
    assert sorted(hit.host.removesuffix(".test") for hit in films.search(query, mode="and").hits) == hosts


# -- code -----------------------------------------------------------------------------------------------------------

LANGUAGES_OF_CODE = [
    Doc("http://c.test/", "C", "C is a language. C has pointers. Learn C today."),
    Doc("http://cpp.test/", "Templates", "Compile templates of C++ with care."),
    Doc("http://sharp.test/", "Generics", "Compile generics of C# with care."),
    Doc("http://options.test/", "Options", "Use pip install --no-cache-dir, or gcc with -fPIC."),
    Doc("http://words.test/", "Words", "There is no cache dir here, and no fpic. A net, a wall, a chain, a map."),
    Doc("http://net.test/", "Frameworks", "It runs on .NET everywhere."),
    Doc("http://map.test/", "Containers", "A std::map is sorted."),
    Doc("http://linker.test/", "Linker", "Set LD_LIBRARY_PATH first."),
    Doc("http://chain.test/", "Iterators", "Call itertools.chain with them."),
    Doc("http://errno.test/", "Errors", "Look for [Errno 2] in the log."),
    Doc("http://two.test/", "More errors", "2 errors: errno 13 and 2 others."),
    Doc("http://warnings.test/", "Warnings", "Run gcc -Wall on it."),
]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    others = [Doc(f"http://o{number}.test/", "Other", f"plain text {number}") for number in range(20)]
    with library(tmp_path_factory.mktemp("code"), [*LANGUAGES_OF_CODE, *others]) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("C++", "cpp"),
        ("c++", "cpp"),
        ("C#", "sharp"),
        ("C", "c"),
        ("--no-cache-dir", "options"),
        ("pip --no-cache-dir", "options"),
        ("-fPIC", "options"),
        ('"-fPIC"', "options"),
        ("gcc -fPIC", "options"),
        (".NET", "net"),
        ("std::map", "map"),
        ("LD_LIBRARY_PATH", "linker"),
        ("itertools.chain", "chain"),
        ("[Errno 2]", "errno"),
        ("-Wall", "warnings"),
        ("gcc -Wall", "warnings"),
    ],
)
def test_a_token_of_code_is_found_before_its_words(code: SearchEngine, query: str, first: str) -> None:
    assert code.search(query).hits[0].host == f"{first}.test"


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("C++", {"cpp"}),
        ("C#", {"sharp"}),
        (".NET", {"net"}),
        ("-Wall", {"warnings"}),
        ('"templates of C++"', {"cpp"}),
        ('"generics of C++"', set()),
        ("[Errno 2]", {"errno"}),
        ("C", {"c", "cpp", "sharp"}),
    ],
)
def test_a_token_of_code_finds_only_pages_that_have_it(code: SearchEngine, query: str, hosts: set[str]) -> None:
    assert {hit.host.removesuffix(".test") for hit in code.search(query, mode="and").hits} == hosts


def test_a_minus_beside_other_words_still_excludes(code: SearchEngine) -> None:
    assert urls(code.search("pip -install", mode="and")) == []
    assert code.search("pip -install").excluded == ("install",)
    assert urls(code.search("pip -fPIC", mode="and")) == ["http://options.test/"]
