"""A misspelled query is corrected, and a right one is left alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from periplus.index.forward.forward_index import ForwardIndex
from periplus.search.suggest.spelling import Choice, Correction, Replacement, Speller, choose
from search.made_words import made_generation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_generation(tmp_path_factory.mktemp("spelling") / "home")


@pytest.fixture
def speller(folder: Path) -> Speller:
    return Speller.open(folder)


def best(speller: Speller, query: str) -> str:
    """The first correction of a query; empty when there is none."""
    found = speller.corrections(query.split())
    return found[0].text if found else ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("databse", "database"),
        ("pasword", "password"),
        ("hash tabels", "hash tables"),
        ("patern maching", "pattern matching"),
        ("trafic shaping", "traffic shaping"),  # `trafic` is a French word of the collection
        ("Databse", "Database"),
        ("DATABSE", "DATABASE"),
        ("hashtables", "hash tables"),
        ("datab ase", "database"),
    ],
)
def test_a_typo_is_corrected(speller: Speller, typed: str, meant: str) -> None:
    assert best(speller, typed) == meant


@pytest.mark.parametrize(
    "query",
    [
        "mogrify",  # a title has it, although `modify` is more frequent
        "environmint",
        "hash tables in python",
        "matching database passwords",  # the stem is known
        "cafe",  # without its accent
        "readFileSnc",  # looks like code
        "std::maap",
        "x9z",
        "レイヤーマスキ",
        "the teh",  # too short
        "",
        "does without",  # common English words that no page has
        "trafic",  # nothing says that the query is English
    ],
)
def test_a_right_query_is_never_touched(speller: Speller, query: str) -> None:
    assert speller.corrections(query.split()) == []


def test_every_title_of_the_collection_is_a_right_query(speller: Speller, folder: Path) -> None:
    lexicon = ForwardIndex(folder).lexicon
    named = [lexicon.word(number) for number in range(1, len(lexicon)) if lexicon.counts(number)["title"]]
    assert [word for word in named if speller.corrections([word])] == []
    assert speller.corrections(named[:12]) == []


def test_a_rare_misspelling_on_a_page_is_still_corrected(speller: Speller) -> None:
    (first, *_) = speller.corrections(["enviroment", "variables"])
    assert first.words[0] == "environment"
    assert first.known[0]  # one page has it


def test_a_correction_says_what_it_changed(speller: Speller) -> None:
    first = speller.corrections(["hash", "tabels"])[0]
    assert first.replacements == (Replacement(1, 2, "tables"),)
    assert first.known == (True, False)
    assert 0.5 < first.confidence <= 1
    assert len(speller.corrections(["hash", "tabels"])) <= 3


def test_the_company_of_a_word_decides_between_two_readings(speller: Speller) -> None:
    assert best(speller, "hash tabels") == "hash tables"
    assert best(speller, "pattern maching") == "pattern matching"


def test_a_word_that_does_not_fit_the_others_is_less_likely(speller: Speller) -> None:
    fitting, alone, strange = (
        speller.corrections(query.split())[0].confidence for query in ("hash tabels", "tabels", "tabels modify")
    )
    assert strange < alone < fitting


def test_a_long_text_is_not_corrected(speller: Speller) -> None:
    assert speller.corrections(["databse"] * 13) == []
    assert speller.corrections([]) == []


def test_any_text_can_be_asked(speller: Speller) -> None:
    rng = random.Random(3)
    letters = "aé中\0 \ud800ßİ-_'x9\U0001f600"
    for _ in range(200):
        words = ["".join(rng.choices(letters, k=rng.randint(0, 12))) for _ in range(rng.randint(0, 4))]
        speller.corrections(words)


def test_a_generation_of_an_earlier_release_corrects_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "forward").symlink_to(folder / "forward")
    assert Speller.open(tmp_path).corrections(["databse"]) == []


def test_a_british_spelling_is_searched_in_american_without_a_word(speller: Speller) -> None:
    assert speller.variants("normalisation") == ["normalization"]
    assert speller.variants("Normalization") == []  # no page has the other spelling
    first = speller.corrections(["normalisation"])[0]
    assert (first.text, first.is_shown) == ("normalization", False)
    assert speller.corrections(["databse"])[0].is_shown


def made(confidence: float) -> Correction:
    return Correction(("database",), (Replacement(0, 1, "database"),), confidence, True, (False,))


@pytest.mark.parametrize(
    ("confidence", "original", "corrected", "choice"),
    [
        (0.9, 0, 5, Choice.REPLACE),  # nothing was found
        (0.7, 0, 1, Choice.SUGGEST),
        (0.7, 0, 5, Choice.REPLACE),  # several pages have all words of the correction
        (0.3, 0, 5, Choice.SUGGEST),  # the reading is unsure
        (0.05, 0, 5, Choice.KEEP),  # a guess
        (0.9, 0, 0, Choice.REPLACE),  # a long question
        (0.6, 0, 0, Choice.KEEP),
        (0.9, 1, 40, Choice.REPLACE),  # a misspelling on one page
        (0.9, 1, 10, Choice.KEEP),
        (0.7, 2, 200, Choice.SUGGEST),
        (0.9, 3, 200, Choice.SUGGEST),  # several pages have the words as typed
        (0.4, 1, 900, Choice.KEEP),
        (1.0, 50, 500, Choice.KEEP),
    ],
)
def test_the_pages_found_decide_between_both_queries(
    confidence: float, original: int, corrected: int, choice: Choice
) -> None:
    assert choose(made(confidence), original, corrected) is choice
