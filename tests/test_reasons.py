"""Every reason code is documented with its meaning and with what the reader can do about it."""

from __future__ import annotations

import re

import pytest

from periplus.config import setting_keys
from periplus.model import Reason
from periplus.reasons import REASONS


def test_the_codes_are_documented_in_the_order_of_the_model() -> None:
    assert list(REASONS) == list(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_meaning_and_a_remedy(reason: Reason) -> None:
    for text in REASONS[reason]:
        assert text.endswith(".")
        assert "|" not in text, "it is a cell of a table"
        assert "\n" not in text


@pytest.mark.parametrize("reason", Reason)
def test_every_setting_that_a_reason_names_exists(reason: Reason) -> None:
    sections = {key.split(".")[0] for key in setting_keys()}
    for text in REASONS[reason]:
        for section, name in re.findall(r"`\[?([a-z]+)\.([a-z_]+)", text):
            assert section not in sections or f"{section}.{name}" in setting_keys()
