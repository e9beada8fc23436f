"""Weights are read from links and forms, and only the changed ones are written into a link."""

from __future__ import annotations

import pytest

from periplus.config import Ranking
from periplus.errors import UsageError
from periplus.search.scoring.score import FEATURES
from periplus.web.playground.weights import LABELS, changed, encode, groups, read_weights

USUAL = Ranking(title=1.1, rank=0.3, crowding=0.1, per_host=2)


def test_every_weight_has_one_slider() -> None:
    names = [slider.name for _, sliders in groups(USUAL, USUAL) for slider in sliders]
    assert sorted(names) == sorted((*FEATURES, "crowding", "per_host"))
    assert len(set(LABELS.values())) == len(LABELS)


def test_a_link_names_the_weights_that_differ() -> None:
    weights = read_weights({"w": "title:1.2,rank:0,per_host:3"}, USUAL)
    assert (weights.title, weights.rank, weights.per_host, weights.text) == (1.2, 0.0, 3, USUAL.text)
    assert encode(weights, USUAL) == "title:1.2,rank:0,per_host:3"
    assert read_weights({"w": encode(weights, USUAL)}, USUAL) == weights
    assert (encode(USUAL, USUAL), read_weights({"w": ""}, USUAL)) == ("", USUAL)


def test_a_number_keeps_all_its_digits() -> None:
    weights = read_weights({"w": "title:0.1234567890123456"}, USUAL)
    assert read_weights({"w": encode(weights, USUAL)}, USUAL).title == 0.1234567890123456


def test_the_fields_of_a_form_are_read_and_empty_ones_are_usual() -> None:
    weights = read_weights({"w_title": " 2.5 ", "w_rank": "", "w_text": "1.76", "w_none": "1"}, USUAL)
    assert changed(weights, USUAL) == {"title": 2.5}


@pytest.mark.parametrize(
    "text",
    [
        "title:nan",
        "title:inf",
        "title:-inf",
        "title:100.5",
        "title:-100.5",
        "title:x",
        "title:",
        "title",
        "title:" + 50 * "1",
        "none:1",
        "candidates:20",
        "crowding:-0.1",
        "per_host:0",
        "per_host:1.5",
        "per_host:101",
        "title:1," * 400,
    ],
)
def test_other_weights_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_weights({"w": text}, USUAL)


def test_a_weight_of_the_site_outside_the_range_does_not_spoil_the_form() -> None:
    usual = USUAL.model_copy(update={"title": 250.0})
    assert read_weights({"w_title": "250"}, usual) == usual
    slider = next(one for _, sliders in groups(usual, usual) for one in sliders if one.name == "title")
    assert (slider.value, slider.high) == ("250", "250")
