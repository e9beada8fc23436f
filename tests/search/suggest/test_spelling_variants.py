"""Both spellings of a word are known to be right."""

from __future__ import annotations

import pytest

from periplus.search.suggest.spelling_variants import other_spellings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("colour", "color"),
        ("behavioural", "behavioral"),
        ("optimising", "optimizing"),
        ("optimise", "optimize"),
        ("factorisation", "factorization"),
        ("generalised", "generalized"),
        ("analyse", "analyze"),
        ("centre", "center"),
        ("catalogue", "catalog"),
        ("licence", "license"),
        ("modelling", "modeling"),
        ("greyscale", "grayscale"),
        ("ueber", "über"),
        ("groesse", "größe"),
    ],
)
def test_each_spelling_leads_to_the_other(one: str, other: str) -> None:
    assert other in other_spellings(one)
    assert one in other_spellings(other)


def test_short_words_that_only_look_alike_are_not_variants() -> None:
    assert "for" not in other_spellings("four")
    assert "filing" not in other_spellings("filling")
    assert other_spellings("tables") == []


def test_a_long_word_has_a_limited_number_of_forms() -> None:
    assert len(other_spellings("ouroeuess" * 5)) < 32
