"""A word of any page is found in the lexicon, with its frequency, language, stem and vocabulary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from index.made_index import BARE, PAGE, write_forward
from periplus.index.forward.lexicon import Lexicon
from periplus.text.analyzer import OTHER, terms


def spelled(lexicon: Lexicon, numbers: np.ndarray) -> list[str]:
    return [lexicon.word(number) for number in numbers.tolist()]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    pages = [PAGE, BARE | {"text": "Zürich zürich commits " + "filler " * 100 + "deep"}, BARE | {"text": "commits"}]
    return write_forward(tmp_path, pages).lexicon


def test_every_word_is_found_by_its_spelling(lexicon: Lexicon) -> None:
    for number in range(1, len(lexicon)):
        assert lexicon.number(lexicon.word(number)) == number
    assert [lexicon.number(word) for word in ("", "absent", "zzz", "\0")] == [None] * 4


def test_a_word_has_its_document_frequency_and_its_counts_by_field(lexicon: Lexicon) -> None:
    number = lexicon.number("commits")
    assert number is not None
    assert lexicon.documents(np.array([number], np.uint32)).tolist() == [3]
    counts = {name: count for name, count in lexicon.counts(number).items() if count}
    assert counts == {"url": 1, "headings": 1, "opening": 3}


def test_the_size_of_every_word_is_known(lexicon: Lexicon) -> None:
    numbers = np.arange(len(lexicon), dtype=np.uint32)
    assert lexicon.sizes(numbers).tolist() == [len(lexicon.word(number).encode()) for number in range(len(lexicon))]


def test_a_term_leads_to_all_words_with_that_stem(lexicon: Lexicon) -> None:
    words = [lexicon.word(number) for number in range(1, len(lexicon))]
    for term in {term for word in words for term in terms("en", word)}:
        expected = sorted(word for word in words if terms("en", word) == [term])
        assert sorted(spelled(lexicon, lexicon.ids_of(term, "en"))) == expected
    assert sorted(spelled(lexicon, lexicon.ids_of("merg", "en"))) == ["merge", "merged", "merges", "merging"]


def test_a_language_without_stems_finds_the_word_itself(lexicon: Lexicon) -> None:
    assert spelled(lexicon, lexicon.ids_of("merging", OTHER)) == ["merging"]
    assert not len(lexicon.ids_of("merg", OTHER))


def test_a_common_word_is_a_term_too_because_phrases_need_it(lexicon: Lexicon) -> None:
    assert lexicon.ids_of("are", "en").tolist() == [lexicon.number("are")]


def test_a_word_with_an_accent_has_the_term_of_the_word_without(lexicon: Lexicon) -> None:
    assert lexicon.number("zürich") in lexicon.ids_of("zurich", "en")


def test_a_word_has_the_language_of_most_of_its_pages(tmp_path: Path) -> None:
    pages = [BARE | {"text": "gift", "language": language} for language in ("en", "pl", "pl")]
    lexicon = write_forward(tmp_path, [*pages, BARE | {"text": "present"}]).lexicon
    numbers = [lexicon.number("gift"), lexicon.number("present")]
    assert [lexicon.language(number) for number in numbers if number] == [OTHER, "en"]


def test_the_vocabulary_has_the_words_of_all_fields_but_not_those_deep_in_a_text(lexicon: Lexicon) -> None:
    words = spelled(lexicon, lexicon.vocabulary)
    assert words == sorted(words)
    assert {"merging", "see", "how", "branches", "cheap", "zürich"} <= set(words)
    assert lexicon.number("deep") is not None
    assert not {"deep", "docs", "org"} & set(words)


def test_a_prefix_is_completed_from_the_vocabulary(lexicon: Lexicon) -> None:
    found = lexicon.completions("merg")
    assert spelled(lexicon, found) == ["merge", "merged", "merges", "merging"]
    assert lexicon.vocabulary_counts(found).tolist() == [2, 1, 1, 2]
    assert not len(lexicon.completions("xyzzy"))
    assert len(lexicon.completions("")) == len(lexicon.vocabulary)
